"""What calibrators of first choices predict for the other alternatives, and what agreement adds: the tables of docs/calibration.md.

    python benchmarks/alternatives.py [--calibrators FOLDER] [--json FILE] SAMPLES …

SAMPLES: of `assay eval calibration --alternatives N`, one task each. FOLDER: has the calibrators of first choices, exact_match-TASK.json
(default: the shipped ones); they were fitted on first choices at the same places. All other probabilities are held out by project in 5
folds. Intervals are 95 %, with only projects as independent. FILE gets of each task why a map that is fitted on all alternatives may not be
shipped, or nothing: calibration must be refuted (Kuiper's test by project, p < 0.05) neither for first choices nor for the others, and
skill shown for both. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
FREE = tuple(name for name, each in MEASURES.items() if not each.cost and each.kind in ("intrinsic", "baseline", "consistency"))
WITHOUT = tuple(name for name in FREE if name != "agreement")
SHIPPED = Path(__file__).parents[1] / "calibration" / "shipped"
REFUTED = 0.05

Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Drawn:
    """The labelled samples of a task: labels y (n,), project (n,) and rank (n,) of each."""

    task: str
    samples: list[Sample]
    y: Rows
    groups: NDArray[np.intp]
    rank: NDArray[np.int_]

    @property
    def parts(self) -> dict[str, Rows]:
        """All, first choices, the others: which they are (n,)."""
        return {"all": np.ones_like(self.y), "first choices": self.rank == 1, "the others": self.rank > 1}


@dataclass(frozen=True, slots=True)
class Fits:
    """Maps fitted to all alternatives, with agreement and without it, and one fitted to first choices alone."""

    with_agreement: Fit
    without: Fit
    of_first: Fit


def drawn(path: Path) -> Drawn:
    samples = [sample for sample in read_samples(path) if sample.labels[EVENT] is not None]
    return Drawn(
        samples[0].task,
        samples,
        np.array([bool(sample.labels[EVENT]) for sample in samples]),
        numbered([sample.project for sample in samples]),
        np.array([sample.rank for sample in samples]),
    )


def fits(found: Drawn) -> Fits:
    first = [sample for sample in found.samples if sample.rank == 1]
    return Fits(fit(found.samples, EVENT, FREE), fit(found.samples, EVENT, WITHOUT), fit(first, EVENT, WITHOUT))


def promised_and_seen(p: Floats, y: Rows, groups: NDArray[np.intp]) -> list[str]:
    """n, mean probability, share that is right, their difference with its interval, Kuiper's p."""
    kuiper = kuiper_by_group(p, y, groups).p_value
    return [f"{len(y):,}", f"{p.mean():.2%}", f"{y.mean():.2%} ({y.sum()})", points(mean_by_group(y - p, groups)), f"{kuiper:.3f}"]


def mean_by_group(values: Floats, groups: NDArray[np.intp]) -> Interval:
    """The mean of all values, with the jackknife's interval over groups."""
    n, sums = np.bincount(groups), np.bincount(groups, values)
    without, count = (sums.sum() - sums) / (n.sum() - n), len(n)
    half = student_t(count - 1) * math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    value = float(values.mean())
    return Interval(value, value - half, value + half)


def said_of(calibrator: Calibrator, samples: Sequence[Sample]) -> tuple[Floats, Rows]:
    """The probabilities (m,) of the samples that get a number, and which those are (n,)."""
    said = [confidence(calibrator, sample.measures, {"language": sample.language}).probability for sample in samples]
    has = np.array([p is not None for p in said])
    return np.array([p for p in said if p is not None]), has


def interval(found: Interval | None, digits: int = 3, sign: str = "") -> str:
    if found is None:
        return "not defined"
    value, low, high = (f"{one:{sign}.{digits}f}" for one in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})"


def points(found: Interval) -> str:
    return f"{100 * found.value:+.2f} ({100 * found.low:+.2f} to {100 * found.high:+.2f})"


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def of_first_choices(found: Drawn, calibrator: Calibrator) -> Iterator[str]:
    """What a calibrator of first choices promises for each number, and what came true."""
    count = found.samples[0].alternatives
    ranks = [(str(number), found.rank == number) for number in range(1, count + 1)] + [(f"2 to {count}", found.rank > 1)]
    for name, rows in ranks:
        p, has = said_of(calibrator, [sample for sample, wanted in zip(found.samples, rows, strict=True) if wanted])
        groups = renumbered(found.groups[rows][has]) if has.any() else np.zeros(0, np.intp)
        with_and_without = f"{int(has.sum()):,} / {int((~has).sum()):,}"
        seen = promised_and_seen(p, found.y[rows][has], groups)[1:] if len(set(groups.tolist())) > 1 else [""] * 4
        yield row(f"`{found.task}`", name, with_and_without, *seen)


