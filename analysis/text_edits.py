"""Edits of a source text: several made at once, and the shortest edit between two texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """source[start:end] becomes text; start == end inserts."""

    start: int
    end: int
    text: str

    def of(self, source: str) -> str:
        """The source with this edit made."""
        return source[: self.start] + self.text + source[self.end :]


def edited(source: str, edits: Iterable[Edit]) -> str:
    """The source after all edits, whose offsets are those of the source before any of them.

    A blank is put between words that an edit would join: `if(n) < 0` becomes `if 0 > (n)`. Edits at the same place are made in the order
    given. Raises ValueError where two overlap.
    """
    parts, at = [], 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < at:
            raise ValueError(f"two edits overlap at character {edit.start}")
        before, after = _joins(source, edit.start, edit.text[:1], 0), _joins(source, edit.end, edit.text[-1:], 1)
        parts += [source[at : edit.start], " " * before, edit.text, " " * after]
        at = edit.end
    return "".join([*parts, source[at:]])


def _joins(source: str, at: int, end: str, side: int) -> bool:
    """Whether a text that ends in `end` would make one word with its neighbour on that side (0: before, 1: behind), where none stood."""
    around = source[max(at - 1, 0) : at], source[at : at + 1]
    return _is_word(end) and _is_word(around[side]) and not all(map(_is_word, around))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def changed_span(before: str, after: str) -> tuple[int, int, str]:
    """The shortest (start, end, text) for which before[:start] + text + before[end:] is after."""
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = next((i for i in range(shorter - start) if before[-1 - i] != after[-1 - i]), shorter - start)
    return start, len(before) - tail, after[start : len(after) - tail]
