"""Checks of samples before a calibrator is fitted to them, with messages for people."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from ..arrays import Floats
from ..calibrator import Calibrator
from ..field_types import MAX_PARAMETER
from ..maps.registry import MAPS
from ..measures.registry import MEASURES, enter
from ..samples import EVENTS, Sample
from .adaptation import is_adaptable
from .shrinkage import LEVELS


class FitError(ValueError):
    """No calibrator can be fitted to these samples. The message says why and what to do.

    sample: the id of the sample that it is about, if it is about one.
    """

    def __init__(self, message: str, sample: str | None = None) -> None:
        super().__init__(message)
        self.sample = sample


def check_samples(
    samples: Sequence[Sample],
    known: Sequence[Sample],
    event: str,
    features: Sequence[str],
    kind: str,
    levels: Sequence[str],
    *,
    least_models: int = 0,
) -> None:
    """Raise FitError if no calibrator can be fitted. known: the samples with a label for the event; least_models: above 0 where models are
    held out.
    """
    if event not in EVENTS:
        raise FitError(f"unknown event {event!r}, known are {', '.join(EVENTS)}")
    if unknown := [name for name in features if name not in MEASURES]:
        raise FitError(f"unknown measure {', '.join(unknown)}, known are {', '.join(MEASURES)}")
    if not features or len(set(features)) < len(features):
        raise FitError("name at least one measure, and each only once")
    if kind not in ("auto", *MAPS):
        raise FitError(f"unknown kind of map {kind!r}, known are auto, {', '.join(MAPS)}")
    if kind != "auto" and MAPS[kind].needs_log_odds and not MEASURES[features[0]].is_log_odds:
        raise FitError(f"a map of kind {kind} takes a probability, and {features[0]} is none")
    if kind != "auto" and not MAPS[kind].several and len(features) > 1:
        raise FitError(f"a map of kind {kind} takes one measure, not {len(features)}; platt takes several")
    if wrong := [level for level in levels if level not in LEVELS]:
        raise FitError(f"unknown level {', '.join(wrong)}, known are {', '.join(LEVELS)}")
    if list(levels) != sorted(set(levels), key=LEVELS.index):
        raise FitError(f"name levels from the top, each once: {', '.join(sorted(set(levels), key=LEVELS.index))}")
    if levels and kind not in ("auto", "platt"):
        raise FitError(f"only a platt map has levels, not {kind}")
    if len(known) < 2:
        raise FitError(f"{len(known)} of {len(samples)} samples have a label for {event}; at least two are needed")
    kinds = set(map(attrgetter("model", "model_name", "prompt", "task", "alternatives"), known))
    for what, values in (
        ("models", {f"{model} {name}".strip() for model, name, *_ in kinds}),
        ("prompts", {prompt for _, _, prompt, *_ in kinds}),
        ("tasks", {task for *_, task, _ in kinds}),
        ("numbers of alternatives", {str(alternatives) for *_, alternatives in kinds}),
    ):
        count = len({sample.kin or sample.model for sample in known})
        if least_models and what == "models" and count < least_models:
            raise FitError(f"a map for any model needs samples of {least_models} models, not of {count} ({', '.join(sorted(values))})")
        if len(values) > 1 and not (least_models and what in ("models", "prompts")):
            raise FitError(f"samples of {len(values)} {what} are mixed ({', '.join(sorted(values))}); fit a calibrator for each")
    if "agreement" in features and alternatives_of(known) == 1:
        raise FitError("agreement tells alternatives of one place apart, and these samples are first choices alone; leave it out")
    for level in levels:
        if nameless := [s.id for s in known if not getattr(s, level)]:
            raise FitError(
                f"{len(nameless)} of {len(known)} samples have no {level}, the first is {nameless[0]}; leave that level out", nameless[0]
            )


def why_not_adaptable(parent: Calibrator, samples: Sequence[Sample], event: str) -> str:
    """Why the map of a calibrator can't be adapted to these samples. Empty where it can."""
    if not is_adaptable(parent.map):
        return f"a map of kind {parent.map.kind} can't be adapted to other samples, only one of kind platt or beta"
    if parent.projects is None and parent.models is None:
        return f"calibrator {parent.id} does not say how projects differ, so how far to adapt it is not known"
    made = parent.fitted_on
    for what, theirs, ours in (
        ("event", parent.event, {event}),
        *(
            ()
            if parent.models
            else (("model", made.model, {s.model for s in samples}), ("prompt", made.prompt, {s.prompt for s in samples}))
        ),
        ("task", parent.task, {s.task for s in samples}),
        ("number of alternatives", made.alternatives, {alternatives_of(samples)} if samples else set()),
    ):
        if ours - {theirs}:
            return f"calibrator {parent.id} is for the {what} {theirs}, the samples are of {', '.join(sorted(map(str, ours)))}"
    if others := {s.language for s in samples} - set(made.languages):
        return f"calibrator {parent.id} is for the language {', '.join(made.languages)}, the samples are of {', '.join(sorted(others))}"
    if none := [name for name in parent.features if not any(name in s.measures for s in samples)]:
        return f"calibrator {parent.id} needs {', '.join(none)}, which none of the samples has"
    return ""


def check_adaptable(parent: Calibrator, samples: Sequence[Sample], event: str) -> None:
    """Raise FitError if the map of a calibrator can't be adapted to these samples."""
    if why := why_not_adaptable(parent, samples, event):
        raise FitError(why)
    if (count := len({sample.project for sample in samples})) > 1 and parent.models is None:
        raise FitError(f"the samples are of {count} projects; a map is adapted to those of one")


def alternatives_of(samples: Sequence[Sample]) -> int:
    """How many alternatives were drawn at each place. 1 where only first choices are among the samples."""
    return samples[0].alternatives if any(sample.rank > 1 for sample in samples) else 1


def column_of(name: str, samples: Sequence[Sample]) -> Floats:
    """The values (n,) of a measure. Raises FitError if a sample has none."""
    try:
        return np.fromiter((sample.measures[name] for sample in samples), np.float64, len(samples))
    except KeyError:
        without = [sample.id for sample in samples if name not in sample.measures]
        raise FitError(f"{len(without)} of {len(samples)} samples have no measure {name}, the first is {without[0]}", without[0]) from None


def entered_of(name: str, values: Floats, samples: Sequence[Sample]) -> Floats:
    """The values (n,) of a measure as they enter the map. Raises FitError for a value that no generation has."""
    wrong = np.flatnonzero(~(np.abs(values) <= MAX_PARAMETER))
    if len(wrong):
        sample = samples[wrong[0]]
        raise FitError(f"sample {sample.id}: {name} is {values[wrong[0]]:g}, which no generation has", sample.id)
    try:
        return enter(name, values)
    except ValueError:
        for sample, value in zip(samples, values, strict=True):
            try:
                enter(name, value)
            except ValueError as error:
                raise FitError(f"sample {sample.id}: {error}", sample.id) from None
        raise
