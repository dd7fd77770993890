"""How often 95 % intervals hold the truth, and 5 % tests refute it, in synthetic worlds whose truth is known.

    python benchmarks/coverage.py [--worlds N] [--seed S] [--json]

Prints tables in Markdown, which docs/intervals.md explains: the coverage of every interval of `assay.calibration.metrics.intervals`, of its
paired differences, and of other intervals of the same worlds; the size of the tests of `null_tests`; and the width of the intervals. Every
percentage has its own 95 % interval (Wilson) in brackets. It is bold where that lies entirely more than two points from the nominal value.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from multiprocessing import Pool

# two processes of one thread each
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from assay.calibration.arrays import Floats
from assay.calibration.metrics.bins import ece, equal_width, wilson
from assay.calibration.metrics.intervals import Interval, intervals, paired, tail
from assay.calibration.metrics.null_tests import kuiper, kuiper_by_group, null_test, spiegelhalter, spiegelhalter_by_group

# of the log odds: base rates of 42 and 8 %
CENTRES = (-0.4, -3.0)
SPREAD = 1.2
# how many times the true log odds a forecaster says
FORECASTERS = {"calibrated": 1.0, "slightly off": 1.3, "overconfident": 1.8}
# n, projects; 0 where samples are independent
SIZES = ((164, 0), (500, 0), (2000, 0), (500, 5), (1500, 15), (3000, 30), (2000, 100))
PLANNED = (
    (50, 0),
    (100, 0),
    (200, 0),
    (500, 0),
    (1000, 0),
    (2000, 0),
    (5000, 0),
    (10_000, 0),
    (500, 5),
    (1500, 15),
    (3000, 30),
    (10_000, 100),
)
METRICS = ("brier", "skill", "log_loss", "auc", "augrc", "calibration_error")
DIFFERENCES = ("brier", "skill", "log_loss", "auc")
OTHERS = ("percentile, samples", "percentile", "expanded percentile", "BCa", "jackknife t")
TESTS = ("Spiegelhalter", "Kuiper", "ECE, simulated", "Spiegelhalter by group", "Kuiper by group")
WORDS = {
    "brier": "Brier",
    "skill": "skill",
    "log_loss": "log loss",
    "auc": "AUC",
    "augrc": "AUGRC",
    "calibration_error": "calibration error",
}
RESAMPLES, SIMULATIONS, QUANTILES = 1000, 199, 20_000

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


def resampled(p: Floats, y: NDArray[np.bool_], group: NDArray[np.intp], weights: Floats) -> dict[str, Floats]:
    """Skill and AUC of each row of weights (rows, groups), p without ties; nan where it has one class."""
    order = np.argsort(p)
    group, p, y = group[order], p[order], y[order]
    found = []
    for some in np.array_split(weights, math.ceil(len(weights) / 50)):
        each = some[:, group]
        n, positives = each.sum(axis=1), each @ y
        pairs = np.where(positives * (n - positives) > 0, positives * (n - positives), np.nan)
        ordered = (each[:, y] * np.cumsum(each * ~y, axis=1)[:, y]).sum(axis=1)
        found.append((1 - (each @ (p - y) ** 2) * n / pairs, ordered / pairs))
    return dict(zip(("skill", "auc"), np.concatenate(found, axis=1), strict=True))


def drawn(groups: int, rng: np.random.Generator) -> Floats:
    rows = rng.integers(groups, size=(RESAMPLES, groups)) + groups * np.arange(RESAMPLES)[:, None]
    return np.bincount(rows.ravel(), minlength=RESAMPLES * groups).reshape(RESAMPLES, groups).astype(np.float64)


def other_intervals(
    p: Floats, y: NDArray[np.bool_], group: NDArray[np.intp], rng: np.random.Generator
) -> Iterator[tuple[str, str, tuple[float, float]]]:
    """(interval, metric, ends) of the bootstraps that `intervals` was chosen over."""
    groups = int(group.max()) + 1
    alone = resampled(p, y, np.arange(len(p)), drawn(len(p), rng)) if groups < len(p) else {}
    whole, left_out = (resampled(p, y, group, weights) for weights in (np.ones((1, groups)), 1 - np.eye(groups)))
    of_groups = resampled(p, y, group, drawn(groups, rng))
    for metric in ("skill", "auc"):
        sample = of_groups[metric][np.isfinite(of_groups[metric])]
        if alone:
            yield "percentile, samples", metric, ends(alone[metric][np.isfinite(alone[metric])], 0.025, 0.975)
        yield "percentile", metric, ends(sample, 0.025, 0.975)
        yield "expanded percentile", metric, ends(sample, tail(groups), 1 - tail(groups))
        # Efron & Tibshirani 1993, eq. 14.9 to 14.15
        bias = ndtri(np.clip((sample < whole[metric]).mean(), 1 / RESAMPLES, 1 - 1 / RESAMPLES))
        d = left_out[metric][np.isfinite(left_out[metric])]
        d = d.mean() - d
        acceleration = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
        shares = [ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))) for z in (ndtri(0.025), ndtri(0.975))]
        yield "BCa", metric, ends(sample, *shares)


def ends(sample: Floats, low: float, high: float) -> tuple[float, float]:
    a, b = np.quantile(sample, [low, high])
    return float(a), float(b)


def naive_ece(p: Floats, y: NDArray[np.bool_], rng: np.random.Generator, resamples: int = 200) -> tuple[float, float]:
    """Percentiles of the ECE of resampled samples, as others publish it."""
    chosen = rng.integers(len(p), size=(resamples, len(p)))
    cell = equal_width(p)[chosen] + 10 * np.arange(resamples)[:, None]
    gaps = np.bincount(cell.ravel(), (y - p)[chosen].ravel(), 10 * resamples).reshape(resamples, 10)
    return ends(np.abs(gaps).sum(axis=1) / len(p), 0.025, 0.975)


def trial(world: World, truth: dict[str, float], difference: dict[str, float], seed: Sequence[int]) -> Row:
    """One draw: 1 or 0 for every interval that held the truth, half-widths, and the tests' p-values."""
    rng = np.random.default_rng(seed)
    z, y, group = world.draw(rng)
    p = world.says(z)
    found, apart = intervals(p, y, group), paired(world.rival_says(z), p, y, group)
    row = {f"ours, {name}": covered(truth[name], getattr(found, name)) for name in METRICS}
    row |= {f"paired, {name}": covered(difference[name], getattr(apart, name)) for name in DIFFERENCES}
    row["percentile ECE"] = covered(truth["ece"], naive_ece(p, y, rng))
    if world.temper == 1:
        row |= {f"{how}, {name}": covered(truth[name], both) for how, name, both in other_intervals(p, y, group, rng)}
        row |= {f"jackknife t, {name}": row[f"ours, {name}"] for name in ("skill", "auc")}
        row |= {name: float(value <= 0.05) for name, value in p_values(p, y, group if world.projects else None)}
    return row


