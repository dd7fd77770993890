"""Logs what becomes of repairs: shown in a list, put in, rejected; and has it looked at how much of them is kept.

A repair that is put in arrives as an edit of the document, whoever makes it: the server through the client, or the client that resolved a
code action. The next edit of the document tells whether it was that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from ...calibration.log.events import By, ShowingEnded, ShowingEnding, ShowingSeen
from ...suggestion.positions import Position
from ...suggestion.repair.request import Repair
from ..documents.documents import Document
from .anchors import Anchor
from .logged_outcomes import EndedShowing, Fact, ShowingEvent

Reported = Literal["shown", "accepted", "part", "rejected"]
# Repairs that a client may still put in, or tell of.
_MAX_KNOWN = 200


@dataclass(slots=True)
class _Known:
    """A repair that a client was told of. seen: logged as shown; ended: put in, or rejected, with which its showing ends."""

    uri: str
    version: int
    repair: Repair
    seen: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class _Expected:
    """A repair whose edit is to come. start: the offset of its lines, which the edit does not move."""

    id: str
    start: int


class RepairOutcomes:
    """The repairs that clients were told of lately."""

    def __init__(self, document_of: Callable[[str], Document | None], log: Callable[[Iterable[Fact]], None]) -> None:
        """document_of: as in `RetentionWatch`; log: takes what is to be logged."""
        self._document_of = document_of
        self._log = log
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._expected: dict[str, _Expected] = {}

    def found(self, uri: str, version: int, repairs: Iterable[Repair]) -> None:
        """These are shown, of what was found for a document at a version; some may have been before."""
        for repair in repairs:
            self._known.setdefault(repair.suggestion.id, _Known(uri, version, repair))
            self._known.move_to_end(repair.suggestion.id)
        while len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)

    def expect(self, suggestion_id: str) -> None:
        """The client is given the edit of a repair, and may make it."""
        known = self._known.get(suggestion_id)
        if known is not None and (start := self._start(known)) is not None:
            self._expected[known.uri] = _Expected(suggestion_id, start)

    def edited(self, uri: str) -> None:
        """A document was edited."""
        expected = self._expected.pop(uri, None)
        document = self._document_of(uri)
        known = None if expected is None else self._known.get(expected.id)
        if expected is None or document is None or known is None:
            return
        text = known.repair.suggestion.text
        there = document.between(expected.start, expected.start + len(text) + 1)
        if there.startswith(text) and there[len(text) :] in ("", "\n", "\r"):
            anchor = Anchor(expected.start, expected.start + len(text))
            self._end(known, ShowingEnding.ACCEPTED, anchor, inserted=len(text))

    def reported(self, action: Reported, suggestion_id: str) -> bool:
        """A client reports what its user did with a repair; False where the id is none of a repair. That one was put in its edit tells."""
        known = self._known.get(suggestion_id)
        if known is None:
            return False
        if action == "shown":
            self._log(self._seen(known))
        elif action == "rejected" and (start := self._start(known)) is not None:
            self._end(known, ShowingEnding.REJECTED, Anchor(start, start + len(known.repair.old)))
        return True

    def closed(self, uri: str) -> None:
        """A document is closed, or can no longer be followed."""
        self._expected.pop(uri, None)

    def _start(self, known: _Known) -> int | None:
        """The offset of a repair's lines in the text that it was made for; None where that is gone."""
        document = self._document_of(known.uri)
        if document is None or document.version != known.version:
            return None
        return document.offset(Position(known.repair.suggestion.range.start.line, 0))

    def _seen(self, known: _Known) -> list[Fact]:
        if known.seen:
            return []
        known.seen = True
        return [ShowingEvent(known.repair.suggestion.id, ShowingSeen(by="client"))]

    def _end(self, known: _Known, ending: ShowingEnding, anchor: Anchor, inserted: int = 0) -> None:
        """End a repair's showing, once: who puts one in, or rejects it, has seen it."""
        if known.ended:
            return
        known.ended = True
        suggestion, old = known.repair.suggestion, known.repair.old
        by: By = "client" if ending is ShowingEnding.REJECTED else "inferred"
        ended = ShowingEnded(ending=ending, by=by, characters=len(suggestion.text), accepted=inserted)
        watched = EndedShowing(suggestion.id, known.uri, anchor, suggestion.text, inserted, old)
        self._log([*self._seen(known), ShowingEvent(suggestion.id, ended), watched])
