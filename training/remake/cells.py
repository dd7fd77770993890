"""How figures are written in the tables of the pages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.calibration.metrics.intervals import Interval

UNDEFINED = "not defined"
# A value with its interval: of the library, of a report's JSON, or bare.
Found = Interval | Mapping[str, float] | tuple[float, float, float]


def table(columns: Sequence[str], align: str, rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table. align: of each column l, c or r."""
    rule = {"l": "---", "c": ":---:", "r": "---:"}
    lines = [columns, [rule[one] for one in align], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def of_three(found: Found | None, form: str) -> str:
    """A value with its interval, each in a format."""
    if found is None:
        return UNDEFINED
    if isinstance(found, Interval):
        found = (found.value, found.low, found.high)
    value, low, high = (found["value"], found["low"], found["high"]) if isinstance(found, Mapping) else found
    return f"{value:{form}} ({low:{form}} to {high:{form}})"


def interval(found: Found | None, digits: int = 3, sign: str = "") -> str:
    """A score with its interval."""
    return of_three(found, f"{sign}z.{digits}f")


def percents(found: Found | None, digits: int = 1) -> str:
    """A share with its interval."""
    return of_three(found, f".{digits}%")


def with_floor(error: Mapping[str, float]) -> str:
    """An error, and that of a perfect forecaster with the same probabilities."""
    return f"{error['value']:.3f} ({error['noise_floor']:.3f})"


def p_value(test: Mapping[str, float] | None) -> str:
    """A test's p-value of a report's JSON."""
    return UNDEFINED if test is None else "< 0.001" if test["p_value"] < 0.001 else f"{test['p_value']:.3f}"


def code(name: str) -> str:
    """A name as code."""
    return f"`{name}`"


def listed(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"; "none"."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0] if names else "none"


def wrapped(text: str) -> str:
    """A paragraph in lines as long as those around it may be; a list item's are two shorter."""
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def map_of(calibrator: Mapping[str, Any]) -> str:
    """The kind of a calibrator's map and of how many measures: "platt of 9", "beta"."""
    kind, count = calibrator["map"]["kind"], len(calibrator["features"])
    return f"{kind} of {count}" if count > 1 else str(kind)
