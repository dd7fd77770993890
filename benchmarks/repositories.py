"""Calibrating to real projects by their own tests: what it takes, and what it brings.

    python benchmarks/repositories.py run --out FOLDER [--projects toolz,sqlparse] [--samples 100] [--minutes 30] [--workers 2]
        [--python FILE] [--sources FOLDER]
    python benchmarks/repositories.py table --out FOLDER

run: for each project, fetch its source distribution, make an environment for its tests (that runs the projects' build code), and do what
`assay calibrate repo` does, all below FOLDER (sources and environments below --sources, where it is named, for other runs as well); what
is done is kept. A suite that can't be an oracle is told, with the reason. The projects are those of
offline_eval/sets/projects.toml whose suites serve, or those that are named. table: Markdown from the runs: each
project; both events; calibrators over projects, each judged by one that was fitted without it; and what 25, 50, 100 and 200 samples of a
project bring to a map of the others. docs/repository.md has it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from assay.analysis.oracle.environment import NoEnvironment, make_environment
from assay.calibration.calibrator import Calibrator
from assay.calibration.confidence import confidence
from assay.calibration.evidence import evidence_of
from assay.calibration.fitting.fit import FitError, fit
from assay.calibration.fitting.folds import numbered
from assay.calibration.fitting.project_fit import find_parent
from assay.calibration.measures.registry import MEASURES
from assay.calibration.metrics.bins import wilson
from assay.calibration.metrics.intervals import Interval, student_t
from assay.calibration.registry import Entry, Registry
from assay.calibration.samples import Sample, read_samples
from assay.cli.main import main as assay
from assay.inference.completion.task import Task
from assay.offline_eval.repository.report import summary_of
from assay.offline_eval.repository.study import STUDY
from assay.offline_eval.run import Run
from assay.offline_eval.sets.projects import Project, ProjectError, default_cache, measured_projects, unpacked
from assay.offline_eval.sets.regions import TASKS

EVENTS = ("tests_pass", "exact_match")
OWN = (25, 50, 100, 200)
MIN_LEFT = 25
RESAMPLES = 400


@dataclass(frozen=True, slots=True)
class Asked:
    """How the projects are asked. samples, minutes: of each; whichever comes first ends it."""

    samples: int
    minutes: float | None
    workers: int
    python: Path | None


def run(out: Path, made: Path, projects: Sequence[Project], asked: Asked) -> None:
    """made: where sources and environments are."""
    for project in projects:
        begun = time.monotonic()
        print(f"== {project.name} {project.version}", file=sys.stderr, flush=True)
        try:
            source = unpacked(project, made / "sources", default_cache())
            interpreter = make_environment(source, made / "environments", python=asked.python)
        except (ProjectError, NoEnvironment) as error:
            print(f"   {error}", file=sys.stderr)
            continue
        options = {"--samples": asked.samples, "--python": interpreter, "--workers": asked.workers, "--out": out / "runs" / project.name}
        options |= {"--minutes": asked.minutes} if asked.minutes else {}
        code = assay(["calibrate", "repo", str(source), *(str(part) for option in options.items() for part in option)])
        print(f"   exit code {code} after {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Measured:
    """A project's run. seconds: of its suite."""

    name: str
    suite: dict[str, Any]
    records: list[dict[str, Any]]
    samples: dict[Task, list[Sample]]


def measured(out: Path) -> list[Measured]:
    found = []
    for folder in sorted((out / "runs").iterdir()):
        if not (folder / "suite.json").is_file():
            continue
        samples = {task: read_samples(path) for task in TASKS if (path := folder / "samples" / f"{task}.jsonl").is_file()}
        suite = json.loads((folder / "suite.json").read_text())
        found.append(Measured(folder.name, suite, STUDY.answers(Run.opened(folder)), samples))
    return [each for each in found if each.samples]


def every(projects: Sequence[Measured], task: Task) -> list[Sample]:
    """All samples of a task; ids hold the project's name, for places of two projects may have one."""
    return [structs.replace(sample, id=f"{each.name}:{sample.id}") for each in projects for sample in each.samples.get(task, [])]


def pooled(projects: Sequence[Measured], task: Task, event: str) -> list[Sample]:
    """Those of which it is known whether the event came true."""
    return [sample for sample in every(projects, task) if sample.labels[event] is not None]


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def percent(k: int, n: int) -> str:
    low, high = wilson(k, n)
    return f"{k / n:.1%} ({low:.1%} to {high:.1%})"


