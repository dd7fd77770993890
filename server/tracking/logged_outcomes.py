"""Which events are logged of a suggestion: seen, accepted, partly accepted, typed through, rejected, ignored, superseded.

A state machine. It is told what happened and when, and returns the events that follow.

There is one showing on the screen at a time, because only the editor with the cursor shows a suggestion. It begins when a suggestion is
given to the editor. It goes on while the user types along it or deletes some of it again. It ends in exactly one `ShowingEnding`. Two
suggestions belong to one showing if the user sees the same: the rest of the first is the text of the second, except for closing brackets.

Most editors report only edits and requests, so everything else is inferred. If one edit inserts more than one character of the suggestion,
the editor inserted it: a word, a line or all of it. (A paste, or an item of the menu, with the same text looks the same.) Single characters
were typed. What a client reports takes precedence, also if the report comes a moment later.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...calibration.log.events import By, ShowingEnded, ShowingEnding, ShowingSeen
from ..documents.documents import Splice
from .anchors import Anchor, trimmed
from .live_showing import LiveShowing, after_edit, at_cursor, is_more_than_a_key, is_same, matched_length, with_line_feeds

# After this time a suggestion counts as seen: readers fixate a word for 225 to 250 ms (Rayner, Psychological Bulletin 124, 1998).
SEEN_S = 0.25
# For this time after a showing ended, a report of the client may still correct how. Clients report right before or after the edit.
SETTLE_S = 1.0
# How many suggestions are remembered for later reports of the client.
MAX_KNOWN = 200
_Item = tuple[str, str]  # a suggestion's id and its text


@dataclass(frozen=True, slots=True)
class ShowingEvent:
    """An event to be logged, and the id of its showing."""

    showing: str
    event: ShowingSeen | ShowingEnded


@dataclass(frozen=True, slots=True)
class EndedShowing:
    """A showing that was seen has ended.

    anchor: where its text stands, or would stand. inserted: how many characters at the end of it the editor inserted. stood: of a repair,
    what it took the place of.
    """

    showing: str
    uri: str
    anchor: Anchor
    text: str
    inserted: int = 0
    stood: str = ""


Fact = ShowingEvent | EndedShowing


@dataclass(frozen=True, slots=True)
class _JustEnded:
    """A showing that ended, while reports of the client may still correct it.

    last: how many characters came with the last edit and may have been accepted. whole: whether all of its text is in the document.
    """

    id: str
    ended: ShowingEnded
    at_s: float
    last: int
    whole: bool


class OutcomeEvents:
    """The showing on the screen, and those that have just ended. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._live: LiveShowing | None = None
        self._just_ended: list[_JustEnded] = []
        self._showing_of: OrderedDict[str, str] = OrderedDict()
        self._client_reports_shown = False

    @property
    def settles_s(self) -> float | None:
        """When `tick` will have something to return. None if there is nothing to wait for."""
        since = [over.at_s for over in self._just_ended[:1]]
        if self._live is not None and self._live.accept_reported_s is not None:
            since.append(self._live.accept_reported_s)
        return min(since) + SETTLE_S if since else None

    def showing_of(self, name: str) -> str | None:
        """The showing of a suggestion, of the latest ones."""
        return self._showing_of.get(name)

    def offered(
        self, uri: str, start: int, in_document: str, items: Sequence[_Item], now: float, *, invoked: bool = False
    ) -> tuple[str | None, list[Fact]]:
        """Suggestions are given to the editor, which will show the first one.

        Parameters
            start: the offset where they begin. in_document: what stands from there to the cursor. items: their ids and texts.
            invoked: the user asked for them. An editor that shows something then goes on showing it, and the user may switch to these.

        Returns the id of the showing that the first one belongs to, or will begin when the user switches to it. It is None if the first one
        does not begin with `in_document`: no editor shows such a suggestion.
        """
        facts = self.tick(now)
        name, text = items[0]
        text = with_line_feeds(text)
        live = self._live
        progress = matched_length(text, with_line_feeds(in_document))
        if live is not None and live.uri == uri and live.cursor == start + len(in_document):
            if progress is not None and (is_same(live.remaining, text[progress:]) or invoked):
                fresh = {other: with_line_feeds(text) for other, text in items}
                same = next((other for other, text in fresh.items() if is_same(live.remaining, text[progress:])), None)
                if same is not None:
                    fresh.pop(same)
                    self._remember(same, live.id)
                live.alternatives = fresh or live.alternatives
                return live.id if same == name else name, facts
            facts += self._end(ShowingEnding.SUPERSEDED, now)
        else:
            facts += self._end(ShowingEnding.IGNORED, now)
        if progress is None:
            return None, facts
        alternatives = {other: with_line_feeds(text) for other, text in items[1:]}
        self._live = LiveShowing(
            name, uri, start, text, now, in_document, progress, progress, unchanged_since_s=now, alternatives=alternatives
        )
        self._remember(name, name)
        return name, facts

    def asked(self, uri: str, cursor: int, between: Callable[[int, int], str], now: float) -> list[Fact]:
        """The editor asks for suggestions at a cursor, so a showing elsewhere has ended. between: gives the text between two offsets."""
        facts, live = self.tick(now), self._live
        if live is not None and not (live.uri == uri and live.passes(cursor, between)):
            facts += self._end(ShowingEnding.IGNORED, now)
        return facts

    def nothing(self, uri: str, cursor: int, now: float) -> list[Fact]:
        """The answer at a cursor is empty, so the editor removes what it shows there."""
        facts, live = self.tick(now), self._live
        if live is not None and live.uri == uri and live.cursor == cursor:
            facts += self._end(ShowingEnding.SUPERSEDED, now)
        return facts

    def edited(self, uri: str, splice: Splice, between: Callable[[int, int], str], now: float) -> list[Fact]:
        """A document was edited. between: gives its text between two offsets, after the edit."""
        facts, live = self.tick(now), self._live
        if live is None or live.uri != uri:
            return facts
        splice = trimmed(splice) if splice.removed and splice.added else splice
        if not splice.removed and not splice.added:
            return facts
        self._see(live, now, facts)
        splice = at_cursor(live, splice, between)
        live.unchanged_since_s = now
        if not live.is_at(splice.start, splice.end):
            return facts + self._end(ShowingEnding.IGNORED, now, splice)
        if (step := after_edit(live, live.text, splice)) is None:
            switched = self._accepted_other(live, splice, now)
            if switched is None:
                return facts + self._end(ShowingEnding.IGNORED, now, splice)
            facts += switched
            assert self._live is not None
            live = self._live
            step = after_edit(live, live.text, splice)
            assert step is not None
        return facts + self._go_on(live, *step, now)

    def reported_shown(self, name: str, now: float) -> list[Fact]:
        """The client reports that it shows a suggestion."""
        self._client_reports_shown = True
        facts = self.tick(now) + self._switch(name, now)
        live = self._live
        if live is not None and not live.seen and self._showing_of.get(name) == live.id:
            live.seen = True
            facts.append(ShowingEvent(live.id, ShowingSeen(by="client")))
        return facts

    def reported_accepted(self, name: str, now: float) -> list[Fact]:
        """The client reports that it inserted a suggestion. The edit may come before or after."""
        facts = self.tick(now) + self._switch(name, now)
        live, showing = self._live, self._showing_of.get(name)
        if live is not None and live.id == showing:
            live.accept_reported_s = now
            return facts
        self._correct(
            showing,
            ShowingEnding.ACCEPTED,
            (ShowingEnding.ACCEPTED, ShowingEnding.TYPED_THROUGH, ShowingEnding.PARTLY_ACCEPTED, ShowingEnding.IGNORED),
        )
        return facts

    def reported_accepted_part(self, name: str, now: float) -> list[Fact]:
        """The client reports that it inserted a part of a suggestion. The edit may come before or after."""
        facts = self.tick(now) + self._switch(name, now)
        live, showing = self._live, self._showing_of.get(name)
        if live is not None and live.id == showing:
            live.by = "client"
            if live.last_step is None or now - live.last_step[2] > SETTLE_S:
                live.part_reported = True
            elif (part := live.last_step[:2]) not in live.inserted_parts:
                live.inserted_parts.append(part)
            return facts
        over = next((over for over in self._just_ended if over.id == showing), None)
        if over is not None and over.whole:
            self._correct(
                showing, ShowingEnding.ACCEPTED, (ShowingEnding.ACCEPTED, ShowingEnding.TYPED_THROUGH, ShowingEnding.PARTLY_ACCEPTED)
            )
        else:
            self._correct(showing, ShowingEnding.PARTLY_ACCEPTED, (ShowingEnding.PARTLY_ACCEPTED,))
        return facts

    def reported_rejected(self, name: str, now: float) -> list[Fact]:
        """The client reports that the user dismissed a suggestion."""
        facts = self.tick(now) + self._switch(name, now)
        live, showing = self._live, self._showing_of.get(name)
        if live is not None and live.id == showing:
            return facts + self._end(ShowingEnding.REJECTED, now, by="client")
        self._correct(showing, ShowingEnding.REJECTED, (ShowingEnding.IGNORED, ShowingEnding.SUPERSEDED))
        return facts

    def closed(self, uri: str, now: float) -> list[Fact]:
        """A document is closed, or its edits can no longer be followed."""
        facts = self.tick(now)
        return facts + self._end(ShowingEnding.SUPERSEDED, now) if self._live is not None and self._live.uri == uri else facts

    def shut(self, now: float) -> list[Fact]:
        """The server ends, and with it the showing on the screen."""
        facts = self.tick(now) + self._end(ShowingEnding.SUPERSEDED, now)
        facts += [ShowingEvent(over.id, over.ended) for over in self._just_ended]
        self._just_ended = []
        return facts

    def tick(self, now: float) -> list[Fact]:
        """What can no longer be corrected by the client."""
        facts: list[Fact] = []
        live = self._live
        if live is not None and live.accept_reported_s is not None and now - live.accept_reported_s >= SETTLE_S:
            facts += self._finish(live, now)
        while self._just_ended and now - self._just_ended[0].at_s >= SETTLE_S:
            over = self._just_ended.pop(0)
            facts.append(ShowingEvent(over.id, over.ended))
        return facts

    def _go_on(self, live: LiveShowing, in_document: str, progress: int, auto_closed: str, now: float) -> list[Fact]:
        """The text in the document grew along the suggestion, or shrank."""
        added = in_document[len(live.in_document) :] if in_document.startswith(live.in_document) else live.text[live.progress : progress]
        before, live.in_document, live.progress, live.auto_closed = live.progress, in_document, progress, auto_closed
        if progress <= before:  # the user deleted some of it
            live.inserted_parts = [(start, min(end, progress)) for start, end in live.inserted_parts if start < progress]
            live.last_step = None
            return [] if progress >= live.progress_at_start else self._end(ShowingEnding.IGNORED, now)
        live.last_step = before, progress, now
        if live.part_reported or is_more_than_a_key(added):
            live.inserted_parts.append((before, progress))
            live.part_reported = False
        if live.remaining:
            return []
        if live.accept_reported_s is not None:
            return self._finish(live, now)
        if live.inserted_parts and live.inserted_parts[-1] == (before, progress):
            return self._end(ShowingEnding.ACCEPTED, now, by=live.by)
        return self._end(ShowingEnding.TYPED_THROUGH, now)

    def _finish(self, live: LiveShowing, now: float, splice: Splice | None = None) -> list[Fact]:
        """End a showing that the client reported as accepted, even if the edit did not come or was a different one."""
        if live.last_step is not None and live.last_step[:2] not in live.inserted_parts and not live.remaining:
            live.inserted_parts.append(live.last_step[:2])
        if live.remaining:
            live.inserted_parts.append((live.progress, len(live.text)))
        return self._end(ShowingEnding.ACCEPTED, now, splice, by="client")

    def _accepted_other(self, live: LiveShowing, splice: Splice, now: float) -> list[Fact] | None:
        """Switch to the alternative that an edit inserts, whole or in part. None if it inserts none."""
        for name, text in live.alternatives.items():
            further = after_edit(live, text, splice)
            if further is not None and is_more_than_a_key(text[live.progress : further[1]]):
                return self._switch(name, now)
        return None

    def _switch(self, name: str, now: float) -> list[Fact]:
        """Switch to a suggestion, if it is an alternative of the one on the screen.

        The one before is set aside, because the user may switch back. If something of it was inserted, it ends.
        """
        live = self._live
        text = None if live is None else live.alternatives.get(name)
        if live is None or text is None:
            return []
        progress = matched_length(text, with_line_feeds(live.in_document))
        if progress is None:
            return []
        facts: list[Fact] = []
        set_aside = {other: each for other, each in live.set_aside.items() if other != name}
        switched_to = live.set_aside.get(name)
        alternatives = {other: text for other, text in live.alternatives.items() if other != name}
        if live.inserted_parts or live.accept_reported_s is not None:
            live.set_aside = {}
            facts += self._end(ShowingEnding.SUPERSEDED, now)
        else:
            self._see(live, now, facts)
            visible_s = live.visible_before_s + now - live.began_s
            set_aside[live.id] = replace(live, visible_before_s=visible_s, set_aside={}, alternatives={})
            alternatives[live.id] = live.text
        if switched_to is None:
            switched_to = LiveShowing(name, live.uri, live.start, text, now, progress_at_start=progress)
        self._live = replace(
            switched_to,
            in_document=live.in_document,
            progress=progress,
            auto_closed=live.auto_closed,
            began_s=now,
            unchanged_since_s=now,
            last_step=None,
            alternatives=alternatives,
            set_aside=set_aside,
        )
        self._remember(name, name)
        return facts

    def _see(self, live: LiveShowing, now: float, facts: list[Fact]) -> None:
        if not live.seen and not self._client_reports_shown and now - live.unchanged_since_s >= SEEN_S:
            live.seen = True
            facts.append(ShowingEvent(live.id, ShowingSeen(by="inferred")))

    def _end(self, ending: ShowingEnding, now: float, splice: Splice | None = None, *, by: By = "inferred") -> list[Fact]:
        """End the showing on the screen. splice: the edit that ended it, if it was an edit."""
        live, self._live = self._live, None
        if live is None:
            return []
        facts: list[Fact] = []
        if live.accept_reported_s is not None and ending is not ShowingEnding.ACCEPTED:
            self._live = live
            return self._finish(live, now, splice)
        if live.inserted_parts and ending is not ShowingEnding.ACCEPTED:
            ending, by = ShowingEnding.PARTLY_ACCEPTED, live.by
        for each in live.set_aside.values():
            place = Anchor(live.start, live.start + min(len(each.in_document), len(live.in_document)), live.cursor)
            facts += self._close(replace(each, began_s=now), place, ShowingEnding.SUPERSEDED, "inferred", now, splice)
        self._see(live, now, facts)
        if live.inserted_parts and not live.seen:
            live.seen = True
            facts.append(ShowingEvent(live.id, ShowingSeen(by="inferred")))
        return facts + self._close(live, Anchor(live.start, live.cursor), ending, by, now, splice)

    def _close(self, live: LiveShowing, anchor: Anchor, ending: ShowingEnding, by: By, now: float, splice: Splice | None) -> list[Fact]:
        """Note that a showing has ended. anchor: where its text stands, or would stand, before the edit that ended it."""
        facts: list[Fact] = []
        if live.seen:
            if splice is not None:
                anchor.move(splice)
            # Up to the cursor, inserted parts and what was typed between them are as long in the document as in the text, except for white
            # space at the ends of lines.
            inserted = min(live.progress - live.inserted_parts[0][0], len(live.in_document)) if live.inserted_parts else 0
            facts.append(EndedShowing(live.id, live.uri, anchor, live.text, inserted))
        ended = ShowingEnded(
            ending=ending,
            by=by,
            characters=len(live.text),
            accepted=live.accepted,
            typed=max(0, live.progress - live.progress_at_start - live.accepted),
            visible_ms=(live.visible_before_s + now - live.began_s) * 1e3,
        )
        last = 0 if live.last_step is None or live.last_step[:2] in live.inserted_parts else live.last_step[1] - live.last_step[0]
        self._just_ended.append(_JustEnded(live.id, ended, now, last, not live.remaining))
        return facts

    def _correct(self, showing: str | None, ending: ShowingEnding, of: tuple[ShowingEnding, ...]) -> None:
        """The client reports how a showing ended. It counts if the showing has just ended, in one of the ways `of`."""
        for index, over in enumerate(self._just_ended):
            if over.id == showing and over.ended.ending in of:
                ended, last = over.ended, over.last
                accepted, typed = ended.accepted, ended.typed
                if ending is ShowingEnding.ACCEPTED and over.whole:
                    accepted, typed = accepted + last, typed - last
                elif ending is ShowingEnding.ACCEPTED and ended.ending is not ShowingEnding.ACCEPTED:
                    accepted = ended.characters - typed
                told = ShowingEnded(
                    ending=ending, by="client", characters=ended.characters, accepted=accepted, typed=typed, visible_ms=ended.visible_ms
                )
                self._just_ended[index] = replace(over, ended=told, last=0)

    def _remember(self, name: str, showing: str) -> None:
        self._showing_of[name] = showing
        while len(self._showing_of) > MAX_KNOWN:
            self._showing_of.popitem(last=False)
