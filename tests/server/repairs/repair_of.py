"""Repairs of a first line, made by hand."""

from __future__ import annotations

from assay.calibration.confidence import uncalibrated
from assay.suggestion.positions import Position, Range
from assay.suggestion.repair.request import Repair
from assay.suggestion.suggestion import Suggestion

OLD = "a < b"


def repair_of(name: str, text: str = "a <= b") -> Repair:
    """A repair whose suggestion has this id."""
    place = Range(Position(0, 0), Position(0, len(OLD)))
    return Repair(Suggestion(name, text, place, "repair", uncalibrated("tests_pass", ""), {"rank": 1.0}, {}), OLD, (), (), False)