def of_all(found: Drawn, made: Fits) -> Iterator[str]:
    """What a map that was fitted to all alternatives is worth, held out, and agreement's part in it."""
    p, q = made.without.held_out, made.with_agreement.held_out
    for name, rows in found.parts.items():
        y, groups = found.y[rows], renumbered(found.groups[rows])
        e, part = evidence_of(q[rows], y, groups), paired(p[rows], q[rows], y, groups).skill
        ece, kuiper = f"{e.ece.value:.3f} ({e.ece.noise_floor:.3f})", f"{kuiper_by_group(q[rows], y, groups).p_value:.3f}"
        scores = (f"{e.n:,}", f"{e.base_rate:.2%}", interval(e.skill), interval(e.auc), points(mean_by_group(y - q[rows], groups)))
        yield row(f"`{found.task}`", name, *scores, ece, kuiper, interval(part, 4, "+"))


def against_first(found: Drawn, made: Fits) -> str:
    """The map of all alternatives minus the map of first choices, for first choices."""
    rows = found.parts["first choices"]
    groups = renumbered(found.groups[rows])
    skills = [paired(made.of_first.held_out, of.held_out[rows], found.y[rows], groups).skill for of in (made.with_agreement, made.without)]
    return row(f"`{found.task}`", f"{rows.sum():,}", *(interval(skill, 4, "+") for skill in skills))


def why_not(found: Drawn, made: Fits) -> str:
    """Why a map of all alternatives may not be shipped; empty where it may."""
    q = made.with_agreement.held_out
    for name in ("first choices", "the others"):
        rows = found.parts[name]
        y, groups = found.y[rows], renumbered(found.groups[rows])
        if (p := kuiper_by_group(q[rows], y, groups).p_value) < REFUTED:
            return f"calibration is refuted for {name} (Kuiper's p {p:.3f})"
        skill = evidence_of(q[rows], y, groups).skill
        if skill is None or skill.low <= 0:
            return f"no skill is shown for {name} ({interval(skill)})"
    return ""


PROMISED = ("task", "number", "with a number / without", "promised", "exact match", "exact - promised, points", "Kuiper's p")
FITTED = (
    "task", "of", "n", "exact match", "skill score", "AUC", "exact - promised, points", "ECE (perfect forecaster)", "Kuiper's p",
    "agreement's part in skill",
)  # fmt: skip
AGAINST = ("task", "first choices", "skill of the map of all minus the map of first choices", "the same without agreement")


def main() -> None:
    """Print the tables of all files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", metavar="SAMPLES", nargs="+", type=Path)
    parser.add_argument("--calibrators", metavar="FOLDER", type=Path, default=SHIPPED)
    parser.add_argument("--json", metavar="FILE", type=Path)
    arguments = parser.parse_args()
    found = [drawn(path) for path in arguments.samples]
    made = [fits(one) for one in found]
    calibrators = [load(arguments.calibrators / f"{EVENT}-{one.task}.json") for one in found]
    reasons = {one.task: why_not(one, of) for one, of in zip(found, made, strict=True)}
    promised = [line for one, calibrator in zip(found, calibrators, strict=True) for line in of_first_choices(one, calibrator)]
    fitted = [line for one, of in zip(found, made, strict=True) for line in of_all(one, of)]
    against = [against_first(one, of) for one, of in zip(found, made, strict=True)]
    for title, columns, align, lines in (
        ("What calibrators of first choices promise for alternatives", PROMISED, "|:---|:---|---:|---:|---:|:---:|---:|", promised),
        ("Fitted on all alternatives", FITTED, "|:---|:---|---:|---:|:---:|:---:|:---:|:---:|---:|:---:|", fitted),
        ("For first choices", AGAINST, "|:---|---:|:---:|:---:|", against),
    ):
        print(f"### {title}\n", row(*columns), align, *lines, "", sep="\n")
    print("### Which are shipped\n")
    for task, reason in reasons.items():
        print(f"* `{task}`: {f'not shipped: {reason}' if reason else 'shipped'}.")
    if arguments.json:
        arguments.json.write_text(json.dumps(reasons, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
