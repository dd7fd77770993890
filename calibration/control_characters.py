"""Control characters: they are taken out of texts that others wrote, before a terminal or a page shows them."""

from __future__ import annotations

import re

# Control characters but tab and newline, those that reverse the direction of writing, and halves of characters, which UTF-8 has not.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def strip_control_characters(text: str) -> str:
    """The text with U+FFFD for each control character but tab and newline. What a model or a file says must not drive a terminal."""
    return _CONTROL.sub("\ufffd", text)
