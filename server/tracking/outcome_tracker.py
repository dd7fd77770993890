"""Logs what becomes of suggestions, by what editors ask, what they do to documents, and what they report."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

from ...calibration.log.events import Event, TextLogged, hash_of
from ...suggestion.suggestion import Suggestion
from ..documents.documents import Document, Documents, Splice
from ..requests.request import GenerationRequest
from .logged_outcomes import EndedShowing, Fact, OutcomeEvents
from .repair_outcomes import RepairOutcomes, Reported
from .retention_watch import CheckResult, RetentionWatch


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
