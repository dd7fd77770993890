"""An end that repeats the beginning of what stands behind the cursor on its line is left out."""

from __future__ import annotations

from dataclasses import replace

from ...inference.model import Generation
from ..cursor import Cursor

_OPENING = {")": "(", "]": "[", "}": "{"}


def without_overlap_behind(generation: Generation, cursor: Cursor) -> Generation:
    """The step: only a line with text behind the cursor has something to overlap with."""
    if cursor.task != "line_middle":
        return generation
    return replace(generation, text=without_overlap(generation.text, cursor.rest_of_line))


def without_overlap(text: str, rest: str) -> str:
    """The text without an end that repeats the beginning of what already stands behind the cursor on its line.

    The longest such end is left out that neither splits a word nor takes away a bracket's partner: before `)` the text `x)` becomes `x`,
    `f()` stays. Brackets in string literals count like any others.
    """
    for size in range(min(len(text), len(rest)), 0, -1):
        body, end = text[:-size], text[-size:]
        if rest.startswith(end) and not _splits_a_word(body, end) and not _splits_a_word(end, rest[size:]) and not _unclosed(body):
            return body
    return text


def _splits_a_word(left: str, right: str) -> bool:
    return bool(left and right) and (left[-1].isalnum() or left[-1] == "_") and (right[0].isalnum() or right[0] == "_")


def _unclosed(text: str) -> bool:
    """Whether a bracket that the text opens is still open at its end."""
    opened: list[str] = []
    for character in text:
        if character in _OPENING.values():
            opened.append(character)
        elif opened and _OPENING.get(character) == opened[-1]:
            opened.pop()
    return bool(opened)
