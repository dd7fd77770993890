"""What `assay eval` does: exit code out, the result on stdout, words for people on stderr."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..calibration.fitting.folds import MIN_GROUPS
from ..calibration.measures.reflective import questions_for
from ..calibration.metrics.bins import wilson
from ..calibration.metrics.intervals import tail
from ..calibration.report.plots import PlotError
from ..calibration.samples import Sample, SampleError
from ..inference.completion.settings import Settings
from ..inference.completion.task import Task
from ..inference.opening import ModelChoice
from ..offline_eval.line_completion.projects import Project, ProjectError, default_cache, is_fetched, measured_projects
from ..offline_eval.line_completion.study import EVENT, generate, samples, tasks_of, to_stderr, write_all_samples
from ..offline_eval.run import GENERATIONS, SCHEMA, Run, RunError
from .calibrate.repository import is_repository_run, report_repository

DONE, FAILED, UNREADABLE = 0, 1, 2
RESAMPLES = 2000


def eval_calibration(
    out: Path,
    *,
    choice: ModelChoice | None = None,
    names: Sequence[str] = (),
    per_project: int = 150,
    tasks: Sequence[Task] = ("line", "line_rest", "line_middle"),
    seed: int = 0,
    workers: int = 1,
    cache: Path | None = None,
    reflective: bool = False,
    alternatives: int = 1,
    as_json: bool = False,
) -> int:
    """Run, or go on with, the line-completion study in the folder `out`; ends with the paths of its samples files.

    names: which of the projects in projects.toml, all when empty; reflective: the model is asked about each generation, too; alternatives:
    how many are drawn at each place. Raises ModelError.
    """

    def work() -> None:
        projects, opened = _named(names), choice or ModelChoice()
        run = study(out, projects, opened, per_project, tasks, seed, workers, cache or default_cache(), reflective, alternatives)
        _report(run, as_json)

    return _ended(work)


def eval_report(folder: Path, *, as_json: bool = False) -> int:
    """Samples files and a summary of a run, without a model; of one on a repository its whole report."""

    def work() -> None:
        run = Run.opened(folder)
        if is_repository_run(run):
            report_repository(run, as_json)
        else:
            _report(run, as_json)

    return _ended(work)


class _UsageError(ValueError):
    """The command can't be carried out as it was given; the message says why."""


def _ended(work: Callable[[], None]) -> int:
    try:
        work()
    except (_UsageError, RunError, SampleError) as error:
        to_stderr(f"assay: {error}")
        return UNREADABLE
    except (ProjectError, PlotError) as error:
        to_stderr(f"assay: {error}")
        return FAILED
    except OSError as error:
        to_stderr(f"assay: {error.filename}: {error.strerror}" if error.filename else f"assay: {error}")
        return FAILED
    return DONE


def _named(names: Sequence[str]) -> list[Project]:
    listed = {p.name: p for p in measured_projects()}
    if unknown := sorted(set(names) - listed.keys()):
        raise _UsageError(f"no such project in the list: {', '.join(unknown)}. It has: {', '.join(sorted(listed))}")
    return [listed[name] for name in sorted(set(names) or listed)]


