"""What calibrators of first choices predict for the other alternatives, and which maps of all alternatives are shipped.

    python -m training.remake.alternatives RUN

RUN: of `assay eval calibration --alternatives N`. Fits a calibrator to the alternatives of each task, for calibration/shipped, where the
rule allows it: calibration must be refuted (Kuiper's test by project, p < 0.05) neither for first choices nor for the others, and skill
shown for both. Where it does not, one that an earlier call shipped goes. All is held out by project; only projects are independent.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.calibration.arrays import Floats
from assay.calibration.calibrator import Calibrator, load
from assay.calibration.confidence import confidence
from assay.calibration.evidence import evidence_of
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.fitting.folds import numbered, renumbered
from assay.calibration.held_out import remove_folds
from assay.calibration.measures.registry import MEASURES
from assay.calibration.metrics.intervals import Interval, paired, student_t
from assay.calibration.metrics.null_tests import kuiper_by_group
from assay.calibration.samples import Sample, read_samples
from assay.calibration.validation import table as validation
from assay.cli.main import main as assay

from .calibrators import REFUTED, SHIPPED, TASKS, Folders
from .cells import code, interval, of_three, table

EVENT = "exact_match"
FREE = tuple(name for name, each in MEASURES.items() if not each.cost and each.kind in ("intrinsic", "baseline", "consistency"))
WITHOUT = tuple(name for name in FREE if name != "agreement")

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The labelled samples of a task, with label y, project and rank (n,) of each.

    The maps are fitted to all of them, with agreement and without it, and to first choices alone.
    """

    task: str
    samples: list[Sample]
    y: Rows
    groups: NDArray[np.intp]
    rank: NDArray[np.int_]
    with_agreement: Fit
    without: Fit
    of_first: Fit

    @property
    def parts(self) -> dict[str, Rows]:
        """All, first choices, the others: which they are (n,)."""
        return {"all": np.ones_like(self.y), "first choices": self.rank == 1, "the others": self.rank > 1}

    def of(self, rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
        """Labels and projects of some."""
        return self.y[rows], renumbered(self.groups[rows])


@cache
def drawn(run: Path) -> tuple[Drawn, ...]:
    """The tasks of a run."""
    return tuple(_drawn(task, run / "samples" / f"{task}.jsonl") for task in TASKS)


def _drawn(task: str, path: Path) -> Drawn:
    samples = [sample for sample in read_samples([path]) if sample.labels[EVENT] is not None]
    first = [sample for sample in samples if sample.rank == 1]
    return Drawn(
        task,
        samples,
        np.array([bool(sample.labels[EVENT]) for sample in samples]),
        numbered([sample.project for sample in samples]),
        np.array([sample.rank for sample in samples]),
        fit(samples, EVENT, FREE),
        fit(samples, EVENT, WITHOUT),
        fit(first, EVENT, WITHOUT),
    )


def why_not(found: Drawn) -> str:
    """Why a map of all alternatives may not be shipped; empty where it may."""
    for name in ("first choices", "the others"):
        rows = found.parts[name]
        q, (y, groups) = found.with_agreement.held_out[rows], found.of(rows)
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


def points(found: Interval) -> str:
    """A difference of shares in points, with its interval."""
    return of_three(Interval(100 * found.value, 100 * found.low, 100 * found.high), "+.2f")


def mean_by_group(values: Floats, groups: NDArray[np.intp]) -> Interval:
    """The mean of all values, with the jackknife's interval over groups."""
    n, sums = np.bincount(groups), np.bincount(groups, values)
    without, count = (sums.sum() - sums) / (n.sum() - n), len(n)
    half = student_t(count - 1) * math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    value = float(values.mean())
    return Interval(value, value - half, value + half)


def _drawn_in(at: Folders) -> tuple[Drawn, ...]:
    return drawn(at["exact_match/complete_several"] / "alternatives")


def promised(at: Folders) -> str:
    """What calibrators of first choices promise for each number, and what came true."""
    rows = list[tuple[object, ...]]()
    for found in _drawn_in(at):
        rows += _promised(found, load(at["tree"] / SHIPPED / f"{EVENT}-{found.task}.json"))
    columns = ("task", "number", "with a number / without", "promised", "exact match", "exact - promised, points", "Kuiper's p")
    return table(columns, "llrrrcr", rows)


def _promised(found: Drawn, calibrator: Calibrator) -> Iterator[tuple[object, ...]]:
    count = found.samples[0].alternatives
    for name, rows in [*((str(number), found.rank == number) for number in range(1, count + 1)), (f"2 to {count}", found.rank > 1)]:
        those = [sample for sample, wanted in zip(found.samples, rows, strict=True) if wanted]
        said = [confidence(calibrator, sample.measures, {"language": sample.language}).probability for sample in those]
        has, p = np.array([one is not None for one in said]), np.array([one for one in said if one is not None])
        y, groups = found.y[rows][has], renumbered(found.groups[rows][has]) if has.any() else np.zeros(0, np.intp)
        seen = ("",) * 4
        if len(set(groups.tolist())) > 1:
            kuiper = kuiper_by_group(p, y, groups).p_value
            seen = (f"{p.mean():.2%}", f"{y.mean():.2%} ({y.sum()})", points(mean_by_group(y - p, groups)), f"{kuiper:.3f}")
        yield (code(found.task), name, f"{int(has.sum()):,} / {int((~has).sum()):,}", *seen)


def fitted(at: Folders) -> str:
    """What a map that was fitted to all alternatives is worth, and agreement's part in it."""
    rows = list[tuple[object, ...]]()
    for found in _drawn_in(at):
        for name, those in found.parts.items():
            p, q, (y, groups) = found.without.held_out[those], found.with_agreement.held_out[those], found.of(those)
            e, part = evidence_of(q, y, groups), paired(p, q, y, groups).skill
            ece, kuiper = f"{e.ece.value:.3f} ({e.ece.noise_floor:.3f})", f"{kuiper_by_group(q, y, groups).p_value:.3f}"
            scores = (f"{e.n:,}", f"{e.base_rate:.2%}", interval(e.skill), interval(e.auc), points(mean_by_group(y - q, groups)))
            rows.append((code(found.task), name, *scores, ece, kuiper, interval(part, 4, "+")))
    columns = ("task", "of", "n", "exact match", "skill score", "AUC", "exact - promised, points", "ECE (perfect forecaster)",
               "Kuiper's p", "agreement's part in skill")  # fmt: skip
    return table(columns, "llrrccccrc", rows)


def against_first(at: Folders) -> str:
    """The map of all alternatives minus the map of first choices, for first choices."""
    rows = list[tuple[object, ...]]()
    for found in _drawn_in(at):
        those = found.parts["first choices"]
        y, groups = found.of(those)
        skills = [paired(found.of_first.held_out, of.held_out[those], y, groups).skill for of in (found.with_agreement, found.without)]
        rows.append((code(found.task), f"{those.sum():,}", *(interval(skill, 4, "+") for skill in skills)))
    columns = ("task", "first choices", "skill of the map of all minus the map of first choices", "the same without agreement")
    return table(columns, "lrcc", rows)


def are_shipped(at: Folders) -> str:
    """Which are shipped, and why the others are not."""
    reasons = ((found.task, why_not(found)) for found in _drawn_in(at))
    return "\n".join(f"* `{task}`: {f'not shipped: {why}' if why else 'shipped'}." for task, why in reasons)


if __name__ == "__main__":
    sys.exit(ship(Path(sys.argv[1]), SHIPPED))
