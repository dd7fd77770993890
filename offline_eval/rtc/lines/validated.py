"""What a run says of the calibrators that an editor would use for its suggestions: the figures R1 to R6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ....calibration.registry import load_registry
from ....calibration.samples import Sample
from ....calibration.validation.figures import Figure
from ....calibration.validation.inputs import Inputs
from ....calibration.validation.round_trip_facts import PlaceFact
from ....calibration.validation.round_trip_study import EVENTS, figures
from ...validated import figures_of_fitted, figures_of_task, titled
from .facts import PlaceFacts


def figures_of(question: Mapping[str, Any], samples: Sequence[Sample], facts: Sequence[PlaceFacts]) -> Iterator[Figure]:
    """The figures for each event: of the calibrator of this machine for such suggestions, where it kept its folds; else of one that is
    fitted to these samples, and judged on those that it has not seen.

    Raises StudyError for a value that a measure can't have.
    """
    first = [sample for sample in samples if sample.rank == 1]
    inputs = Inputs(first, facts={place["id"]: msgspec.convert(place, PlaceFact) for place in facts})
    registry = load_registry()
    for event in EVENTS:
        if found := tuple(figures_of_task(registry, question, "line", event, inputs, figures)):
            yield from found
            continue
        for each in figures_of_fitted(event, inputs, figures):
            whose = "beside a calibrator that is fitted to these samples" if each.id == "R2" else ""
            yield titled(replace(each, note="; ".join(filter(None, (each.note, whose)))), "line", event)