def study(
    out: Path,
    projects: Sequence[Project],
    choice: ModelChoice,
    per_project: int,
    tasks: Sequence[Task],
    seed: int,
    workers: int,
    cache: Path,
    reflective: bool = False,
    alternatives: int = 1,
) -> Run:
    """The run in `out` with every generation of these projects made. Raises RunError, ProjectError, ModelError and OSError."""
    if choice.options.get("shift_tokens"):
        raise _UsageError("with --shift log-probabilities are approximate, so no calibrator can be fitted on them: leave it out")
    settings = Settings()
    with choice.open() as model:
        if not model.capabilities.logprobs:
            raise _UsageError(f"{choice.where} tells no log-probabilities, so there is nothing to calibrate with")
        fingerprint, prompt_id = model.fingerprint, settings.fingerprint(model.layout, model.context_length)
        questions = questions_for(model) if reflective else {}
    if reflective and not questions:
        raise _UsageError(f"{choice.where} takes texts instead of tokens, so it can't be asked about what it wrote: leave --reflective out")
    asked: dict[str, str | int | Sequence[str]] = {
        "schema": SCHEMA,
        "study": "calibration",
        "model": fingerprint.id,
        "model_name": fingerprint.name,
        "prompt": prompt_id,
        "seed": seed,
        "per_project": per_project,
        "tasks": list(tasks),
        "projects": [f"{p.name} {p.version}" for p in projects],
    }
    if questions:
        asked["questions"] = [f"{measure} {question.fingerprint}" for measure, question in questions.items()]
    if alternatives > 1:
        asked["alternatives"] = alternatives
    run = Run.begin(out, asked)
    files = []
    for number, project in enumerate(projects, 1):
        if not is_fetched(project, cache):
            to_stderr(f"fetching {project.name} {project.version} ({number} of {len(projects)})")
        files += tasks_of(project, cache, per_project, seed, tasks)
    to_stderr(f"{sum(len(f.tasks) for f in files)} gaps in {len(files)} files of {len(projects)} projects")
    generate(run, files, choice, settings, workers, to_stderr, questions, alternatives)
    return run


def _report(run: Run, as_json: bool) -> None:
    asked = run.asked()
    by_task = samples(run, asked["model"], asked["model_name"], asked["prompt"], asked["seed"], asked.get("alternatives", 1))
    paths = write_all_samples(run, by_task)
    summary = {task: rate(found) for task, found in sorted(by_task.items())}
    for task, row in summary.items():
        to_stderr(f"{task:12s} {row['n']:6d} labelled suggestions of {row['projects']} projects, exact match {_rate_text(row)}")
    made, shown = sum(1 for _ in run.records(GENERATIONS)), sum(map(len, by_task.values()))
    to_stderr(f"{made - shown} of {made} generations had no text and make no sample")
    if unknown := sum(sample.labels[EVENT] is None for found in by_task.values() for sample in found):
        to_stderr(f"{unknown} have no label yet; the command that began the run makes it")
    for line in _told([sample for found in by_task.values() for sample in found]):
        to_stderr(line)
    if as_json:
        print(json.dumps({"run": str(run.folder), "samples": [str(p) for p in paths], "exact_match": summary}))
    else:
        for path in paths:
            print(path)


def _told(found: Sequence[Sample]) -> Iterator[str]:
    """How often the model could be asked, and how often a value only stands in, for each reflective measure of the samples."""
    for measure in sorted({name for sample in found for name in sample.asked}):
        asked = sum(measure in sample.asked for sample in found)
        stand_ins = sum(measure in sample.fallbacks for sample in found)
        yield f"{measure}: {asked} of {len(found)} samples have it" + (f", in {stand_ins} of them a stand-in" if stand_ins else "")


def rate(found: Sequence[Sample]) -> dict[str, Any]:
    """Share of exact matches among the samples with a known label, with a 95 % percentile interval that resamples whole projects.

    Where all labels are equal, or fewer than five projects are there to resample, it is Wilson's, which takes samples as independent.

    value, low and high are None without such samples.
    """
    known = [s for s in found if s.labels[EVENT] is not None]
    names, groups = np.unique([s.project for s in known], return_inverse=True)
    right = np.array([s.labels[EVENT] for s in known], dtype=np.float64)
    row = {"n": len(known), "projects": len(names), "value": float(right.mean()) if known else None, "low": None, "high": None}
    if known and (right.min() == right.max() or len(names) < MIN_GROUPS):
        # resampling what is all alike, or two projects that happen to be, would say that it can be nothing else
        row["low"], row["high"] = wilson(int(right.sum()), len(known))
    elif known:
        n, k = np.bincount(groups), np.bincount(groups, right)
        drawn = np.random.default_rng(0).integers(len(names), size=(RESAMPLES, len(names)))
        share = tail(len(names))
        row["low"], row["high"] = map(float, np.quantile(k[drawn].sum(1) / n[drawn].sum(1), [share, 1 - share]))
    return row


def _rate_text(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "not known"
    return f"{row['value']:.1%}" + ("" if row["low"] is None else f" ({row['low']:.1%} to {row['high']:.1%})")
