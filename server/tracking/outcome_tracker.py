"""What becomes of suggestions, as events: from what editors ask, what they do to documents, and what they tell."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from ...calibration.log.events import Event, TextLogged, hash_of
from ...suggestion.suggestion import Suggestion
from ..documents.documents import Document, Documents, Splice
from ..requests.request import Ask
from .outcome_events import EndedShowing, Fact, OutcomeEvents
from .retention_watch import Look, RetentionWatch

Reported = Literal["shown", "accepted", "part", "rejected"]


class OutcomeTracker:
    """OutcomeEvents and what is kept of them, with the clocks and the timer of a running event loop."""

    def __init__(self, documents: Documents, add: Callable[[Event, str | None], None]) -> None:
        """add: notes an event of a showing."""
        self._documents = documents
        self._add = add
        self._showings = OutcomeEvents()
        self._watch = RetentionWatch(documents.get)
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    def asked(self, ask: Ask) -> None:
        """An editor asks for suggestions."""
        if (document := self._documents.get(ask.uri)) is not None:
            self._take(self._showings.asked(ask.uri, ask.start + len(ask.stood), document.between, time.monotonic()))

    def offered(self, ask: Ask, suggestions: Sequence[Suggestion]) -> str | None:
        """An editor is given suggestions, or none; the id of the showing, None where there is none."""
        now = time.monotonic()
        if not suggestions:
            self._take(self._showings.nothing(ask.uri, ask.start + len(ask.stood), now))
            return None
        items = [(suggestion.id, ask.selected + suggestion.text) for suggestion in suggestions]
        showing, facts = self._showings.offered(ask.uri, ask.start, ask.stood, items, now, invoked=ask.invoked)
        self._take(facts)
        return showing

    def edited(self, uri: str, splices: Sequence[Splice]) -> None:
        """A document was edited."""
        document, now = self._documents.get(uri), time.monotonic()
        if document is None:
            self.lost(uri)
            return
        # What has ended by now had its place before the edit.
        self._take(self._showings.tick(now))
        for splice in splices:
            self._say(self._watch.edited(uri, splice))
            self._take(self._showings.edited(uri, splice, document.between, now))

    def reported(self, what: Reported, suggestion_id: str) -> None:
        """A client says what its user did with a suggestion."""
        showings = self._showings
        tell = {
            "shown": showings.reported_shown,
            "accepted": showings.reported_accepted,
            "part": showings.reported_accepted_part,
            "rejected": showings.reported_rejected,
        }[what]
        self._take(tell(suggestion_id, time.monotonic()))

    def opened(self, document: Document) -> None:
        """A document was opened."""
        if self._watch:
            self._say(self._watch.opened(document.uri, document.text))

    def closed(self, uri: str) -> None:
        """A document will be closed."""
        self._take(self._showings.closed(uri, time.monotonic()))
        document = self._documents.get(uri)
        if document is None:
            self._say(self._watch.lost(uri))
        elif self._watch:
            self._watch.closed(uri, document.text, time.monotonic())
            self._arm()

    def lost(self, uri: str) -> None:
        """A document can't be followed any more."""
        self._take(self._showings.closed(uri, time.monotonic()))
        self._say(self._watch.lost(uri))

    def renamed(self, old: str, new: str) -> None:
        """A file or a folder got another name."""
        self._watch.renamed(old, new)

    def saved(self, uri: str) -> None:
        """A document was saved."""
        self._watch.saved(uri)
        self._look()

    def close(self) -> None:
        """The server ends: end what is on the screen, and say that nobody looks any more. Calling it again does nothing."""
        if self._ended:
            return
        self._take(self._showings.shut(time.monotonic()))
        self._say(self._watch.shut())
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()

    def _take(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, EndedShowing):
                self._add(TextLogged(what="suggested", text=fact.text, document=hash_of(fact.uri)), fact.showing)
                self._say(self._watch.follow(fact, time.monotonic(), time.time()))
            else:
                self._add(fact.event, fact.showing)
        self._arm()

    def _say(self, looks: Iterable[Look]) -> None:
        for look in looks:
            self._add(look.kept, look.showing)
            if look.found is not None:
                self._add(TextLogged(what="found", text=look.found, document=hash_of(look.uri)), look.showing)

    def _arm(self) -> None:
        """See to it that the timer comes when there is something to do."""
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
        self._look()

    def _look(self) -> None:
        now = time.monotonic()
        self._say(self._watch.look(now, time.time()))
        self._take(self._showings.tick(now))
