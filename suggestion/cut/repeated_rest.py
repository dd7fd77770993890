"""A text that only says what stands behind the cursor on its line is hidden."""

from __future__ import annotations

from ..cursor import Cursor


def unless_it_repeats_the_rest(text: str, cursor: Cursor) -> str | None:
    """The text; None where what stands behind it on its line begins with the same words. A lone bracket may be one more."""
    rest, said = cursor.rest_of_line.strip(), text.strip()
    if not any(map(str.isalnum, said)) or not rest.startswith(said):
        return text
    following = rest[len(said) :][:1]
    return text if _in_word(said[-1]) and _in_word(following) else None


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
