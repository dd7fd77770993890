"""What a run says of the calibrators that an editor would use for its suggestions: the figures M1 to M7."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ....calibration.registry import load_registry
from ....calibration.samples import Sample
from ....calibration.validation.catcode_facts import PlaceFact
from ....calibration.validation.catcode_study import EVENTS, figures
from ....calibration.validation.figures import Figure
from ....calibration.validation.inputs import Inputs
from ...validated import figures_of_fitted, figures_of_task, titled
from .facts import PlaceFacts

_FITTED = "of a calibrator that is fitted to this run's suggestions"


def figures_of(question: Mapping[str, Any], samples: Sequence[Sample], facts: Sequence[PlaceFacts]) -> Iterator[Figure]:
    """The figures for each event: of the calibrator of this machine for such suggestions, where it kept its folds; else of one that is
    fitted to what was suggested in the code as it is, and judged on projects that it has not seen.

    Raises StudyError for a value that a measure can't have.
    """
    inputs = Inputs(samples, facts={place["id"]: msgspec.convert(place, PlaceFact) for place in facts})
    registry = load_registry()
    for event in EVENTS:
        if found := tuple(figures_of_task(registry, question, "line", event, inputs, figures)):
            yield from found
            continue
        for each in figures_of_fitted(event, inputs, figures):
            yield titled(replace(each, note="; ".join(filter(None, (_FITTED, each.note)))), "line", event)
