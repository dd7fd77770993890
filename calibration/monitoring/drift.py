"""The drift alarm: it tells when probabilities stopped holding, with a stated rate of false alarms. The method is testing by betting.

The claim (null hypothesis), for a tolerance δ in log odds: whatever came before, P(event) of each sample lies in [l, u] around the
probability p that was given, with u = max(σ(logit p + δ), p + 0.02) and l = min(σ(logit p - δ), p - 0.02). Exact calibration would be the
wrong claim: no map has it, so an alarm would come in the end for every map. The tolerance is in log odds, because that is how projects
differ. It is at least two points of probability, because nobody acts on less, and no map is right in log odds at its far ends.

Each bet is on an alternative r = σ(shift + slope · logit p). If r > u, its stake is multiplied by r / u if the event happens and by
(1 - r) / (1 - u) if not. If r < l, the same holds with l. Otherwise the stake rests. If the claim is true, the bet is fair or losing: for
r > u the mean factor q r / u + (1 - q) (1 - r) / (1 - u) grows with the true q and is 1 at q = u, the highest value that is claimed.

A share π_t = C(t - 1) - C(t), with C(t) = 1 / (1 + log(1 + t)), of the initial wealth 1 is staked on sample t, in equal parts on the bets,
and stays in. So a drift that starts late finds wealth that has not been lost yet, at a cost of about log t nats. M_t, all stakes with their
winnings plus C(t), starts at 1 and does not rise in the mean. It is a non-negative supermartingale (an e-process). By Ville's inequality
P(M_t ever reaches 1 / α) ≤ α, for a stream of any length and however often it is looked at. No independence is needed beyond the claim,
which says "whatever came before". A project with an offset of its own beyond δ breaks the claim, and is drift.

The bound is on P(ever a false alarm), not on the mean time between two, because an alarm asks a person to refit, and watching then starts
anew. docs/drift.md has what it costs and what it finds.

References: Ville (1939). Shafer (2021), Testing by betting. Shin, Ramdas & Rinaldo (2023), E-detectors, for stakes that begin at each
sample.
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

# The alternatives: shifts this far beyond the tolerance, in log odds, and these slopes.
_BEYOND = (0.25, 0.75, 1.75)
_SLOPES = (0.5, 0.5**0.5, 2**0.5, 2.0)
_MAX_LOG_ODDS = 30.0
_CHUNK = 50_000
_Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Bet:
    """One alternative, log odds = shift + slope · logit p, and the wealth of the bet on it.

    log_wealth: log of all stakes on it with their winnings, the stake on the next sample included.
    since, log_best: the first sample of the single most successful stake, and the log of that stake's wealth.
    score, information: from that sample on, Σ d (y - r) and Σ d² r (1 - r), for the parameter of the alternative. d is 1 for the shift and
        logit p for the slope.
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
    """The state of the alarm after `count` samples. It holds numbers only, so it can be written as JSON and read with `strict_json.build`.

    raised: the sample, from 1, at which the e-value first reached 1 / alpha. log_highest: log of the highest e-value so far.
    """

    alpha: float
    tolerance: float
    count: int
    raised: int | None
    log_highest: float
    bets: tuple[Bet, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """What the samples show once the alarm was raised.

    raised: the sample at which it was. since: the sample from which on the drift seems to have begun.
    direction: what is wrong with the probabilities.
    size, low, high: by how much, with its 95 % interval. For "too_low" and "too_high" it is the log odds to add or to subtract, for
        "too_extreme" and "too_timid" the factor for the log odds. The interval takes `since` as known; docs/drift.md has its coverage.
    log_e_value: log of the highest e-value.
    """

    raised: int
    since: int
    direction: Direction
    size: float
    low: float
    high: float
    log_e_value: float


def start(alpha: float = ALPHA, tolerance: float = TOLERANCE) -> Watch:
    """The state before the first sample. P(ever an alarm) ≤ alpha if the probabilities hold within the tolerance, in log odds.

    Raises ValueError for an alpha outside (0, 1) and for a tolerance that is negative or not finite.
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
    """The state after one more sample, or several in their order. p () or (n,): probabilities in (0, 1). y: what happened, same shape.

    The state does not depend on how the samples are divided into calls, but for rounding. After an alarm nothing more is staked, but the
    existing stakes go on, so the estimates improve.

    Raises ValueError for a probability outside (0, 1), a label that is neither true nor false, and shapes that differ.
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
    """log M_t, now. Under the claim P(M_t ever ≥ 1 / α) ≤ α. `log_highest` is the highest value so far."""
    return float(_log_e_values(np.array([[bet.log_wealth for bet in state.bets]]), np.array([state.count]))[0])


def alarm(state: Watch) -> Alarm | None:
    """The alarm with the estimates as of now. None if none was raised.

    The direction is that of the bet with the most wealth. The size is one Newton step (score / information) from its alternative towards
    the most likely one, ± 1.96 / √information.
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
    # The most successful stake. Of equal ones the last, so that a bet that can neither win nor lose keeps no old start.
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
    """Three arrays (n, bets): log of the factor on a stake, the alternative r, and the derivative d of its log odds by its parameter."""
    shift, slope = np.array([bet.shift for bet in state.bets]), np.array([bet.slope for bet in state.bets])
    z = np.log(p / (1 - p))[:, None]
    low = np.minimum(sigmoid(z - state.tolerance), p[:, None] - MIN_TOLERANCE)
    high = np.maximum(sigmoid(z + state.tolerance), p[:, None] + MIN_TOLERANCE)
    # An alternative that is nearly certain would stake everything on one sample.
    r = sigmoid(np.clip(shift + slope * z, -_MAX_LOG_ODDS, _MAX_LOG_ODDS))
    claimed = np.clip(r, low, high)
    factors = np.where(y[:, None], r / claimed, (1 - r) / (1 - claimed))
    return np.log(factors), r, np.where(slope == 1, 1.0, z)


def _log_e_values(log_wealth: Floats, counts: NDArray[np.int_]) -> Floats:
    """log M (n,), from the log wealth of all bets (n, bets) after `counts` samples (n,). The wealth includes the next stake."""
    return np.logaddexp(np.logaddexp.reduce(log_wealth, axis=1), np.log(_cash(counts + 1)))


def _cash(t: NDArray[np.int_]) -> Floats:
    """C(t): what is not staked on the first t samples."""
    return np.asarray(1 / (1 + np.log1p(t)), dtype=np.float64)


def _stakes(t: NDArray[np.int_]) -> Floats:
    """π_t = C(t - 1) - C(t), without cancellation."""
    return np.asarray(_cash(t - 1) * _cash(t) * np.log1p(1 / t), dtype=np.float64)


def tolerance_of(calibrator: Calibrator) -> float:
    """The default tolerance in log odds: 0.25, or twice the standard deviation between projects if that is more."""
    return max(TOLERANCE, 2 * calibrator.between_group_sd)
