"""What calibrators of first choices predict for the other alternatives, and what agreement adds: the tables of docs/calibration.md.

    python benchmarks/alternatives.py FILE …

FILE: samples of `assay eval calibration --alternatives N`, one task each, which are not part of the repository. Probabilities are held out
by project in 5 folds, except those of the shipped calibrator, which was fitted on first choices at the same places. Intervals are 95 %,
with projects resampled.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.calibration.arrays import Floats
from assay.calibration.calibrator import Calibrator, load
from assay.calibration.confidence import confidence
from assay.calibration.evidence import evidence_of
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.fitting.folds import numbered, renumbered
from assay.calibration.measures.registry import MEASURES
from assay.calibration.metrics.intervals import Interval, paired, student_t
from assay.calibration.metrics.null_tests import kuiper_by_group
from assay.calibration.samples import Sample, read_samples

EVENT = "exact_match"
FREE = tuple(name for name, measure in MEASURES.items() if measure.cost == 0)
WITHOUT = tuple(name for name in FREE if name != "agreement")
SHIPPED = Path(__file__).parents[1] / "calibration" / "shipped"

Rows = NDArray[np.bool_]


def promised_and_seen(p: Floats, y: Rows, groups: NDArray[np.intp]) -> str:
    """n, mean probability, share that is right, their difference, calibration error (each with its interval), ECE (floor), Kuiper's p."""
    found = evidence_of(p, y, groups)
    error = found.ece
    gap, kuiper = mean_by_group(y - p, groups), kuiper_by_group(p, y, groups).p_value
    return (
        f"{found.n:,} | {p.mean():.2%} | {found.base_rate:.2%} ({found.positives}) | {points(gap)} "
        f"| {error.debiased:.3f} ({error.low:.3f} to {error.high:.3f}) | {error.value:.4f} ({error.noise_floor:.4f}) | {kuiper:.3f}"
    )


def judged(p: Floats, y: Rows, groups: NDArray[np.intp]) -> str:
    """The same, and skill and AUC."""
    found = evidence_of(p, y, groups)
    return f"{interval(found.skill)} | {interval(found.auc)} | {promised_and_seen(p, y, groups)}"


def mean_by_group(values: Floats, groups: NDArray[np.intp]) -> Interval:
    """The mean of all values, with the jackknife's interval over groups."""
    n, sums = np.bincount(groups), np.bincount(groups, values)
    without, count = (sums.sum() - sums) / (n.sum() - n), len(n)
    half = student_t(count - 1) * math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    value = float(values.mean())
    return Interval(value, value - half, value + half)


def shipped_on(calibrator: Calibrator, samples: Sequence[Sample]) -> tuple[Floats, Rows]:
    """The probabilities (m,) of the samples that get a number, and which those are (n,)."""
    said = [confidence(calibrator, sample.measures, {"language": sample.language}).probability for sample in samples]
    has = np.array([p is not None for p in said])
    return np.array([p for p in said if p is not None]), has


def compared(p: Floats, q: Floats, y: Rows, groups: NDArray[np.intp]) -> str:
    """Skill and log loss of q minus those of p."""
    found = paired(p, q, y, groups)
    return f"{interval(found.skill, '+')} | {interval(found.log_loss, '+')} | {interval(found.auc, '+')}"


def interval(found: Interval | None, sign: str = "") -> str:
    if found is None:
        return "–"
    return f"{found.value:{sign}.4f} ({found.low:{sign}.4f} to {found.high:{sign}.4f})"


def points(found: Interval) -> str:
    return f"{100 * found.value:+.2f} ({100 * found.low:+.2f} to {100 * found.high:+.2f})"


def tables(path: Path) -> Iterator[str]:
    """The lines of all tables of one task."""
    samples = [sample for sample in read_samples(path) if sample.labels[EVENT] is not None]
    task, y = samples[0].task, np.array([bool(sample.labels[EVENT]) for sample in samples])
    groups, rank = numbered([sample.project for sample in samples]), np.array([sample.rank for sample in samples])
    count, first = samples[0].alternatives, rank == 1
    right = f"{y.sum()} right; {first.sum():,} first choices, {y[first].sum()} of them right"
    yield f"{task}: {len(y):,} samples of {groups.max() + 1} projects, {right}"

    columns = "n | promised | right | right - promised, points | calibration error | ECE (floor) | Kuiper's p"
    yield f"\nshipped calibrator: rank | {columns}"
    calibrator = load(SHIPPED / f"{EVENT}-{task}.json")
    for name, rows in [(str(r), rank == r) for r in range(1, count + 1)] + [(f"2 to {count}", ~first)]:
        p, has = shipped_on(calibrator, [sample for sample, wanted in zip(samples, rows, strict=True) if wanted])
        yield f"{name} | {promised_and_seen(p, y[rows][has], renumbered(groups[rows][has]))} | without a number {int((~has).sum())}"

    fits: dict[str, Fit] = {"without": fit(samples, EVENT, WITHOUT), "with": fit(samples, EVENT, FREE)}
    of_first = fit([sample for sample in samples if sample.rank == 1], EVENT, WITHOUT)
    yield f"\nfitted on all: rows | skill | AUC | {columns}"
    for name, made in fits.items():
        yield f"{name}: {made.calibrator.map.kind} of {', '.join(made.calibrator.features)}; {made.calibrator.status}"
        for of, rows in (("all", np.ones_like(first)), ("first", first), ("others", ~first)):
            yield f"{name}, {of} | {judged(made.held_out[rows], y[rows], renumbered(groups[rows]))}"
    yield f"of first choices, first | {judged(of_first.held_out, y[first], renumbered(groups[first]))}"

    yield "\npaired: | skill | log loss, nats | AUC"
    a, b = fits["without"].held_out, fits["with"].held_out
    for of, rows in (("all", np.ones_like(first)), ("first", first), ("others", ~first)):
        yield f"with - without, {of} | {compared(a[rows], b[rows], y[rows], renumbered(groups[rows]))}"
    yield f"with - of first choices, first | {compared(of_first.held_out, b[first], y[first], renumbered(groups[first]))}"
    yield f"without - of first choices, first | {compared(of_first.held_out, a[first], y[first], renumbered(groups[first]))}"


def main() -> None:
    """Print the tables of each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", metavar="FILE", nargs="+", type=Path)
    for path in parser.parse_args().samples:
        print(*tables(path), "", sep="\n", flush=True)


if __name__ == "__main__":
    main()