def p_values(p: Floats, y: NDArray[np.bool_], group: NDArray[np.intp] | None) -> Iterator[tuple[str, float]]:
    yield "Spiegelhalter", spiegelhalter(p, y).p_value
    yield "Kuiper", kuiper(p, y).p_value
    yield "ECE, simulated", null_test(p, y, ece, simulations=SIMULATIONS).p_value
    if group is not None:
        yield "Spiegelhalter by group", spiegelhalter_by_group(p, y, group).p_value
        yield "Kuiper by group", kuiper_by_group(p, y, group, simulations=SIMULATIONS).p_value


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


def size_of(world: World) -> str:
    base_rate = "42 %" if world.centre == CENTRES[0] else "8 %"
    return f"{base_rate} | {world.n:,} | {world.projects or '–'}"


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|---:|---:|---:|" + ":---:|" * (len(head) - 3)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def markdown(shares: dict[World, dict[str, Share]], medians: dict[World, dict[str, float]]) -> Iterator[str]:
    of_size = ("base rate", "n", "projects")
    named = {temper: name for name, temper in FORECASTERS.items()}
    calibrated = {world: found for world, found in shares.items() if world.temper == 1}

    def cells(found: dict[str, Share], names: Sequence[str], low: float = 0.93, high: float = 0.97) -> list[str]:
        return [found[name].shown(low, high) if name in found else "–" for name in names]

    yield "Coverage of nominal 95 %:\n"
    yield from table(
        (*of_size, "forecaster", *(WORDS[name] for name in METRICS), "ECE, percentiles"),
        ([size_of(w), named[w.temper], *cells(s, [*(f"ours, {name}" for name in METRICS), "percentile ECE"])] for w, s in shares.items()),
    )
    yield "Coverage of nominal 95 %, of differences to a rival:\n"
    yield from table(
        (*of_size, "forecaster", *(WORDS[name] for name in DIFFERENCES)),
        ([size_of(w), named[w.temper], *cells(s, [f"paired, {name}" for name in DIFFERENCES])] for w, s in shares.items()),
    )
    for metric in ("skill", "auc"):
        yield f"Coverage of nominal 95 % by other intervals of {WORDS[metric]}, calibrated forecaster:\n"
        rows = ([size_of(w), *cells(s, [f"{how}, {metric}" for how in OTHERS])] for w, s in calibrated.items())
        yield from table((*of_size, *OTHERS), rows)
    yield "Calibrated probabilities that are refuted at a nominal 5 %:\n"
    yield from table((*of_size, *TESTS), ([size_of(w), *cells(s, TESTS, 0.03, 0.07)] for w, s in calibrated.items()))
    yield "Half the width of the 95 % interval, median; of the calibration error, its upper end:\n"
    rows = ([size_of(world), *(f"{found[name]:.3f}" for name in METRICS)] for world, found in medians.items())
    yield from table((*of_size, *(WORDS[name] for name in METRICS)), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=1000, help="worlds a row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print the same as JSON")
    arguments = parser.parse_args()
    if arguments.worlds < 1 or arguments.seed < 0:
        parser.error("at least one world, and a seed from 0")
    shares, medians = measured(arguments.worlds, arguments.seed)
    if arguments.json:
        coverage = [{**asdict(world), "shares": {name: asdict(share) for name, share in found.items()}} for world, found in shares.items()]
        print(json.dumps({"coverage": coverage, "half_widths": [{**asdict(w), **found} for w, found in medians.items()]}, indent=1))
        return
    print(f"{arguments.worlds:,} worlds a row, seed {arguments.seed}.\n")
    for line in markdown(shares, medians):
        print(line)


if __name__ == "__main__":
    main()
