"""How figures are written in the tables of the pages."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from assay.calibration.metrics.intervals import Interval

UNDEFINED = "not defined"


def table(columns: Sequence[str], align: str, rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table. align: of each column l, c or r."""
    rule = {"l": "---", "c": ":---:", "r": "---:"}
    lines = [columns, [rule[one] for one in align], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def interval(found: Interval | dict[str, float] | None, digits: int = 3, sign: str = "") -> str:
    """A value with its interval; of a report's JSON or of the library."""
    if found is None:
        return UNDEFINED
    value, low, high = (found["value"], found["low"], found["high"]) if isinstance(found, dict) else (found.value, found.low, found.high)
    form = f"{sign}z.{digits}f"
    return f"{value:{form}} ({low:{form}} to {high:{form}})"


def with_floor(error: dict[str, float]) -> str:
    """An error, and that of a perfect forecaster with the same probabilities."""
    return f"{error['value']:.3f} ({error['noise_floor']:.3f})"


def p_value(test: dict[str, float] | None) -> str:
    """A test's p-value of a report's JSON."""
    return UNDEFINED if test is None else "< 0.001" if test["p_value"] < 0.001 else f"{test['p_value']:.3f}"


def percent(share: float, digits: int = 1) -> str:
    """A share."""
    return f"{share:.{digits}%}"


def percents(found: Interval | dict[str, float] | tuple[float, float, float], digits: int = 1) -> str:
    """A share with its interval."""
    value, low, high = (
        found if isinstance(found, tuple) else (found["value"], found["low"], found["high"]) if isinstance(found, dict)
        else (found.value, found.low, found.high)
    )  # fmt: skip
    return f"{percent(value, digits)} ({percent(low, digits)} to {percent(high, digits)})"


def code(name: str) -> str:
    """A name as code."""
    return f"`{name}`"


def listed(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"; "none"."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0] if names else "none"


def wrapped(text: str) -> str:
    """A paragraph in lines as long as those around it may be; a list item's are two shorter."""
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def map_of(calibrator: dict[str, Any]) -> str:
    """The kind of a calibrator's map and of how many measures: "platt of 9", "beta"."""
    kind, count = calibrator["map"]["kind"], len(calibrator["features"])
    return f"{kind} of {count}" if count > 1 else str(kind)