def of_interval(i: Interval | None) -> str:
    return f"{i.value:.3f} ({i.low:.3f} to {i.high:.3f})" if i else "not defined"


def per_project(projects: Sequence[Measured]) -> Iterator[str]:
    yield "| project | tests | flaky | suite, s | lines | regions | unseen deletions | s a verdict | suggestions | pass the tests | exact |"
    yield "|:---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for each in projects:
        found = summary_of(each.records)
        seen, unseen = found["deletion"]["seen"], found["deletion"]["unseen"]
        tasks = found["tasks"].values()
        n, passed = (sum(t["tests_pass"][key] for t in tasks) for key in ("n", "positives"))
        shown, exact = (sum(t["exact_match"][key] for t in tasks) for key in ("n", "positives"))
        filtered, verdict = f"{unseen / max(1, seen + unseen):.0%}", found["seconds"]["verdict_median"]
        suite = (f"{each.suite['tests']:,}", each.suite["flaky"], f"{each.suite['seconds']:.1f}", f"{each.suite['covered_lines']:,}")
        rates = (n, f"{passed / max(1, n):.1%}", f"{exact / max(1, shown):.1%}")
        yield row(each.name, *suite, len(each.records), filtered, f"{verdict or 0:.2f}", *rates)
    unseen = sum(r["deletion"] == "unseen" for each in projects for r in each.records)
    known = sum(r["deletion"] != "unknown" for each in projects for r in each.records)
    yield ""
    yield f"No test sees the deletion of {unseen} of {known} regions: {percent(unseen, known)}."


def costs(projects: Sequence[Measured]) -> Iterator[str]:
    """What a verdict costs against a suite, and how verdicts are come by."""
    found = [(each.suite["seconds"], summary_of(each.records)) for each in projects]
    times = [suite / s["seconds"]["verdict_median"] for suite, s in found if s["seconds"]["verdict_median"]]
    asked = [made for each in projects for record in each.records for made in record["generations"]]
    generation = np.median([made["timings"]["total_ms"] / 1e3 for made in asked])
    yield row("the suite takes so many times as long as a verdict", "share of verdicts by way", "s a suggestion of the model, median")
    yield "|:---|:---|---:|"
    ways = Counter(made["way"] for made in asked if made["tests_run"])
    shares = ", ".join(f"{way} {count / ways.total():.0%}" for way, count in ways.most_common())
    yield row(f"median {np.median(times):.0f} ({min(times):.1f} to {max(times):.0f})" if times else "", shares, f"{generation:.2f}")


def cross(projects: Sequence[Measured]) -> Iterator[str]:
    yield "| task | suggestions | exact, pass | exact, fail | other, pass | other, fail | unknown | exact match | passes tests |"
    yield "|:---|---:|---:|---:|---:|---:|---:|---:|---:|"
    total = summary_of([record for each in projects for record in each.records])["tasks"]
    for task in TASKS:
        if row := total.get(task):
            counts = [row[name] for name in ("exact_and_pass", "exact_and_fail", "other_and_pass", "other_and_fail", "other_and_unknown")]
            rates = [percent(row[event]["positives"], row[event]["n"]) for event in ("exact_match", "tests_pass")]
            yield f"| {task} | {row['suggestions']:,} | {' | '.join(f'{c:,}' for c in counts)} | {' | '.join(rates)} |"


def over_projects(projects: Sequence[Measured]) -> Iterator[str]:
    """Each project judged by the map of all others, of the kind that model selection chooses there."""
    yield "| event | task | n | projects | base rate | mean P | skill | AUC | smooth ECE (floor) | beyond the range |"
    yield "|:---|:---|---:|---:|---:|---:|:---|:---|---:|---:|"
    for event in EVENTS:
        for task in TASKS:
            p, y, groups, beyond = [], [], [], 0
            try:
                for number, each in enumerate(projects):
                    rest = pooled([other for other in projects if other is not each], task, event)
                    made = fit(rest, event, free(rest), resamples=20).calibrator
                    for sample in pooled([each], task, event):
                        p.append(probability(made, sample))
                        y.append(sample.labels[event])
                        groups.append(number)
                        beyond += said(made, sample) is None
            except FitError as error:
                yield row(event, task, "", "", "", str(error), "", "", "", "")
                continue
            e = evidence_of(np.array(p), np.array(y, dtype=bool), numbered(groups), RESAMPLES)
            smooth = f"{e.smooth_ece.value:.3f} ({e.smooth_ece.noise_floor:.3f})"
            shown = (of_interval(e.skill), of_interval(e.auc), smooth, beyond)
            yield row(event, task, f"{e.n:,}", e.groups, f"{e.base_rate:.3f}", f"{np.mean(p):.3f}", *shown)


