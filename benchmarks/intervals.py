"""How often 95 % intervals hold the truth, and 5 % tests refute it, in synthetic worlds whose truth is known.

    python benchmarks/intervals.py [--worlds N] [--seed S]

Prints tables in Markdown, which docs/intervals.md explains: the coverage of every interval of `assay.calibration.metrics.intervals`, of its
paired differences, and of `rate_interval`; the size of the tests of `null_tests`; and the width of the intervals. Every percentage has its
own 95 % interval (Wilson) in brackets. It is bold where that lies entirely more than two points from the nominal value.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from multiprocessing import Pool

# two processes of one thread each
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import harness
import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from assay.calibration.arrays import Floats
from assay.calibration.metrics.bins import equal_width, wilson
from assay.calibration.metrics.intervals import Interval, intervals, paired, rate_interval
from assay.calibration.metrics.null_tests import kuiper_by_group, spiegelhalter_by_group

# of the log odds: base rates of 42 and 8 %
CENTRES = (-0.4, -3.0)
SPREAD = 1.2
# how many times the true log odds a forecaster says
FORECASTERS = {"calibrated": 1.0, "slightly off": 1.3, "overconfident": 1.8}
# n, projects; 0 where samples are independent
SIZES = ((164, 0), (500, 0), (2000, 0), (500, 5), (1500, 15), (3000, 30), (2000, 100))
PLANNED = ((100, 0), (500, 0), (2000, 0), (10_000, 0), (500, 5), (1500, 15), (3000, 30), (10_000, 100))
# Of `rate_interval`: groups and n, how much groups differ in log odds, shares, and how often a hidden sample is there.
RATE_SIZES = ((5, 30), (5, 200), (10, 100), (30, 100), (30, 1000))
OFFSETS = (0.0, 0.4, 0.8)
RATES = (0.3, 0.7, 0.95)
PROPENSITY = 0.1
# Of the samples that are there by chance, so many times as many are right.
_LESS_RIGHT = 0.5
METRICS = ("brier", "skill", "log_loss", "auc", "augrc", "calibration_error")
DIFFERENCES = ("brier", "skill", "log_loss", "auc")
TESTS = ("Spiegelhalter by group", "Kuiper by group")
WORDS = {
    "brier": "Brier",
    "skill": "skill",
    "log_loss": "log loss",
    "auc": "AUC",
    "augrc": "AUGRC",
    "calibration_error": "calibration error",
}
SIMULATIONS, QUANTILES = 199, 20_000

Row = dict[str, float]


@dataclass(frozen=True)
class World:
    """A forecaster that says `temper` times the log odds of P(y = 1 | z), z normal with spread SPREAD around `centre`.

    With projects, of unequal size, z has a standard deviation of 0.5 between their means, and y an offset of log odds that is normal with
    0.5 and that nobody sees. P(y = 1 | z) is over all projects there could be, and the truth is of them, not of those that were drawn.
    """

    centre: float
    n: int
    projects: int
    temper: float = 1.0

    @property
    def between(self) -> float:
        return 0.5 if self.projects else 0.0

    def true(self, z: Floats) -> Floats:
        if not self.projects:
            return np.asarray(expit(z))
        x, weight = hermegauss(41)
        return np.asarray(expit(z[:, None] + self.between * x) @ (weight / weight.sum()))

    def says(self, z: Floats) -> Floats:
        return np.asarray(expit(self.temper * logit(self.true(z))))

    def rival_says(self, z: Floats) -> Floats:
        """A calibrated rival, who can't tell apart what is above the median."""
        return np.where(z < self.centre, self.true(z), self.upper_half)

    @cached_property
    def upper_half(self) -> float:
        return float(self.true(self.quantiles()[QUANTILES // 2 :]).mean())

    def quantiles(self) -> Floats:
        """Equally likely z's, lowest first: means over them are expectations."""
        return np.asarray(self.centre + SPREAD * ndtri((np.arange(QUANTILES) + 0.5) / QUANTILES))

    def draw(self, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]:
        """z, y and the project of n samples."""
        if not self.projects:
            z = rng.normal(self.centre, SPREAD, self.n)
            return z, rng.random(self.n) < expit(z), np.arange(self.n)
        share = rng.lognormal(0, 0.5, self.projects)
        more = rng.choice(self.projects, self.n - self.projects, p=share / share.sum())
        project = np.concatenate([np.arange(self.projects), more])
        z = rng.normal(self.centre, math.sqrt(SPREAD**2 - self.between**2), self.n) + rng.normal(0, self.between, self.projects)[project]
        return z, rng.random(self.n) < expit(z + rng.normal(0, self.between, self.projects)[project]), project


def expected(p: Floats, true: Floats) -> dict[str, float]:
    """The metrics of probabilities p where P(y = 1) is `true`, both (m,), equally likely and in the order of `true`.

    calibration_error is over ten bins of equal mass, as that of `intervals`, but takes p to have no ties.
    """
    rate = float(true.mean())
    brier = float(np.mean((p - true) ** 2 + true * (1 - true)))
    _, run = np.unique(p, return_inverse=True)
    positive, negative = np.bincount(run, true) / true.sum(), np.bincount(run, 1 - true) / (1 - true).sum()
    auc = float((positive * (np.cumsum(negative) - negative / 2)).sum())
    tenths = (p - true).reshape(10, -1).mean(axis=1)
    return {
        "brier": brier,
        "skill": 1 - brier / (rate * (1 - rate)),
        "log_loss": -float(np.mean(true * np.log(p) + (1 - true) * np.log1p(-p))),
        "auc": auc,
        "augrc": (1 - auc) * rate * (1 - rate) + (1 - rate) ** 2 / 2,
        "calibration_error": math.sqrt(float((tenths**2).mean())),
        "ece": float(np.abs(np.bincount(equal_width(p), p - true)).sum() / len(p)),
    }


def covered(truth: float, interval: Interval | tuple[float, float] | None) -> float:
    """nan where there is no interval. A calibration error of 0 is said to be covered but for rounding."""
    if interval is None:
        return math.nan
    low, high = (interval.low, interval.high) if isinstance(interval, Interval) else interval
    return float(low <= truth + 1e-9 and truth <= high)


def naive_ece(p: Floats, y: NDArray[np.bool_], rng: np.random.Generator, resamples: int = 200) -> tuple[float, float]:
    """Percentiles of the ECE of resampled samples, as others publish it."""
    chosen = rng.integers(len(p), size=(resamples, len(p)))
    cell = equal_width(p)[chosen] + 10 * np.arange(resamples)[:, None]
    gaps = np.bincount(cell.ravel(), (y - p)[chosen].ravel(), 10 * resamples).reshape(resamples, 10)
    low, high = np.quantile(np.abs(gaps).sum(axis=1) / len(p), [0.025, 0.975])
    return float(low), float(high)


def trial(world: World, truth: dict[str, float], difference: dict[str, float], seed: Sequence[int]) -> Row:
    """One draw: 1 or 0 for every interval that held the truth, half-widths, and the tests' p-values."""
    rng = np.random.default_rng(seed)
    z, y, group = world.draw(rng)
    p = world.says(z)
    found, apart = intervals(p, y, group), paired(world.rival_says(z), p, y, group)
    row = {f"ours, {name}": covered(truth[name], getattr(found, name)) for name in METRICS}
    row |= {f"paired, {name}": covered(difference[name], getattr(apart, name)) for name in DIFFERENCES}
    row["percentile ECE"] = covered(truth["ece"], naive_ece(p, y, rng))
    if world.temper == 1 and world.projects:
        tests = (spiegelhalter_by_group(p, y, group), kuiper_by_group(p, y, group, simulations=SIMULATIONS))
        row |= {name: float(test.p_value <= 0.05) for name, test in zip(TESTS, tests, strict=True)}
    return row


def widths(world: World, seed: Sequence[int]) -> Row:
    """Half the width of every interval; of the calibration error the upper end."""
    z, y, group = world.draw(np.random.default_rng(seed))
    found = intervals(world.says(z), y, group)
    halves = {name: getattr(found, name) for name in METRICS}
    row = {name: (made.high - made.low) / 2 if made else math.nan for name, made in halves.items()}
    return row | {"calibration_error": found.calibration_error.high}


def many(task: tuple[str, World, Sequence[int], range]) -> list[Row]:
    """The rows of some numbers of one world, in a process of their own."""
    kind, world, seed, numbers = task
    if kind == "widths":
        return [widths(world, (*seed, number)) for number in numbers]
    z = world.quantiles()
    true = world.true(z)
    truth, rival = expected(world.says(z), true), expected(world.rival_says(z), true)
    difference = {name: truth[name] - rival[name] for name in DIFFERENCES}
    return [trial(world, truth, difference, (*seed, number)) for number in numbers]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of `of` worlds with its 95 % interval; of 0 where nothing was measured."""

    value: float
    low: float
    high: float
    of: int

    @classmethod
    def among(cls, held: list[float]) -> Share:
        known = [value for value in held if not math.isnan(value)]
        if not known:
            return cls(math.nan, math.nan, math.nan, 0)
        return cls(sum(known) / len(known), *wilson(round(sum(known)), len(known)), len(known))

    def shown(self, low: float, high: float) -> str:
        """Bold where all of the share's interval is outside low..high."""
        if not self.of:
            return "–"
        text = f"{self.value:.1%}".replace("%", "")
        return f"{f'**{text}**' if self.high < low or self.low > high else text} ({100 * self.low:.1f}–{100 * self.high:.1f})"


def measured(worlds: int, seed: int) -> tuple[dict[World, dict[str, Share]], dict[World, dict[str, float]]]:
    """Shares of every world of the coverage tables, and median half-widths of those to plan with, from a tenth of the worlds."""
    # the forecasters of one centre and size see the same draws
    drawn_from = list(product(CENTRES, SIZES))
    cells = [(World(c, *size, temper), (seed, at)) for at, (c, size) in enumerate(drawn_from) for temper in FORECASTERS.values()]
    plans = [(World(c, *size), (seed, 1000 + at)) for at, (c, size) in enumerate(product(CENTRES, PLANNED))]
    step = max(1, worlds // 20)
    tasks = [("trial", world, key, range(at, min(at + step, worlds))) for world, key in cells for at in range(0, worlds, step)]
    tasks += [("widths", world, key, range(max(1, worlds // 10))) for world, key in plans]
    rows: dict[tuple[str, World], list[Row]] = {}
    with Pool(2) as pool:
        for (kind, world, _, _), made in zip(tasks, pool.imap(many, tasks), strict=True):
            rows.setdefault((kind, world), []).extend(made)
    shares = {
        world: {name: Share.among([row[name] for row in found]) for name in found[0]}
        for (kind, world), found in rows.items()
        if kind == "trial"
    }
    medians = {
        world: {name: float(np.nanmedian([row[name] for row in found])) for name in METRICS}
        for (kind, world), found in rows.items()
        if kind == "widths"
    }
    return shares, medians


def rate_covered(groups: int, n: int, rate: float, sd: float, *, explored: bool, worlds: int, rng: np.random.Generator) -> Share:
    """The share of worlds whose interval holds the truth: log odds of `rate`, off by a normal `sd` in each group; sizes of groups from a
    flat Dirichlet. explored: half of the samples are half as often right, and each of these is there with the probability PROPENSITY."""
    truth = float(expit(logit(rate) + sd * np.random.default_rng(0).normal(size=1_000_000)).mean())
    truth *= (1 + _LESS_RIGHT) / 2 if explored else 1
    held = []
    for _ in range(worlds):
        group = np.repeat(np.arange(groups), rng.multinomial(n, rng.dirichlet(np.ones(groups))))
        p = expit(logit(rate) + rng.normal(0, sd, groups)[group])
        low = rng.random(n) < 0.5 if explored else np.zeros(n, dtype=np.bool_)
        y = rng.random(n) < np.where(low, _LESS_RIGHT * p, p)
        there = ~low | (rng.random(n) < PROPENSITY)
        _, index = np.unique(group[there], return_inverse=True)
        found = rate_interval(y[there], index, np.where(low, 1 / PROPENSITY, 1.0)[there])
        held.append(covered(truth, found))
    return Share.among(held)


def rate_rows(worlds: int, seed: int) -> Iterator[tuple[object, ...]]:
    rng = np.random.default_rng(seed)
    for groups, n in RATE_SIZES:
        for sd in OFFSETS:
            found = [rate_covered(groups, n, rate, sd, explored=by, worlds=worlds, rng=rng) for by in (False, True) for rate in RATES]
            yield groups, n, sd, *(one.shown(0.93, 1) for one in found)


def size_of(world: World) -> tuple[str, ...]:
    return "42 %" if world.centre == CENTRES[0] else "8 %", f"{world.n:,}", str(world.projects or "–")


def markdown(shares: dict[World, dict[str, Share]], medians: dict[World, dict[str, float]], worlds: int, seed: int) -> Iterator[str]:
    """Headings and tables, one after the other."""
    of_size = ("base rate", "n", "projects")
    named = {temper: name for name, temper in FORECASTERS.items()}

    def cells(found: dict[str, Share], names: Sequence[str], low: float = 0.93, high: float = 0.97) -> list[str]:
        return [found[name].shown(low, high) for name in names]

    def of_forecasters(names: Sequence[str]) -> list[tuple[str, ...]]:
        return [(*size_of(world), named[world.temper], *cells(found, names)) for world, found in shares.items()]

    yield "Coverage of nominal 95 %:\n"
    head = (*of_size, "forecaster", *(WORDS[name] for name in METRICS), "ECE, percentiles")
    yield harness.table(head, of_forecasters([*(f"ours, {name}" for name in METRICS), "percentile ECE"]), names=4)
    yield "\nCoverage of nominal 95 %, of differences to a rival:\n"
    head = (*of_size, "forecaster", *(WORDS[name] for name in DIFFERENCES))
    yield harness.table(head, of_forecasters([f"paired, {name}" for name in DIFFERENCES]), names=4)
    yield "\nCalibrated probabilities that are refuted at a nominal 5 %:\n"
    calibrated = [(*size_of(world), *cells(found, TESTS, 0.03, 0.07)) for world, found in shares.items() if TESTS[0] in found]
    yield harness.table((*of_size, *TESTS), calibrated, names=3)
    yield "\nHalf the width of the 95 % interval, median; of the calibration error, its upper end:\n"
    widths_of = [(*size_of(world), *(f"{found[name]:.3f}" for name in METRICS)) for world, found in medians.items()]
    yield harness.table((*of_size, *(WORDS[name] for name in METRICS)), widths_of, names=3)
    yield "\nCoverage of nominal 95 % by `rate_interval`, without and with samples that are there by chance:\n"
    head = ("groups", "n", "offsets' sd", *(f"{rate:.2f}{of}" for of in ("", ", by chance") for rate in RATES))
    yield harness.table(head, rate_rows(worlds, seed), names=3)


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--worlds", type=int, default=1000, help="worlds a row (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.worlds < 1 or arguments.seed < 0:
        parser.error("at least one world, and a seed from 0")
    print(f"{arguments.worlds:,} worlds a row, seed {arguments.seed}.\n")
    for part in markdown(*measured(arguments.worlds, arguments.seed), arguments.worlds, arguments.seed):
        print(part, flush=True)


if __name__ == "__main__":
    main()
