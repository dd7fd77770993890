"""A blank text adds nothing."""

from __future__ import annotations

from ..cursor import Cursor


def unless_blank(text: str, _: Cursor) -> str | None:
    """The text; None where it is blank."""
    return text if text.strip() else None
