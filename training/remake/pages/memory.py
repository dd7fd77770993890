"""What a project memory brings, and that calibrators which were fitted with one of a whole project hold for one of the open file alone.

    python -m training.remake.pages.memory TREE PROJECT FILE OFF

PROJECT, FILE, OFF: runs of `assay eval calibration` at the same places, with each --memory.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from assay.calibration.confidence import confidence
from assay.calibration.evidence import Evidence, evidence_of
from assay.calibration.fitting.fit import fit
from assay.calibration.metrics.intervals import rate_interval
from assay.calibration.samples import Sample, read_samples

from ..evidence import fill
from ..present import present
from ..steps import TASKS
from .cells import UNDEFINED, code, interval, percents, table
from .measures import EVENT, FEW, free

SCOPES = ("off", "file", "project")
_FOLDS = 5

# By what was read.
Samples = Mapping[str, Sequence[Sample]]


def rows_of(task: str, samples: Samples) -> list[tuple[str, ...]]:
    """The rows of a task: each probability is of a calibrator that was fitted on other projects, of `file` with the memory of `project`."""
    rows = list[tuple[str, ...]]()
    for scope in SCOPES:
        fitted_with = "project" if scope == "file" else scope
        evidence = _held_out(samples[fitted_with], samples[scope])
        count, rate = exact_match(samples[scope])
        smooth = evidence.smooth_ece
        error = f"{smooth.value:.3f} ({smooth.noise_floor:.3f})"
        rows.append((code(task), code(scope), f"{count:,}", rate, interval(evidence.skill), error))
    return rows


def exact_match(samples: Sequence[Sample]) -> tuple[int, str]:
    """How many samples have a label, and which share of them is exactly right, with its interval over projects."""
    known = [sample for sample in samples if sample.labels[EVENT] is not None]
    _, groups = np.unique([sample.project for sample in known], return_inverse=True)
    found = rate_interval([bool(sample.labels[EVENT]) for sample in known], groups)
    return len(known), UNDEFINED if found is None else percents(found)


def _held_out(of: Sequence[Sample], at: Sequence[Sample]) -> Evidence:
    """How calibrators that are fitted on some samples do on others, of projects that are not among those that they were fitted on."""
    projects = sorted({sample.project for sample in (*of, *at)})
    fold = {project: number % _FOLDS for number, project in enumerate(projects)}
    p, y, groups = list[float](), list[bool](), list[int]()
    for number in range(_FOLDS):
        others = [sample for sample in of if fold[sample.project] != number]
        made = fit(others, EVENT, free(others), resamples=FEW, allow_insufficient=True).calibrator
        for sample in at:
            label = sample.labels[EVENT]
            if fold[sample.project] == number and label is not None:
                said = confidence(made, sample.measures).probability
                if said is not None:  # outside of what the calibrator has seen there is no number
                    p.append(said)
                    y.append(label)
                    groups.append(projects.index(sample.project))
    _, numbered = np.unique(groups, return_inverse=True)
    return evidence_of(np.array(p), np.array(y), numbered, FEW)


def memory(samples: Mapping[str, Samples]) -> str:
    """The table. samples: by task, then by what was read."""
    columns = ("task", "`assay.memory`", "suggestions", "exact match", "skill score", "smooth ECE (floor)")
    return table(columns, "llrccc", [row for task, found in samples.items() for row in rows_of(task, found)])


def main() -> None:
    """Fill the block."""
    tree, project, file, off = map(Path, sys.argv[1:])
    runs = dict(zip(SCOPES, (off, file, project), strict=True))
    found = {task: {scope: read_samples([run / "samples" / f"{task}.jsonl"]) for scope, run in runs.items()} for task in TASKS}
    fill(tree, "docs/calibration.md", {"memory": memory(found)}, present().named(*TASKS))


if __name__ == "__main__":
    main()
