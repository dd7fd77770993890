"""What calibrators of first choices predict for the other alternatives, and which maps of all alternatives are shipped.

    python -m training.remake.alternatives RUN

RUN: of `assay eval calibration --alternatives N`. Fits a calibrator to the alternatives of each task, for calibration/shipped, where the
rule allows it: calibration must be refuted (Kuiper's test by project, p < 0.05) neither for first choices nor for the others, and skill
shown for both. Where it does not, one that an earlier call shipped goes. All is held out by project; only projects are independent.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.calibration.evidence import evidence_of
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.fitting.folds import numbered, renumbered
from assay.calibration.held_out import remove_folds
from assay.calibration.measures.registry import MEASURES
from assay.calibration.metrics.null_tests import kuiper_by_group
from assay.calibration.samples import read_samples
from assay.calibration.validation import table as validation
from assay.cli.main import main as assay

from .calibrators import REFUTED, SHIPPED, TASKS, Folders
from .cells import interval

EVENT = "exact_match"
FREE = tuple(name for name, each in MEASURES.items() if not each.cost and each.kind in ("intrinsic", "baseline", "consistency"))

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The labelled samples of a task: label y, project and rank (n,) of each, and the map that is fitted to them."""

    task: str
    y: Rows
    groups: NDArray[np.intp]
    rank: NDArray[np.int_]
    fit: Fit


@cache
def drawn(run: Path) -> tuple[Drawn, ...]:
    """The tasks of a run."""
    return tuple(_drawn(task, run / "samples" / f"{task}.jsonl") for task in TASKS)


def _drawn(task: str, path: Path) -> Drawn:
    samples = [sample for sample in read_samples([path]) if sample.labels[EVENT] is not None]
    return Drawn(
        task,
        np.array([bool(sample.labels[EVENT]) for sample in samples]),
        numbered([sample.project for sample in samples]),
        np.array([sample.rank for sample in samples]),
        fit(samples, EVENT, FREE),
    )


def why_not(found: Drawn) -> str:
    """Why a map of all alternatives may not be shipped; empty where it may."""
    for name, rows in (("first choices", found.rank == 1), ("the others", found.rank > 1)):
        q, y, groups = found.fit.held_out[rows], found.y[rows], renumbered(found.groups[rows])
        if (p := kuiper_by_group(q, y, groups).p_value) < REFUTED:
            return f"calibration is refuted for {name} (Kuiper's p {p:.3f})"
        skill = evidence_of(q, y, groups).skill
        if skill is None or skill.low <= 0:
            return f"no skill is shown for {name} ({interval(skill)})"
    return ""


def ship(run: Path, shipped: Path) -> int:
    """Fit what may be shipped, and remove what may not. Returns the exit code."""
    for found in drawn(run):
        file = shipped / f"{EVENT}-{found.task}-alternatives.json"
        if why := why_not(found):
            print(f"{file.name} is not shipped: {why}")
            remove_folds(file)
            validation.remove(file)
            file.unlink(missing_ok=True)
            continue
        samples = str(run / "samples" / f"{found.task}.jsonl")
        if failed := assay(["calibrate", "fit", samples, "--event", EVENT, "--features", "free", "--keep-folds", "--out", str(file)]):
            return failed
    return 0


def _drawn_in(at: Folders) -> tuple[Drawn, ...]:
    return drawn(at["exact_match/complete_several"] / "alternatives")


def are_shipped(at: Folders) -> str:
    """Which are shipped, and why the others are not."""
    reasons = ((found.task, why_not(found)) for found in _drawn_in(at))
    return "\n".join(f"* `{task}`: {f'not shipped: {why}' if why else 'shipped'}." for task, why in reasons)


if __name__ == "__main__":
    sys.exit(ship(Path(sys.argv[1]), SHIPPED))
