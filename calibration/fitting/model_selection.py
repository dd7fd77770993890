"""The ladder: the richest map that the evidence carries.

Below 25 samples, or 5 of a class, the base rate; then Platt on the first measure; then what has a cross-validated log loss lower by more
than one standard error: beta, isotonic, Venn-Abers, or Platt on several measures. At small n the richer maps lose where a line is the truth
(isotonic has a skill score of 0.130 at n = 25 where Platt has 0.165, and comes level at some thousand samples: docs/maps.md), and one that
wins by luck on one set of folds loses on the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, sigmoid
from ..guards import are_too_few
from ..maps.base_rate import fit_base_rate
from ..maps.beta import fit_beta
from ..maps.histogram import fit_histogram
from ..maps.isotonic import fit_isotonic
from ..maps.kinds import Candidate, Kind, Map
from ..maps.platt import PlattMap, fit_platt
from ..maps.temperature import fit_temperature
from ..maps.venn_abers import fit_venn_abers
from ..measures.registry import MEASURES
from .folds import folds_of, renumbered

# Of a feature's spread: from hardly any penalty on some dozen samples to one that leaves nothing of a weak measure among a thousand.
RIDGES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
# The choice is made on no more samples than this: beyond, what decides is seen well enough, and the choice would cost more than the map.
_CHOOSE_ON = 10_000


@dataclass(frozen=True, slots=True)
class Selection:
    """What to fit: the kind of map, how many of the features it takes, the ridge; and what was tried to find it."""

    kind: Kind
    features: int
    ridge: float
    tried: tuple[Candidate, ...]


def select_map(
    x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], names: Sequence[str], wanted: Kind | Literal["auto"] = "auto", seed: int = 0
) -> Selection:
    """The map to fit to features x (n, k) with these names, labels y (n,) and groups (n,): the wanted kind, or the ladder's choice.

    Several measures and the kind "platt": all of them, with the ridge that cross-validation likes best.
    """
    k = x.shape[1]
    if are_too_few(y):
        return Selection("base_rate" if wanted == "auto" else wanted, k if wanted == "platt" else 1, 0.0, ())
    if wanted != "auto" and (wanted != "platt" or k == 1):
        return Selection(wanted, 1, 0.0, ())
    if len(y) > _CHOOSE_ON:
        some = np.random.default_rng(seed).choice(len(y), _CHOOSE_ON, replace=False)
        x, y, groups = x[some], y[some], renumbered(groups[some])
    fold = folds_of(groups, seed)
    richer: list[tuple[Kind, int, float]] = []
    if wanted == "auto":
        richer = [("beta", 1, 0.0)] if enters_as_log_odds(names[0]) else []
        richer += [("isotonic", 1, 0.0), ("venn_abers", 1, 0.0)]
    if k > 1:
        richer += [("platt", k, ridge) for ridge in RIDGES]
    base = _losses(x, y, fold, names, "platt", 1, 0.0)
    tried = [Candidate("platt", 1, 0.0, float(base.mean()), 0.0, 0.0)]
    for kind, features, ridge in richer:
        losses = _losses(x, y, fold, names, kind, features, ridge)
        gain, error = mean_and_standard_error(base - losses, groups)
        tried.append(Candidate(kind, features, ridge, float(losses.mean()), gain, error))
    if wanted == "platt":
        best = min(tried[1:], key=lambda rung: rung.log_loss)
    else:
        # the ridges are one map with a strength, of which only the best is up for the choice
        several = min((rung for rung in tried if rung.features > 1), key=lambda rung: rung.log_loss, default=None)
        rungs = [rung for rung in tried if rung.features == 1 or rung is several]
        best = max(rungs, key=lambda rung: rung.gain if rung.gain > rung.gain_error else 0.0)
    return Selection(best.kind, best.features, best.ridge, tuple(tried))


def fit_map(choice: Selection, x: Floats, y: NDArray[np.bool_], names: Sequence[str], groups: NDArray[np.intp] | None = None) -> Map:
    """The map of the chosen kind, fitted to features x (n, k) with these names and labels y (n,); groups as in `fit_linear`."""
    return _fit(choice.kind, x[:, : choice.features], y, names, choice.ridge, groups)


def enters_as_log_odds(name: str) -> bool:
    """Whether a measure enters a map as the log odds of a probability, which beta and temperature scaling need."""
    return MEASURES[name].transform.startswith("logit")


def mean_and_standard_error(values: Floats, groups: NDArray[np.intp]) -> tuple[float, float]:
    """The mean of values (n,) and its standard error, only groups (n,) taken as independent: √(Σ_g (Σ_{i in g} v_i - v̄)² G/(G - 1)) / n."""
    mean = float(values.mean())
    off = np.bincount(groups, values - mean)
    count = int((np.bincount(groups) > 0).sum())
    return mean, float(np.sqrt((off**2).sum() * count / max(count - 1, 1)) / len(values))


def log_losses(log_odds: Floats, y: NDArray[np.bool_], n: int) -> Floats:
    """-log of the probability given to what happened, (n,) nats, bounded as of a map fitted on n samples."""
    p = np.clip(sigmoid(log_odds), 1 / (n + 2), 1 - 1 / (n + 2))
    return -np.log(np.where(y, p, 1 - p))


def _losses(
    x: Floats, y: NDArray[np.bool_], fold: NDArray[np.intp], names: Sequence[str], kind: Kind, features: int, ridge: float
) -> Floats:
    losses = np.empty(len(y))
    for f in range(int(fold.max()) + 1):
        out = fold == f
        found = _fit(kind, x[~out, :features], y[~out], names, ridge, None)
        losses[out] = log_losses(found.log_odds(x[out, :features]), y[out], int((~out).sum()))
    return losses


def _fit(kind: Kind, x: Floats, y: NDArray[np.bool_], names: Sequence[str], ridge: float, groups: NDArray[np.intp] | None) -> Map:
    match kind:
        case "base_rate":
            return fit_base_rate(y, groups)
        case "platt":
            return fit_platt(x, y, groups, ridge=ridge)
        case "temperature":
            return fit_temperature(x, y, groups)
        case "beta":
            return fit_beta(x, y, groups)
        case "histogram":
            return fit_histogram(x, y, groups)
        case "isotonic":
            return fit_isotonic(x, y, groups, rising=_rising(x, y, names[0]))
        case "venn_abers":
            return fit_venn_abers(x, y, groups, rising=_rising(x, y, names[0]))


def _rising(x: Floats, y: NDArray[np.bool_], name: str) -> bool:
    """Whether a higher value of a measure speaks for the event: as the measure says, or else as a line through these samples does."""
    direction = MEASURES[name].direction
    if direction == 0:
        line: PlattMap = fit_platt(x[:, :1], y)
        return line.slopes[0] >= 0
    return direction > 0
