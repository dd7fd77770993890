"""Where the suggestions are that were accepted: followed through edits, so that a hover can say what was known of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ...calibration.log.retention import MIN_KEPT_SHARE, retained_share
from ...suggestion.positions import Position
from ..confidence.explanation import Explanation
from ..documents.documents import Document, Splice
from .anchors import Anchor, move_anchors

# What a person may still want to ask about; beyond it the oldest are forgotten.
MAX_ANCHORS = 200


@dataclass(frozen=True, slots=True)
class _Place:
    uri: str
    anchor: Anchor
    text: str
    explanation: Explanation


class HoverAnchors:
    """The latest accepted suggestions of all documents, the newest last."""

    def __init__(self, kept: int = MAX_ANCHORS) -> None:
        """kept: how many are remembered."""
        self._places: deque[_Place] = deque(maxlen=kept)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, uri: str, start: int, text: str, explanation: Explanation) -> None:
        """A suggestion was accepted, whose text stands from an offset on."""
        if text:
            self._places.append(_Place(uri, Anchor(start, start + len(text)), text, explanation))

    def change(self, uri: str, splices: Sequence[Splice]) -> None:
        """A document was edited. Costs nothing but a look where it has no accepted suggestion."""
        anchors = [place.anchor for place in self._places if place.uri == uri]
        if not anchors:
            return
        lost = [anchor for splice in splices for anchor in move_anchors(anchors, splice)]
        if lost or any(anchor.start == anchor.end for anchor in anchors):
            gone = {id(anchor) for anchor in [*lost, *(anchor for anchor in anchors if anchor.start == anchor.end)]}
            self._places = deque((place for place in self._places if id(place.anchor) not in gone), maxlen=self._places.maxlen)

    def at(self, document: Document, line: int) -> Explanation | None:
        """Of the suggestion that stands on a line, the one accepted last where there are several; None where there is none.

        One of which less is left than what counts as kept is none any more: what was known was of another text.
        """
        start, end = document.offset(Position(line, 0)), document.offset(Position(line + 1, 0))
        for place in reversed(self._places):
            anchor = place.anchor
            there = place.uri == document.uri and anchor.start < end and anchor.end > start
            if there and retained_share(place.text, document.between(anchor.start, anchor.end)) >= MIN_KEPT_SHARE:
                return place.explanation
        return None

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._places = deque((place for place in self._places if place.uri != uri), maxlen=self._places.maxlen)
