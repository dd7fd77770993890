"""Where a text ends, as tests read it."""

from __future__ import annotations

from assay.inference.stopping.rules import find_stop
from assay.inference.stopping.stop import Stop


def ended(text: str, stop: Stop) -> tuple[str, str] | None:
    """What is left of a text, and the rule that ended it; None where none did."""
    point = find_stop(text, stop)
    return None if point is None else (text[: point.offset], point.by)
