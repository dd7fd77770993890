"""A drift alarm with a stated rate of false alarms: a bet against the claim that the probabilities hold, whose winnings prove it wrong.

The claim (null hypothesis), for a tolerance δ in log odds: whatever came before, each sample's P(event) lies in [l, u] around the
probability p that was said, u = max(σ(logit p + δ), p + 0.02) and l = min(σ(logit p - δ), p - 0.02). Exact calibration is no claim to
watch: no map has it, so an alarm would come in the end, whatever the map is worth. In log odds, because that is how projects differ; with
two points of probability at least, because nobody acts on less, and no map is right in log odds at its far ends.

Each bet names an alternative r = σ(shift + slope · logit p). If r > u, its stake is multiplied by r / u where the event happens and by
(1 - r) / (1 - u) where not; if r < l, in the same way with l; else it rests. That is a fair or losing bet if the claim is true: for r > u
the mean factor q r / u + (1 - q) (1 - r) / (1 - u) grows with the true q and is 1 at q = u, the highest that is claimed. A share
π_t = C(t - 1) - C(t), C(t) = 1 / (1 + log(1 + t)), of the initial 1 is staked on sample t, in equal parts on the bets, and stays in: so a
drift that starts late finds money that has not been lost yet, at a cost of about log t nats. So M_t, all stakes with their winnings plus
C(t), starts at 1 and falls in the mean: a non-negative supermartingale, an e-process; and by Ville's inequality
P(M_t ever reaches 1 / α) ≤ α, for any length of the stream and however it is looked at. It needs no independence beyond the claim itself,
which says "whatever came before": a project with an offset of its own beyond δ breaks the claim, and is drift.

P(ever a false alarm), not the mean time between two (as e-detectors bound it): an alarm asks a person to refit, after which watching starts
anew. Sources: Ville (1939); Shafer (2021), Testing by betting; Shin, Ramdas & Rinaldo (2023), E-detectors, for stakes that begin at every
sample. What it costs and what it finds: docs/drift.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats, sigmoid
from ..calibrator import Calibrator

ALPHA = 0.01
TOLERANCE = 0.25
MIN_TOLERANCE = 0.02
Direction = Literal["too_low", "too_high", "too_extreme", "too_timid"]
DIRECTION_WORDS: dict[Direction, str] = {
    "too_low": "too low: {size} should be added to their log odds",
    "too_high": "too high: {size} should be taken from their log odds",
    "too_extreme": "too extreme: their log odds should be {size} times as large",
    "too_timid": "not extreme enough: their log odds should be {size} times as large",
}

# how far beyond the tolerance the bets on a shift are, log odds, and the slopes that are bet on
_BEYOND = (0.25, 0.75, 1.75)
_SLOPES = (0.5, 0.5**0.5, 2**0.5, 2.0)
_MAX_LOG_ODDS = 30.0
_CHUNK = 50_000
_Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Bet:
    """One alternative, log odds = shift + slope · logit p, and what has come of it.

    log_wealth: log of all stakes on it with their winnings, the stake on the next sample included. since: number of the first sample of the
    single most successful stake, log_best the log of that stake's wealth. score and information: from that sample on, of the alternative's
    own parameter (the shift, or the slope where that is not 1): Σ d (y - r) and Σ d² r (1 - r), d being 1 or logit p.
    """

    shift: float
    slope: float
    log_wealth: float
    log_best: float
    since: int
    score: float
    information: float


@dataclass(frozen=True, slots=True)
class Watch:
    """The state after `count` samples: numbers only, so that it goes through JSON (`dataclasses.asdict`, `strict_json.build`) unchanged.

    raised: number of the sample (from 1) at which the e-value first reached 1 / alpha. log_highest: log of the highest e-value so far.
    """

    alpha: float
    tolerance: float
    count: int
    raised: int | None
    log_highest: float
    bets: tuple[Bet, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """What the watched samples show, once the alarm was raised.

    raised: number of the sample at which it was; since: of the sample from which the drift seems to have begun. direction: what the
    probabilities are. size: by how much; low, high: its 95 % interval. For "too_low" and "too_high" that is the log odds to add to, or to
    take from, those that were said; for "too_extreme" and "too_timid" the factor for the log odds. The interval is that of samples `since`
    to the last, as if `since` had been known; docs/drift.md has its measured coverage. log_e_value: log of the highest e-value.
    """

    raised: int
    since: int
    direction: Direction
    size: float
    low: float
    high: float
    log_e_value: float


def start(alpha: float = ALPHA, tolerance: float = TOLERANCE) -> Watch:
    """A watch before its first sample; P(ever an alarm | the probabilities hold within the tolerance, log odds) ≤ alpha.

    Raises ValueError for an alpha outside (0, 1) and a tolerance that is negative or not finite.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, not {alpha}")
    if not 0 <= tolerance < math.inf:
        raise ValueError(f"the tolerance must be finite and not negative, not {tolerance}")
    shifts = [sign * (tolerance + beyond) for beyond in _BEYOND for sign in (-1, 1)]
    alternatives = [*((shift, 1.0) for shift in shifts), *((0.0, slope) for slope in _SLOPES)]
    stake = float(np.log(_stakes(np.array([1]))[0] / len(alternatives)))
    return Watch(alpha, tolerance, 0, None, 0.0, tuple(Bet(*each, stake, stake, 1, 0.0, 0.0) for each in alternatives))


