"""A calibrator for one project, from its own samples: the map of one for other projects, moved toward them, where there is such a one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..calibrator import Calibrator
from ..confidence import confidence
from ..measures.registry import MEASURES
from ..metrics.intervals import RESAMPLES, student_t
from ..registry import Registry, folders
from ..samples import Sample
from .checks import why_not_adaptable
from .fit import DEFAULT_FEATURES, Fit, fit
from .model_selection import mean_and_standard_error

# Calibrators that were passed over and are told of.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Gain:
    """What a project's own samples bring.

    Mean log loss in nats of the parent's probabilities and of the moved map's, both on the n samples that the parent gives a number for and
    neither saw; gain: the former less the latter, with its 95 % interval by group.
    """

    n: int
    parent_log_loss: float
    own_log_loss: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Own:
    """A project's own calibrator, the one that it was moved from, and what that brought.

    parent None: there is none for this model, prompt, event and task that can be moved, for the reason in `alone`.
    """

    fit: Fit
    parent: Calibrator | None
    gain: Gain | None
    alone: str


def parent_for(registry: Registry, samples: Sequence[Sample], event: str) -> tuple[Calibrator | None, str]:
    """The first calibrator of the registry whose map can be moved toward these samples; or None, and which were passed over and why.

    A project's own are never taken: they may have seen the very samples.
    """
    reasons = []
    for entry in registry.entries:
        made = entry.calibrator
        if made.event != event or made.task != samples[0].task:
            continue
        why = why_not_adaptable(made, samples, event) if made.status == "informative" else f"calibrator {made.id} is {made.status}"
        if entry.origin != "project":
            if not why:
                return made, ""
            reasons.append(why)
        elif not why:
            reasons.append(f"{entry.path} is this project's own: one of other projects belongs in {dict(folders())['user']}")
    return None, "; ".join(reasons[:_NAMED]) or "there is no calibrator of other projects for it"


def own_calibrator(
    samples: Sequence[Sample], event: str, parent: Calibrator | None, alone: str = "", *, resamples: int = RESAMPLES, seed: int = 0
) -> Own:
    """Fit to the samples of one project, toward the parent where there is one; judged by files held out. Raises FitError.

    Samples without log-probabilities, or without what the parent needs, are left out where others have them, and a note says how many: a
    suggestion without them has no number.
    """
    needed = parent.features if parent else DEFAULT_FEATURES
    whole = [sample for sample in samples if sample.measures.keys() >= set(needed)] or samples
    if parent is None:
        free = [name for name, measure in MEASURES.items() if measure.cost == 0 and all(name in s.measures for s in whole)]
        made = fit(whole, event, free, groups="file", gives_way=True, resamples=resamples, seed=seed)
    else:
        made = fit(whole, event, toward=parent, groups="file", resamples=resamples, seed=seed)
    if lacking := len(samples) - len(whole):
        made = replace(made, notes=(f"{lacking} of {len(samples)} samples lack {' or '.join(needed)} and were left out", *made.notes))
    return Own(made, parent, _gain(made, parent) if parent else None, "" if parent else alone)


def _gain(made: Fit, parent: Calibrator) -> Gain | None:
    """None where the parent has a number for fewer than two groups."""
    said = [confidence(parent, sample.measures).probability for sample in made.samples]
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
