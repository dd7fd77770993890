"""Where the suggestions are that were accepted: followed through edits, so that a hover can say what was known of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from .documents import Change
from .explain import Explanation
from .positions import Encoding, Position, Range, column_at

# What a person may still want to ask about; beyond it the oldest are forgotten.
KEPT = 200


@dataclass(frozen=True, slots=True)
class _Place:
    uri: str
    range: Range
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Edit:
    """From start to old_end stood what now goes from start to new_end."""

    start: Position
    old_end: Position
    new_end: Position


class Accepted:
    """The latest accepted suggestions of all documents, the newest last."""

    def __init__(self, encoding: Encoding, kept: int = KEPT) -> None:
        """encoding: what columns count in; kept: how many are remembered."""
        self._encoding = encoding
        self._places: deque[_Place] = deque(maxlen=kept)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, uri: str, range: Range, explanation: Explanation) -> None:
        """A suggestion was accepted; range: where its text is (`range_of`)."""
        if range.start < range.end:
            self._places.append(_Place(uri, range, explanation))

    def change(self, uri: str, changes: Sequence[Change]) -> None:
        """A document was edited. Costs nothing but a look where it has no accepted suggestion."""
        if not any(place.uri == uri for place in self._places):
            return
        for change in changes:
            edit = edit_of(change, self._encoding)
            followed = (_followed(place, uri, edit) for place in self._places)
            self._places = deque((place for place in followed if place is not None), maxlen=self._places.maxlen)

    def at(self, uri: str, line: int) -> Explanation | None:
        """Of the suggestion that stands on a line, the one accepted last where there are several; None where there is none."""
        return next((place.explanation for place in reversed(self._places) if place.uri == uri and _covers(place.range, line)), None)

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._places = deque((place for place in self._places if place.uri != uri), maxlen=self._places.maxlen)


def range_of(start: Position, text: str, encoding: Encoding) -> Range:
    """Where a text is that was put in at a position."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    breaks, last = text.count("\n"), text[text.rfind("\n") + 1 :]
    width = column_at(last, len(last), encoding)
    return Range(start, Position(start.line + breaks, width if breaks else start.character + width))


def edit_of(change: Change, encoding: Encoding) -> Edit | None:
    """What an edit does to lines and columns; None for one of the whole document."""
    if change.range is None:
        return None
    return Edit(change.range.start, change.range.end, range_of(change.range.start, change.text, encoding).end)


def _followed(place: _Place, uri: str, edit: Edit | None) -> _Place | None:
    if place.uri != uri:
        return place
    if edit is None:
        return None
    found = moved(place.range, edit)
    return place if found is place.range else None if found is None else _Place(uri, found, place.explanation)


def moved(range: Range, edit: Edit) -> Range | None:
    """Where a range is after an edit; None where the edit replaced all of it.

    An edit before it shifts it, and so does what is put in right at its start; one behind it, or right at its end, leaves it alone. Inside
    it an edit's text becomes part of it; of an edit across its start or its end, what is left of the range remains. (An edit that makes one
    line end of a carriage return and a line feed is taken for one that leaves two.)
    """
    if edit.start >= range.end or (edit.old_end.line < range.start.line and edit.old_end.line == edit.new_end.line):
        return range
    if edit.old_end <= range.start:
        return Range(_shifted(range.start, edit), _shifted(range.end, edit))
    if edit.start <= range.start and edit.old_end >= range.end:
        return None
    start = _shifted(edit.old_end, edit) if edit.start < range.start else range.start
    end = edit.start if edit.old_end > range.end else _shifted(range.end, edit)
    return Range(start, end) if start < end else None


def _shifted(position: Position, edit: Edit) -> Position:
    """Where a position at or behind the edit's old end is now."""
    if position.line == edit.old_end.line:
        return Position(edit.new_end.line, edit.new_end.character + position.character - edit.old_end.character)
    return Position(position.line + edit.new_end.line - edit.old_end.line, position.character)


def _covers(range: Range, line: int) -> bool:
    """Whether some of the range stands on a line: one that ends at a line's start has nothing there."""
    last = range.end.line - 1 if range.end.character == 0 else range.end.line
    return range.start.line <= line <= last
