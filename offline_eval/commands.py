"""What `assay eval` does: exit code out, the result on stdout, words for people on stderr."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..calibration.samples import Sample
from ..inference.completion import Settings, Task
from ..inference.embedded import open_model
from ..inference.errors import ModelError
from .line_completion import EVENT, all_tasks, generate, samples, to_stderr, write_all_samples
from .projects import ProjectError, default_cache, measured_projects
from .run import LABELS, Run, RunError

DONE, FAILED, UNREADABLE = 0, 1, 2
RESAMPLES = 2000


def eval_calibration(
    out: Path,
    *,
    model_path: Path | None = None,
    names: Sequence[str] = (),
    per_project: int = 150,
    tasks: Sequence[Task] = ("line", "line_rest", "line_middle"),
    seed: int = 0,
    workers: int = 1,
    cache: Path | None = None,
    as_json: bool = False,
) -> int:
    """Run, or go on with, the line-completion study in the folder `out`; ends with the paths of its samples files.

    names: which of the projects in projects.toml, all when empty.
    """
    listed = {p.name: p for p in measured_projects()}
    if unknown := [n for n in names if n not in listed]:
        to_stderr(f"assay: no such project in the list: {', '.join(unknown)}. It has: {', '.join(sorted(listed))}")
        return UNREADABLE
    projects = [listed[n] for n in (names or sorted(listed))]
    settings = Settings()
    try:
        with open_model(model_path) as model:
            fingerprint, prompt_id = model.fingerprint, settings.fingerprint(model.layout)
        asked: dict[str, str | int | Sequence[str]] = {
            "schema": "assay/run/1",
            "study": "calibration",
            "model": fingerprint.id,
            "model_name": fingerprint.name,
            "prompt": prompt_id,
            "seed": seed,
            "per_project": per_project,
            "tasks": list(tasks),
            "projects": [f"{p.name} {p.version}" for p in projects],
        }
        run = Run.begin(out, asked)
        files = list(all_tasks(projects, cache or default_cache(), per_project, seed, tasks))
        to_stderr(f"{sum(len(f.tasks) for f in files)} gaps in {len(files)} files of {len(projects)} projects")
        generate(run, files, model_path, settings, workers, to_stderr)
    except (RunError, ModelError) as error:
        to_stderr(f"assay: {error}")
        return UNREADABLE
    except ProjectError as error:
        to_stderr(f"assay: {error}")
        return FAILED
    return eval_report(out, as_json=as_json)


def eval_report(folder: Path, *, as_json: bool = False) -> int:
    """Samples files and a summary of a run, without a model."""
    try:
        run = Run.opened(folder)
        asked = tomllib.loads((folder / "run.toml").read_text())
        by_task = samples(run, asked["model"], asked["model_name"], asked["prompt"], asked["seed"])
        generations = sum(1 for _ in run.records(LABELS))
        paths = write_all_samples(run, by_task)
    except (RunError, KeyError, tomllib.TOMLDecodeError) as error:
        to_stderr(f"assay: {folder}: {error}")
        return UNREADABLE
    summary = {task: rate(found) for task, found in sorted(by_task.items())}
    for task, row in summary.items():
        to_stderr(
            f"{task:12s} {row['n']:6d} suggestions of {row['projects']} projects, "
            f"exact match {row['value']:.1%} ({row['low']:.1%} to {row['high']:.1%})"
        )
    shown = sum(len(found) for found in by_task.values())
    to_stderr(f"{generations - shown} of {generations} generations had no text and make no sample")
    if as_json:
        print(json.dumps({"run": str(folder), "samples": [str(p) for p in paths], "exact_match": summary}))
    else:
        for path in paths:
            print(path)
    return DONE


def rate(found: Sequence[Sample]) -> dict[str, float]:
    """Share of exact matches, with a 95 % percentile interval that resamples whole projects."""
    names = sorted({s.project for s in found})
    index = {name: i for i, name in enumerate(names)}
    groups = np.array([index[s.project] for s in found])
    right = np.array([bool(s.labels[EVENT]) for s in found])
    n, k = np.bincount(groups), np.bincount(groups, weights=right)
    drawn = np.random.default_rng(0).integers(len(names), size=(RESAMPLES, len(names)))
    low, high = np.percentile(k[drawn].sum(1) / n[drawn].sum(1), [2.5, 97.5])
    return {"n": len(found), "projects": len(names), "value": float(right.mean()), "low": float(low), "high": float(high)}