def watch(state: Watch, p: ArrayLike, y: ArrayLike) -> Watch:
    """The state after one more sample, or after more of them in their order: probabilities p () or (n,), in (0, 1), and what happened, y.

    The same state however the samples are cut into calls (within rounding). After the alarm nothing is staked any more, but the stakes
    that are there go on, so that the estimates get better. Raises ValueError for a probability outside (0, 1), a label that is neither true
    nor false, and shapes that differ.
    """
    said, happened = np.atleast_1d(np.asarray(p, dtype=np.float64)), np.atleast_1d(np.asarray(y))
    if said.ndim != 1 or said.shape != happened.shape:
        raise ValueError(f"probabilities of shape {said.shape} and labels of shape {happened.shape} are not a row of samples")
    if not ((said > 0) & (said < 1)).all():
        raise ValueError("a probability is not between 0 and 1; bound it first")
    if happened.dtype != np.bool_ and not ((happened == 0) | (happened == 1)).all():
        raise ValueError("a label is neither true nor false; leave samples with an unknown label out")
    for first in range(0, len(said), _CHUNK):
        state = _watch_chunk(state, said[first : first + _CHUNK], happened[first : first + _CHUNK].astype(np.bool_))
    return state


def log_e_value(state: Watch) -> float:
    """log M_t, now. Under the claim P(M_t ever ≥ 1 / α) ≤ α; `log_highest` is the highest it has been."""
    return float(_log_e_values(np.array([[bet.log_wealth for bet in state.bets]]), np.array([state.count]))[0])


def alarm(state: Watch) -> Alarm | None:
    """The alarm as it looks now, or None where none was ever raised.

    The direction is that of the bet that won most; the size one Newton step from its alternative towards the most likely one
    (score / information), ± 1.96 / √information.
    """
    if state.raised is None:
        return None
    bet = max(state.bets, key=lambda b: b.log_wealth)
    step, half = bet.score / bet.information, _Z95 / math.sqrt(bet.information)
    if bet.slope != 1:
        direction: Direction = "too_extreme" if bet.slope < 1 else "too_timid"
        size, low, high = bet.slope + step, bet.slope + step - half, bet.slope + step + half
    else:
        direction, sign = ("too_low", 1) if bet.shift > 0 else ("too_high", -1)
        size = sign * (bet.shift + step)
        low, high = size - half, size + half
    return Alarm(state.raised, bet.since, direction, size, low, high, state.log_highest)


