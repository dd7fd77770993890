"""Logs what becomes of suggestions, by what editors ask, what they do to documents, and what they report."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...calibration.log.events import By, Event, ShowingEnded, ShowingEnding, ShowingSeen, TextLogged, hash_of
from ...suggestion.positions import Position
from ...suggestion.repair.request import Repair
from ...suggestion.suggestion import Suggestion
from ..documents.documents import Document, Documents, Splice
from ..model.request import GenerationRequest
from .anchors import Anchor
from .logged_outcomes import EndedShowing, Fact, OutcomeEvents, ShowingEvent
from .retention_watch import CheckResult, RetentionWatch

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
    """The repairs that clients were told of lately: logs what becomes of them, and has it looked at how much of them is kept.

    A repair that is put in arrives as an edit of the document, whoever makes it: the server through the client, or the client that
    resolved a code action. The next edit of the document tells whether it was that.
    """

    def __init__(self, document_of: Callable[[str], Document | None], log: Callable[[Iterable[Fact]], None]) -> None:
        """document_of: as in `RetentionWatch`; log: takes what is to be logged."""
        self._document_of = document_of
        self._log = log
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._expected: dict[str, list[_Expected]] = {}

    def found(self, uri: str, version: int, repairs: Iterable[Repair]) -> None:
        """These are shown, of what was found for a document at a version; some may have been before."""
        for repair in repairs:
            self._known.setdefault(repair.suggestion.id, _Known(uri, version, repair))
            self._known.move_to_end(repair.suggestion.id)
        while len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)

    def expect(self, *suggestion_ids: str) -> None:
        """The client is given one edit of repairs of a document, and may make it."""
        known = [known for each in suggestion_ids if (known := self._known.get(each)) is not None]
        starts = [(start, each) for each in known if (start := self._start(each)) is not None]
        expected, moved = list[_Expected](), 0
        for start, each in sorted(starts, key=lambda pair: pair[0]):
            expected.append(_Expected(each.repair.suggestion.id, start + moved))
            moved += len(each.repair.suggestion.text) - len(each.repair.old)
        self._expected |= {each.uri: expected for _, each in starts}

    def edited(self, uri: str) -> None:
        """A document was edited."""
        for expected in self._expected.pop(uri, ()):
            document, known = self._document_of(uri), self._known.get(expected.id)
            if document is None or known is None:
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


class OutcomeTracker:
    """Gives `OutcomeEvents` and `RetentionWatch` the clocks and a timer, and logs their events."""

    def __init__(self, documents: Documents, add: Callable[[Event, str | None], None]) -> None:
        """add: logs an event, given the id of its showing."""
        self._documents = documents
        self._add = add
        self._showings = OutcomeEvents()
        self._watch = RetentionWatch(documents.get)
        self.repairs = RepairOutcomes(documents.get, self._log_facts)
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    def asked(self, request: GenerationRequest) -> None:
        """An editor asks for suggestions."""
        if (document := self._documents.get(request.uri)) is not None:
            self._log_facts(self._showings.asked(request.uri, request.start + len(request.stood), document.between, time.monotonic()))

    def offered(self, request: GenerationRequest, suggestions: Sequence[Suggestion]) -> str | None:
        """An editor is given suggestions, or none. Returns the id of the showing, None if there is none."""
        now = time.monotonic()
        if not suggestions:
            self._log_facts(self._showings.nothing(request.uri, request.start + len(request.stood), now))
            return None
        items = [(suggestion.id, request.selected + suggestion.text) for suggestion in suggestions]
        showing, facts = self._showings.offered(request.uri, request.start, request.stood, items, now, invoked=request.invoked)
        self._log_facts(facts)
        return showing

    def edited(self, uri: str, splices: Sequence[Splice]) -> None:
        """A document was edited."""
        document, now = self._documents.get(uri), time.monotonic()
        if document is None:
            self.lost(uri)
            return
        # Showings that have ended by now had their place before the edit.
        self._log_facts(self._showings.tick(now))
        for splice in splices:
            self._log_checks(self._watch.edited(uri, splice))
            self._log_facts(self._showings.edited(uri, splice, document.between, now))
        self.repairs.edited(uri)

    def reported(self, action: Reported, suggestion_id: str) -> None:
        """A client reports what its user did with a suggestion."""
        if self.repairs.reported(action, suggestion_id):
            return
        showings = self._showings
        report = {
            "shown": showings.reported_shown,
            "accepted": showings.reported_accepted,
            "part": showings.reported_accepted_part,
            "rejected": showings.reported_rejected,
        }[action]
        self._log_facts(report(suggestion_id, time.monotonic()))

    def showing_of(self, suggestion_id: str) -> str | None:
        """The id of the showing that a suggestion was given in."""
        return self._showings.showing_of(suggestion_id)

    def opened(self, document: Document) -> None:
        """A document was opened."""
        if self._watch:
            self._log_checks(self._watch.opened(document.uri, document.text))

    def closed(self, uri: str) -> None:
        """A document will be closed."""
        self.repairs.closed(uri)
        self._log_facts(self._showings.closed(uri, time.monotonic()))
        document = self._documents.get(uri)
        if document is None:
            self._log_checks(self._watch.lost(uri))
        elif self._watch:
            self._watch.closed(uri, document.text, time.monotonic())
            self._arm()

    def lost(self, uri: str) -> None:
        """The edits of a document can no longer be followed."""
        self.repairs.closed(uri)
        self._log_facts(self._showings.closed(uri, time.monotonic()))
        self._log_checks(self._watch.lost(uri))

    def renamed(self, old: str, new: str) -> None:
        """A file or a folder was renamed."""
        self._watch.renamed(old, new)

    def saved(self, uri: str) -> None:
        """A document was saved."""
        self._watch.saved(uri)
        self._check()

    def close(self) -> None:
        """The server ends: end the showing on the screen, and stop watching. Calling it again does nothing."""
        if self._ended:
            return
        self._log_facts(self._showings.shut(time.monotonic()))
        self._log_checks(self._watch.shut())
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()

    def _log_facts(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, EndedShowing):
                self._add(TextLogged(what="suggested", text=fact.text, document=hash_of(fact.uri)), fact.showing)
                self._log_checks(self._watch.follow(fact, time.monotonic(), time.time()))
            else:
                self._add(fact.event, fact.showing)
        self._arm()

    def _log_checks(self, checks: Iterable[CheckResult]) -> None:
        for check in checks:
            self._add(check.event, check.showing)
            if check.found is not None:
                self._add(TextLogged(what="found", text=check.found, document=hash_of(check.uri)), check.showing)

    def _arm(self) -> None:
        """Set the timer to when there is something to do."""
        if self._ended:
            return
        times = [at for at in (self._showings.settles_s, self._watch.next_s) if at is not None]
        if not times:
            return
        loop, due = asyncio.get_running_loop(), min(times)
        at = loop.time() + max(0.0, due - time.monotonic())
        if self._timer is not None and not self._timer.cancelled():
            if self._timer.when() <= at + 1e-3:
                return
            self._timer.cancel()
        self._timer = loop.call_at(at, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._check()

    def _check(self) -> None:
        now = time.monotonic()
        self._log_checks(self._watch.check(now, time.time()))
        self._log_facts(self._showings.tick(now))
