"""White space at the end adds nothing where no text stands behind the cursor on its line."""

from __future__ import annotations

from ..cursor import Cursor


def without_trailing_space(text: str, cursor: Cursor) -> str:
    """The text without white space at its end; all of it where text stands behind the cursor."""
    return text if cursor.rest_of_line.strip() else text.rstrip()
