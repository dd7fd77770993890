"""What a run says of the calibrators that an editor would use for its suggestions: the figures R1 to R6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ....calibration.bands import EVENT_WORDS
from ....calibration.fitting.checks import FitError
from ....calibration.fitting.fit import fit
from ....calibration.fitting.folds import MIN_GROUPS
from ....calibration.measures.registry import MEASURES
from ....calibration.registry import load_registry
from ....calibration.samples import Event, Sample
from ....calibration.validation.figures import Figure
from ....calibration.validation.held_out import NotHeldOut, held_out
from ....calibration.validation.inputs import Inputs
from ....calibration.validation.round_trip_facts import PlaceFact
from ....calibration.validation.round_trip_study import EVENTS, figures
from ....calibration.validation.words import title_of
from ...progress import to_stderr
from ...validated import figures_of_task
from .facts import PlaceFacts

_FREE = {name: measure.kind for name, measure in MEASURES.items() if not measure.cost}


def figures_of(question: Mapping[str, Any], samples: Sequence[Sample], facts: Sequence[PlaceFacts]) -> Iterator[Figure]:
    """The figures for each event: of the calibrator of this machine for such suggestions, where it kept its folds; else of one that is
    fitted to these samples, and judged on those that it has not seen.

    Raises StudyError for a value that a measure can't have.
    """
    first = [sample for sample in samples if sample.rank == 1]
    inputs = Inputs(first, facts={place["id"]: msgspec.convert(place, PlaceFact) for place in facts})
    registry = load_registry()
    for event in EVENTS:
        found = tuple(figures_of_task(registry, question, "line", event, inputs, figures))
        yield from found or _of_fitted(event, inputs)


def _of_fitted(event: Event, inputs: Inputs) -> Iterator[Figure]:
    """Those of a calibrator of the measures that cost no call. Of fewer than five projects it would say nothing."""
    projects = {sample.project for sample in inputs.plain if sample.labels.get(event) is not None}
    if len(projects) < MIN_GROUPS:
        return
    free = tuple(name for name, kind in _FREE.items() if kind != "consistency" and all(name in each.measures for each in inputs.plain))
    try:
        calibrator = fit(inputs.plain, event, free, resamples=2).calibrator
        for each in figures(calibrator, inputs, held_out(calibrator, inputs.plain)):
            whose = "beside a calibrator that is fitted to these samples" if each.id == "R2" else ""
            title = f"line, {EVENT_WORDS[event]}: {each.id}, {title_of(each)}"
            yield replace(each, id=title, note="; ".join(filter(None, (each.note, whose))))
    except (FitError, NotHeldOut) as error:
        to_stderr(f"no figures for {EVENT_WORDS[event]}: {error}")