def _watch_chunk(state: Watch, p: Floats, y: NDArray[np.bool_]) -> Watch:
    """All samples at once: the stake on sample k is worth stake_k · exp(L_t - L_{k-1}) after sample t, L_t = Σ_{s ≤ t} log factor_s."""
    n, counts = len(p), state.count + 1 + np.arange(len(p))
    log_factors, r, direction = _outcomes(state, p, y)
    grown = np.cumsum(log_factors, axis=0)
    fresh = np.log(_stakes(counts + 1) / len(state.bets))[:, None] - grown
    if state.raised is not None:
        fresh = np.full_like(fresh, -np.inf)
    before = np.array([[bet.log_wealth for bet in state.bets]])
    log_wealth = grown + np.logaddexp.accumulate(np.concatenate([before, fresh]))[1:]
    log_m = _log_e_values(log_wealth, counts)
    raised = state.raised
    if raised is None and (log_m >= -math.log(state.alpha)).any():
        first = int(np.argmax(log_m >= -math.log(state.alpha))) + 1
        if first < n:
            return _watch_chunk(_watch_chunk(state, p[:first], y[:first]), p[first:], y[first:])
        raised = state.count + first
    # the most successful stake: the last of the highest, so that a bet that can't lose or win keeps no old start
    rows = np.concatenate([np.array([[bet.log_best for bet in state.bets]]), fresh])
    best = n - rows[::-1].argmax(axis=0)
    after = np.arange(n)[:, None] >= best
    score = np.where(after, direction * (y[:, None] - r), 0.0).sum(axis=0)
    information = np.where(after, direction**2 * r * (1 - r), 0.0).sum(axis=0)
    bets = tuple(
        replace(
            bet,
            log_wealth=float(log_wealth[-1, j]),
            log_best=float(rows[best[j], j] + grown[-1, j]),
            since=bet.since if best[j] == 0 else state.count + int(best[j]) + 1,
            score=float(score[j]) + (bet.score if best[j] == 0 else 0.0),
            information=float(information[j]) + (bet.information if best[j] == 0 else 0.0),
        )
        for j, bet in enumerate(state.bets)
    )
    return replace(
        state,
        count=state.count + n,
        raised=raised,
        log_highest=max(state.log_highest, float(log_m.max())),
        bets=bets,
    )


def _outcomes(state: Watch, p: Floats, y: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """(n, bets) each: log of the factor that multiplies a stake; the alternative r; the direction d in which its parameter moves it."""
    shift, slope = np.array([bet.shift for bet in state.bets]), np.array([bet.slope for bet in state.bets])
    z = np.log(p / (1 - p))[:, None]
    low = np.minimum(sigmoid(z - state.tolerance), p[:, None] - MIN_TOLERANCE)
    high = np.maximum(sigmoid(z + state.tolerance), p[:, None] + MIN_TOLERANCE)
    # an alternative that is nearly certain would stake everything on one sample
    r = sigmoid(np.clip(shift + slope * z, -_MAX_LOG_ODDS, _MAX_LOG_ODDS))
    claimed = np.clip(r, low, high)
    factors = np.where(y[:, None], r / claimed, (1 - r) / (1 - claimed))
    return np.log(factors), r, np.where(slope == 1, 1.0, z)


def _log_e_values(log_wealth: Floats, counts: NDArray[np.int_]) -> Floats:
    """log M, (n,), from the log wealth of all bets (n, bets) after so many samples each: the next stake is in the wealth already."""
    return np.logaddexp(np.logaddexp.reduce(log_wealth, axis=1), np.log(_cash(counts + 1)))


def _cash(t: NDArray[np.int_]) -> Floats:
    """C(t): what is not staked on the first t samples."""
    return np.asarray(1 / (1 + np.log1p(t)), dtype=np.float64)


def _stakes(t: NDArray[np.int_]) -> Floats:
    """π_t = C(t - 1) - C(t), without the cancellation of that difference."""
    return np.asarray(_cash(t - 1) * _cash(t) * np.log1p(1 / t), dtype=np.float64)


def tolerance_of(calibrator: Calibrator) -> float:
    """What is tolerated unless told, in log odds: 0.25, or twice the standard deviation between projects, where that is more."""
    return max(TOLERANCE, 2 * calibrator.between_group_sd)
