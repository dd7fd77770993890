"""A measure as confidence: as it is, and scaled by Platt, held out by random folds as in the paper, and by problem as is right.

Spiess et al. 2024 (arXiv 2402.02047) scale in five random folds. Where a problem has many answers, those folds let a map see answers to the
very problem that it judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....calibration.arrays import Floats, sigmoid
from ....calibration.fitting.folds import FOLDS, folds_of, numbered
from ....calibration.maps.platt import fit_platt
from ....calibration.measures.registry import enter, raw_probability
from ....calibration.metrics.bins import ece, ece_noise_floor
from ....calibration.metrics.intervals import Intervals, PairedIntervals, intervals, paired

SEED = 0
# The measures that are probabilities as they are, with their names in the paper.
PROBABILITIES = {"total_logprob": "p_tot", "mean_probability": "p_avg", "verbalised": "verbalised"}
Way = Literal["raw", "random folds", "by problem"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure of n answers, and whether each is right.

    raw (n,): the probability that it is taken for as it is. log_odds (n, 1): as it enters a map. right (n,). problem (n,): which problem
    each answers, from 0 without a gap.
    """

    name: str
    raw: Floats
    log_odds: Floats
    right: NDArray[np.bool_]
    problem: NDArray[np.intp]


def of_shares(name: str, k: NDArray[np.intp], m: NDArray[np.intp], right: NDArray[np.bool_], problem: NDArray[np.intp]) -> Measured:
    """k of m (n,), m > 0, which enter a map as log((k + ½) / (m - k + ½)), finite for m of m.

    The empirical logit (Cox & Snell 1989, Analysis of binary data): of all log((k + a) / (m - k + a)), a = ½ alone has no bias of order
    1 / m. It is also the log odds of (k + ½) / (m + 1), the mean of the posterior under Jeffreys' prior.
    """
    return Measured(name, k / m, np.asarray(np.log((k + 0.5) / (m - k + 0.5)))[:, None], right, problem)


def of_measure(name: str, rows: Sequence[tuple[str, float, bool]]) -> Measured:
    """One of PROBABILITIES. rows: the problem, the value and whether the answer is right."""
    problem, values, right = zip(*rows, strict=True)
    raw = raw_probability(name, values)
    assert raw is not None
    return Measured(PROBABILITIES[name], raw, enter(name, values)[:, None], np.array(right), numbered(problem))


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one measure in one way, over n answers to so many problems, which alone are independent.

    ece: in 10 bins of equal width; ece_floor: what a perfect forecaster would get. said: the mean probability.
    """

    measure: str
    way: Way
    n: int
    positives: int
    problems: int
    said: float
    ece: float
    ece_floor: float
    intervals: Intervals


def all_scores(measured: Measured, seed: int = SEED) -> list[Scores]:
    """The scores as it is, scaled by random folds, and by problem. Raises ValueError for answers to fewer than two problems."""
    n = len(measured.right)
    ways: dict[Way, Floats] = {
        "raw": measured.raw,
        "random folds": platt_out_of_fold(measured, measured, random_folds(n, seed)),
        "by problem": platt_out_of_fold(measured, measured, folds_of(measured.problem, seed)),
    }
    return [scores(measured, way, p) for way, p in ways.items()]


def scores(measured: Measured, way: Way, p: Floats) -> Scores:
    """The scores of probabilities (n,) for the answers."""
    y, problem = measured.right, measured.problem
    count = int(problem.max()) + 1
    found = intervals(bounded(p), y, problem)
    return Scores(measured.name, way, len(y), int(y.sum()), count, float(p.mean()), ece(p, y), ece_noise_floor(p), found)


def random_folds(n: int, seed: int = SEED) -> NDArray[np.intp]:
    """(n,): the fold of each answer, drawn at random."""
    return np.asarray(np.random.default_rng(seed).permutation(n) % FOLDS)


def platt_out_of_fold(fitted_on: Measured, used_on: Measured, fold: NDArray[np.intp]) -> Floats:
    """Probabilities (n,) of one set of answers from maps fitted on another, or on itself, without the fold of the answers judged."""
    p = np.empty(len(fold))
    for held_out in np.unique(fold):
        seen, unseen = fold != held_out, fold == held_out
        p[unseen] = sigmoid(fit_platt(fitted_on.log_odds[seen], fitted_on.right[seen]).log_odds(used_on.log_odds[unseen]))
    return p


def change(before: Floats, after: Floats, measured: Measured) -> PairedIntervals:
    """What other probabilities (n,) for the same answers change, paired."""
    return paired(bounded(before), bounded(after), measured.right, measured.problem)


def bounded(p: Floats) -> Floats:
    """A share of 10 in 10 that is wrong has an infinite log loss, which intervals refuse; nothing else feels a bound this far out."""
    return p.clip(1e-9, 1 - 1e-9)
