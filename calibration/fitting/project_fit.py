"""The calibrator of one project: fitted to its samples, adapted from a calibrator of other projects where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, sigmoid
from ..calibrator import Calibrator
from ..confidence import confidence
from ..guards import GIVING
from ..measures.registry import MEASURES
from ..metrics.intervals import RESAMPLES, student_t
from ..registry import Registry, folders
from ..samples import Sample
from .checks import why_not_adaptable
from .fit import DEFAULT_FEATURES, Fit, fit
from .model_selection import mean_and_standard_error

# Unsuitable calibrators that a message names.
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Gain:
    """What a map of one's own brings beside the common one that it was adapted from or takes the place of.

    n: the samples that the common one gives a number for.
    parent_log_loss, own_log_loss: mean held-out log loss on them, in nats, of its and of the own map's probabilities.
    gain, low, high: the former less the latter, with its 95 % interval by group.
    """

    n: int
    parent_log_loss: float
    own_log_loss: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ProjectFit:
    """A project's calibrator, the one that it was adapted from, and what that brought.

    parent: None where no calibrator for this model, prompt, event and task can be adapted; `no_parent_because` says why.
    """

    fit: Fit
    parent: Calibrator | None
    gain: Gain | None
    no_parent_because: str


def find_parent(registry: Registry, samples: Sequence[Sample], event: str) -> tuple[Calibrator | None, str]:
    """The first calibrator of the registry whose map can be adapted to these samples, or None and the reason.

    A project's own calibrators are never taken, because they may have been fitted to these very samples.
    """
    reasons = []
    for entry in registry.entries:
        made = entry.calibrator
        if made.event != event or made.task != samples[0].task:
            continue
        why = why_not_adaptable(made, samples, event) if made.status in GIVING else f"calibrator {made.id} is {made.status}"
        if entry.origin == "user" and made.moved_from is not None and not why:
            why = f"{entry.path} was moved to code on this machine, which may be this project's"
        if entry.origin != "project":
            if not why:
                return made, ""
            reasons.append(why)
        elif not why:
            reasons.append(f"{entry.path} is this project's own: one of other projects belongs in {dict(folders())['user']}")
    return None, "; ".join(reasons[:_MAX_NAMED]) or "there is no calibrator of other projects for it"


def fit_project(
    samples: Sequence[Sample], event: str, parent: Calibrator | None, no_parent_because: str = "", *, resamples: int = RESAMPLES
) -> ProjectFit:
    """Fit a calibrator to the samples of one project, adapted from the parent where there is one. Its evidence holds out files.

    Samples without log-probabilities, or without a measure that the parent needs, are left out if others have them; a suggestion without
    them has no number either. A note says how many.

    Raises FitError as `fit` does.
    """
    needed = parent.features if parent else DEFAULT_FEATURES
    whole = [sample for sample in samples if sample.measures.keys() >= set(needed)] or samples
    if parent is None:
        free = [name for name, measure in MEASURES.items() if measure.cost == 0 and all(name in s.measures for s in whole)]
        made = fit(whole, event, free, groups="file", allow_insufficient=True, resamples=resamples)
    else:
        made = fit(whole, event, adapt_from=parent, groups="file", resamples=resamples)
    if lacking := len(samples) - len(whole):
        made = replace(made, notes=(f"{lacking} of {len(samples)} samples lack {' or '.join(needed)} and were left out", *made.notes))
    said = [confidence(parent, sample.measures).probability for sample in made.samples] if parent else []
    return ProjectFit(made, parent, gain_over(made, said) if parent else None, "" if parent else no_parent_because)


def shifted(made: Fit, said: Sequence[float | None]) -> list[float | None]:
    """The probabilities that were said of a fit's samples, moved by one offset in log odds toward how often its event comes true.

    Each fold's offset is from the other folds. So what another event foretells is beaten by more than by the share alone.
    """
    rows = [i for i, p in enumerate(said) if p is not None]
    p = np.array([said[i] for i in rows], dtype=np.float64)
    log_odds, fold, y = np.log(p / (1 - p)), made.fold[rows], made.labels[rows]
    moved: list[float | None] = [None] * len(said)
    for number in set(fold.tolist()):
        rest, out = fold != number, fold == number
        offset = _offset(log_odds[rest], y[rest]) if rest.any() else 0.0
        for i, value in zip(np.array(rows)[out].tolist(), sigmoid(log_odds[out] + offset).tolist(), strict=True):
            moved[i] = value
    return moved


def _offset(log_odds: Floats, y: NDArray[np.bool_]) -> float:
    """What added to log odds (n,) makes the mean probability the share of positives, smoothed as Platt's targets are."""
    wanted, offset = (float(y.sum()) + 1) / (len(y) + 2), 0.0
    for _ in range(50):
        p = sigmoid(log_odds + offset)
        offset -= (float(p.mean()) - wanted) / max(float((p * (1 - p)).mean()), 1e-3)
    return offset


def gain_over(made: Fit, said: Sequence[float | None]) -> Gain | None:
    """What a fit brings over the probabilities that were said of its samples; None if these are of fewer than two groups."""
    known = np.array([p is not None for p in said])
    groups = made.groups[known]
    if len(set(groups.tolist())) < 2:
        return None
    y = made.labels[known]
    before = np.array([p for p in said if p is not None])
    losses = [-np.log(np.where(y, p, 1 - p)) for p in (before, made.held_out[known])]
    gain, error = mean_and_standard_error(losses[0] - losses[1], groups)
    half = student_t(len(set(groups.tolist())) - 1) * error
    return Gain(int(known.sum()), float(losses[0].mean()), float(losses[1].mean()), gain, gain - half, gain + half)
