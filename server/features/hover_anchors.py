"""Where accepted suggestions stand now, so that a hover over one can explain its confidence."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ...calibration.log.retention import MIN_KEPT_SHARE, retained_share
from ...suggestion.positions import Position
from ..confidence.explanation import Explanation
from ..documents.documents import Document, Splice
from ..tracking.anchors import Anchor, move_anchors

# The oldest are forgotten first.
MAX_ANCHORS = 200


@dataclass(frozen=True, slots=True)
class _Accepted:
    uri: str
    anchor: Anchor
    text: str
    explanation: Explanation


class HoverAnchors:
    """Anchors of the latest accepted suggestions of all documents."""

    def __init__(self, maximum: int = MAX_ANCHORS) -> None:
        """maximum: how many are remembered."""
        self._accepted: deque[_Accepted] = deque(maxlen=maximum)

    def __len__(self) -> int:
        return len(self._accepted)

    def add(self, uri: str, start: int, text: str, explanation: Explanation) -> None:
        """Remember an accepted suggestion. start: the offset of its text."""
        if text:
            self._accepted.append(_Accepted(uri, Anchor(start, start + len(text)), text, explanation))

    def change(self, uri: str, splices: Sequence[Splice]) -> None:
        """Move the anchors of a document with its edits."""
        anchors = [place.anchor for place in self._accepted if place.uri == uri]
        if not anchors:
            return
        lost = [anchor for splice in splices for anchor in move_anchors(anchors, splice)]
        if lost or any(anchor.start == anchor.end for anchor in anchors):
            gone = {id(anchor) for anchor in [*lost, *(anchor for anchor in anchors if anchor.start == anchor.end)]}
            self._accepted = deque((place for place in self._accepted if id(place.anchor) not in gone), maxlen=self._accepted.maxlen)

    def at(self, document: Document, line: int) -> Explanation | None:
        """The explanation of the suggestion on a line: of the one that was accepted last, if there are several.

        A suggestion that was changed so much that it no longer counts as kept is left out, because the explanation is about another text.
        """
        start, end = document.offset(Position(line, 0)), document.offset(Position(line + 1, 0))
        for place in reversed(self._accepted):
            anchor = place.anchor
            there = place.uri == document.uri and anchor.start < end and anchor.end > start
            if there and retained_share(place.text, document.between(anchor.start, anchor.end)) >= MIN_KEPT_SHARE:
                return place.explanation
        return None

    def forget(self, uri: str) -> None:
        """Forget a document that was closed."""
        self._accepted = deque((place for place in self._accepted if place.uri != uri), maxlen=self._accepted.maxlen)
