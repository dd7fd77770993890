"""Text that drives no terminal, whoever wrote it."""

from __future__ import annotations

import re

# control characters but tab and newline, and what turns the direction of writing around
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def strip_control_characters(text: str) -> str:
    """The text without control characters other than tab and newline: what a model or a file says must not drive the terminal."""
    return _CONTROL.sub("\ufffd", text)
