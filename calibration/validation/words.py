"""What a validation table says, for people: a line that counts, a sentence for what is refuted, and each figure in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from .figures import Figure, Reading
from .table import Validation

# What a calibrator must show. The others say more of it and count for nothing: many figures that hold are no stronger claim.
PRIMARY = ("K1", "K2", "F2", "M1", "M3")
_COUNTED: tuple[Reading, ...] = ("refuted", "undecided", "not run")


@dataclass(frozen=True, slots=True)
class Meaning:
    """title: the figure in words. refuted: what it means for whoever sees the calibrator's numbers; empty where it is nothing to them."""

    title: str
    refuted: str = ""


# By id. A figure that is not here is named by its id.
MEANINGS: dict[str, Meaning] = {
    "K1": Meaning("skill on code that it was not fitted to", "Its numbers are no better than always saying the average."),
    "K2": Meaning("calibration error", "Its numbers are off by more than 5 points: of those at 70 %, more or fewer come true."),
    "K3": Meaning("AUC: likely and unlikely ones are told apart", "Its numbers hardly tell likely suggestions from unlikely ones."),
    "K4": Meaning("skill gained over the model's raw probability", "The model's own probability is better than its numbers."),
    "K5": Meaning("skill for exact_match minus that for tests_pass"),
    "K5.mixed": Meaning("offset if P(exact_match) is read as P(tests_pass)"),
    "K6": Meaning(
        "share of projects where it is off no more than it says", "In some projects its numbers are further off than their range."
    ),
    "K7.no_docstring": Meaning("offset without docstrings", "Its numbers are off by more than 5 points in functions without a docstring."),
    "K7.no_suffix": Meaning("offset at the end of a file", "Its numbers are off by more than 5 points where nothing follows the cursor."),
    "K8": Meaning("skill gained by asking the model again"),
}


def title_of(figure: Figure) -> str:
    """A figure in words."""
    return MEANINGS[figure.id].title if figure.id in MEANINGS else figure.id


def summary(validation: Validation) -> str:
    """One line: "validated: 4 of 5 hold, 1 undecided". It counts the primary figures alone; what is not in the table was not run."""
    readings = {row.id: row.reading for row in validation.figures}
    counts = Counter(readings.get(id, "not run") for id in PRIMARY)
    told = [f"{counts['holds']} of {len(PRIMARY)} hold", *(f"{counts[reading]} {reading}" for reading in _COUNTED if counts[reading])]
    return f"validated: {', '.join(told)}"


def refuted(validation: Validation) -> list[str]:
    """What each refuted figure means for the reader, a sentence each, the primary ones first."""
    rows = sorted((row for row in validation.figures if row.reading == "refuted"), key=lambda row: row.id not in PRIMARY)
    return [meant for row in rows if (meant := MEANINGS[row.id].refuted if row.id in MEANINGS else f"{row.id} ({row.claim}) is refuted.")]


def as_json(validation: Validation | None) -> dict[str, Any] | None:
    """What clients are told: `summary`, one line; `refuted`, sentences. None without a table."""
    return None if validation is None else {"summary": summary(validation), "refuted": refuted(validation)}