def free(samples: Sequence[Sample]) -> list[str]:
    return [name for name, m in MEASURES.items() if m.cost == 0 and all(name in s.measures for s in samples)]


def own_gain(projects: Sequence[Measured]) -> Iterator[str]:
    """Of each project, the map of all others, as it is and moved toward so many of its samples, on its other samples.

    Which are which is drawn at random; no line is among both, for no line is asked twice.
    """
    yield row("event", "task", "own samples", "projects", "tested on", "log loss as it came", "moved", "gain (95 %)", "own map alone")
    yield "|:---|:---|---:|---:|---:|---:|---:|---:|---:|"
    for event in EVENTS:
        for task in TASKS:
            found: dict[int, list[tuple[float, float, float, int]]] = {n: [] for n in OWN}
            for each in projects:
                rest = pooled([other for other in projects if other is not each], task, event)
                mine = pooled([each], task, event)
                if len(mine) < OWN[0] + MIN_LEFT or not rest:
                    continue
                parent = fit(rest, event, free(rest), kind="platt", resamples=20).calibrator
                if find_parent(registry(parent), mine, event)[0] is None:
                    continue
                order = np.random.default_rng(0).permutation(len(mine))
                for n in OWN:
                    if len(mine) >= n + MIN_LEFT:
                        found[n].append(losses(parent, [mine[i] for i in order[:n]], [mine[i] for i in order[n:]], event))
            for n in OWN:
                if len(rows := np.array(found[n])) >= 2:
                    gain = rows[:, 0] - rows[:, 1]
                    half = student_t(len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
                    gained = f"{gain.mean():+.4f} ({gain.mean() - half:+.4f} to {gain.mean() + half:+.4f})"
                    as_came, moved, alone = (f"{value:.4f}" for value in rows[:, :3].mean(axis=0))
                    yield row(event, task, n, len(rows), f"{int(rows[:, 3].sum()):,}", as_came, moved, gained, alone)


def registry(parent: Calibrator) -> Registry:
    return Registry((Entry("user", Path("parent.json"), parent),), ())


def losses(parent: Calibrator, mine: Sequence[Sample], test: Sequence[Sample], event: str) -> tuple[float, float, float, int]:
    """Mean log loss on the test samples of the parent, of the parent moved toward mine, of a map of mine alone; and how many they are."""
    moved = fit(mine, event, adapt_from=parent, groups="file", resamples=20).calibrator
    alone = fit(mine, event, free(mine), groups="file", resamples=20).calibrator
    y = np.array([sample.labels[event] for sample in test], dtype=bool)
    found = []
    for calibrator in (parent, moved, alone):
        p = np.array([probability(calibrator, sample) for sample in test])
        found.append(float(-np.log(np.where(y, p, 1 - p)).mean()))
    return found[0], found[1], found[2], len(test)


def said(calibrator: Calibrator, sample: Sample) -> float | None:
    """The calibrator's probability, whatever its status; None where a measure is beyond what it has seen."""
    return confidence(replace(calibrator, status="informative"), sample.measures).probability


def probability(calibrator: Calibrator, sample: Sample) -> float:
    """The calibrator's; the base rate of what it was fitted on where it has none."""
    p, made = said(calibrator, sample), calibrator.fitted_on
    return p if p is not None else (made.positives + 1) / (made.n + 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--projects", default="")
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--sources", type=Path)
    given = parser.parse_args()
    out = given.out.absolute()
    if given.what == "run":
        names = set(filter(None, given.projects.split(",")))
        listed = [project for project in measured_projects() if (project.name in names if names else project.suite)]
        asked = Asked(given.samples, given.minutes, given.workers, given.python)
        run(out, given.sources.absolute() if given.sources else out, listed, asked)
        return
    projects = measured(given.out)
    for title, lines in (
        ("Projects", per_project(projects)),
        ("Costs", costs(projects)),
        ("Exact match against passing tests", cross(projects)),
        ("Calibrators over projects, each project judged by a map of all others", over_projects(projects)),
        ("What a project's own samples bring", own_gain(projects)),
    ):
        print(f"\n### {title}\n")
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
