"""Model selection: the richest map that the evidence supports.

With fewer than 25 samples, or 5 of a class, that is the base rate. From there on it is Platt scaling on the first measure, unless another
map has a cross-validated log loss that is lower by more than one standard error: one of the candidates in `maps.registry`, or Platt scaling
on several measures. At small n the richer maps lose where a line is the truth. Isotonic regression has a skill score of 0.160 at n = 50
where Platt has 0.195, and draws level at some thousand samples (docs/maps.md). A map that wins by luck on one set of folds loses on the
next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, bounded, sigmoid
from ..guards import are_too_few
from ..maps.registry import MAPS, FitInput, Map
from ..measures.registry import MEASURES
from .folds import folds_of, renumbered

# In units of a feature's spread: from hardly any penalty on some dozen samples to one that leaves nothing of a weak measure among a
# thousand.
RIDGES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
# With more samples than this the choice is made on a random part: that shows the difference well enough, and the whole would cost more than
# the fit.
_MAX_SAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """One map that was tried.

    kind, features, ridge: which map, on how many of the measures from the first on, with which penalty.
    log_loss: cross-validated, in nats.
    gain, gain_error: how much lower that is than Platt's on the first measure, with its standard error.
    """

    kind: str
    features: int
    ridge: float
    log_loss: float
    gain: float
    gain_error: float


@dataclass(frozen=True, slots=True)
class Selection:
    """The map to fit: its kind, how many of the features it takes, and the ridge. tried: the candidates that were compared."""

    kind: str
    features: int
    ridge: float
    tried: tuple[Candidate, ...]


def select_map(
    x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], names: Sequence[str], wanted: str = "auto", seed: int = 0
) -> Selection:
    """Select the map to fit.

    Parameters:
        x (n, k): features as they enter a map. y (n,): labels. groups (n,), from 0: what is held out together.
        names: the k measures. A feature of another name is not taken for log odds.
        wanted: "auto", or the kind of map to take. "platt" with several measures takes all of them, with the ridge that
            cross-validates best.
        seed: of the folds, and of the part that a choice among very many samples is made on.
    """
    k = x.shape[1]
    if are_too_few(y):
        return Selection("base_rate" if wanted == "auto" else wanted, k if wanted == "platt" else 1, 0.0, ())
    if wanted != "auto" and (wanted != "platt" or k == 1):
        return Selection(wanted, 1, 0.0, ())
    if len(y) > _MAX_SAMPLES:
        some = np.random.default_rng(seed).choice(len(y), _MAX_SAMPLES, replace=False)
        x, y, groups = x[some], y[some], renumbered(groups[some])
    fold = folds_of(groups, seed)
    richer: list[tuple[str, int, float]] = []
    if wanted == "auto":
        is_log_odds = names[0] in MEASURES and MEASURES[names[0]].is_log_odds
        richer = [(kind.name, 1, 0.0) for kind in MAPS.values() if kind.candidate and (is_log_odds or not kind.needs_log_odds)]
    if k > 1:
        richer += [("platt", k, ridge) for ridge in RIDGES]
    base = _held_out_losses(x, y, fold, names, "platt", 1, 0.0)
    tried = [Candidate("platt", 1, 0.0, float(base.mean()), 0.0, 0.0)]
    for kind, features, ridge in richer:
        losses = _held_out_losses(x, y, fold, names, kind, features, ridge)
        gain, error = mean_and_standard_error(base - losses, groups)
        tried.append(Candidate(kind, features, ridge, float(losses.mean()), gain, error))
    if wanted == "platt":
        best = min(tried[1:], key=lambda candidate: candidate.log_loss)
    else:
        # The ridges are one map with a strength. Only the best of them competes with the other maps.
        several = min((candidate for candidate in tried if candidate.features > 1), key=lambda candidate: candidate.log_loss, default=None)
        compared = [candidate for candidate in tried if candidate.features == 1 or candidate is several]
        best = max(compared, key=lambda candidate: candidate.gain if candidate.gain > candidate.gain_error else 0.0)
    return Selection(best.kind, best.features, best.ridge, tuple(tried))


def fit_map(selection: Selection, x: Floats, y: NDArray[np.bool_], names: Sequence[str], groups: NDArray[np.intp] | None = None) -> Map:
    """Fit the selected map to features x (n, k) with these names and labels y (n,). groups: as in `fit_linear`."""
    return MAPS[selection.kind].fit(FitInput(x[:, : selection.features], y, names, groups, selection.ridge))


def mean_and_standard_error(values: Floats, groups: NDArray[np.intp]) -> tuple[float, float]:
    """The mean of values (n,), and its standard error with only groups (n,) taken as independent.

    The error is √(Σ_g (Σ_{i in g} v_i - v̄)² G / (G - 1)) / n.
    """
    mean = float(values.mean())
    off = np.bincount(groups, values - mean)
    count = int((np.bincount(groups) > 0).sum())
    return mean, float(np.sqrt((off**2).sum() * count / max(count - 1, 1)) / len(values))


def log_losses(log_odds: Floats, y: NDArray[np.bool_], n: int) -> Floats:
    """-log of the probability given to what happened (n,), in nats. Probabilities are bounded as those of a map fitted on n samples."""
    p = bounded(sigmoid(log_odds), n)
    return -np.log(np.where(y, p, 1 - p))


def _held_out_losses(
    x: Floats, y: NDArray[np.bool_], fold: NDArray[np.intp], names: Sequence[str], kind: str, features: int, ridge: float
) -> Floats:
    losses = np.empty(len(y))
    for f in range(int(fold.max()) + 1):
        out = fold == f
        found = MAPS[kind].fit(FitInput(x[~out, :features], y[~out], names, None, ridge))
        losses[out] = log_losses(found.log_odds(x[out, :features]), y[out], int((~out).sum()))
    return losses
