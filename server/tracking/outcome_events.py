"""What is on the screen, and what becomes of it: a state that is told what happened and when, and says which events follow.

One showing is on the screen at a time, for only the editor with the cursor shows a suggestion. It begins when a suggestion is given to the
editor, goes on while the user types along it or takes some of that back, and ends in exactly one `ShowingEnding`. Two suggestions are one
showing where the user sees the same: the text that is left of the one, closing brackets aside, is the text of the other.

Most editors tell nothing but edits and requests, so the rest is concluded from these. An edit that puts in more than one character of the
suggestion at once is the editor's doing: a word, a line, all of it. (A paste or a menu's item that is the same can't be told apart.) One
character at a time is typed. What is said by a client goes before, also when it says so a moment later.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...calibration.log.events import By, ShowingEnded, ShowingEnding, ShowingSeen
from ..documents.documents import Splice
from .anchors import Anchor, trimmed
from .live_showing import LiveShowing, along, at_cursor, grown, is_at_once, is_same, plain

# What stood for so long could be read: the eye rests on a word of a text for 225 to 250 ms (Rayner, Psychological Bulletin 124, 1998).
SEEN_S = 0.25
# A client that tells what its user did does so right behind the edit, so that for so long an ending may still be told otherwise.
SETTLE_S = 1.0
# Suggestions that a client may still tell something of.
MAX_KNOWN = 200
_Item = tuple[str, str]  # a suggestion's id and its text


@dataclass(frozen=True, slots=True)
class ShowingEvent:
    """An event of a showing."""

    showing: str
    event: ShowingSeen | ShowingEnded


@dataclass(frozen=True, slots=True)
class EndedShowing:
    """A showing that was seen has ended; its text stands, or would, in `anchor`, the last `put_in` characters of it by the editor."""

    showing: str
    uri: str
    anchor: Anchor
    text: str
    put_in: int = 0


Fact = ShowingEvent | EndedShowing


@dataclass(frozen=True, slots=True)
class _Over:
    """A showing that ended, until nobody can say otherwise. last: characters that came last, and may have been accepted; whole: whether
    nothing of it was left then."""

    id: str
    ended: ShowingEnded
    at_s: float
    last: int
    whole: bool


class OutcomeEvents:
    """The showing on the screen, and those that have just ended. Times are in seconds of one clock, and never go back."""

    def __init__(self) -> None:
        self._live: LiveShowing | None = None
        self._over: list[_Over] = []
        self._showing_of: OrderedDict[str, str] = OrderedDict()
        self._client_tells_shown = False

    @property
    def settles_s(self) -> float | None:
        """When `tick` has something to say; None where it has nothing to say."""
        since = [over.at_s for over in self._over[:1]]
        if self._live is not None and self._live.accepting_s is not None:
            since.append(self._live.accepting_s)
        return min(since) + SETTLE_S if since else None

    def offered(
        self, uri: str, start: int, stood: str, items: Sequence[_Item], now: float, *, invoked: bool = False
    ) -> tuple[str | None, list[Fact]]:
        """Suggestions are given to the editor, the first of which it will show.

        start: where they begin; stood: what stands from there to the cursor; invoked: the user asked for them, so that an editor that shows
        something goes on showing it, and they are what the user may go on to. Gives the showing that the first belongs to, or will when it
        is gone on to; None where that is none, because a text does not begin as what it would replace, and no editor shows such.
        """
        facts = self.tick(now)
        name, text = items[0]
        text = plain(text)
        live = self._live
        done = along(text, plain(stood))
        if live is not None and live.uri == uri and live.cursor == start + len(stood):
            if done is not None and (is_same(live.left, text[done:]) or invoked):
                fresh = {other: plain(text) for other, text in items}
                same = next((other for other, text in fresh.items() if is_same(live.left, text[done:])), None)
                if same is not None:
                    fresh.pop(same)
                    self._know(same, live.id)
                live.others = fresh or live.others
                return live.id if same == name else name, facts
            facts += self._end(ShowingEnding.SUPERSEDED, now)
        else:
            facts += self._end(ShowingEnding.IGNORED, now)
        if done is None:
            return None, facts
        others = {other: plain(text) for other, text in items[1:]}
        self._live = LiveShowing(name, uri, start, text, now, stood, done, done, since_s=now, others=others)
        self._know(name, name)
        return name, facts

    def asked(self, uri: str, cursor: int, between: Callable[[int, int], str], now: float) -> list[Fact]:
        """The editor asks for suggestions at a cursor: what it shows elsewhere is gone. between: the document's text between offsets."""
        facts, live = self.tick(now), self._live
        if live is not None and not (live.uri == uri and live.passes(cursor, between)):
            facts += self._end(ShowingEnding.IGNORED, now)
        return facts

    def nothing(self, uri: str, cursor: int, now: float) -> list[Fact]:
        """There is nothing to show at a cursor: an editor takes away what it shows there."""
        facts, live = self.tick(now), self._live
        if live is not None and live.uri == uri and live.cursor == cursor:
            facts += self._end(ShowingEnding.SUPERSEDED, now)
        return facts

    def edited(self, uri: str, splice: Splice, between: Callable[[int, int], str], now: float) -> list[Fact]:
        """A document was edited. between: its text between offsets, as it is now."""
        facts, live = self.tick(now), self._live
        if live is None or live.uri != uri:
            return facts
        splice = trimmed(splice) if splice.removed and splice.added else splice
        if not splice.removed and not splice.added:
            return facts
        self._see(live, now, facts)
        splice = at_cursor(live, splice, between)
        live.since_s = now
        if not live.is_at(splice.start, splice.end):
            return facts + self._end(ShowingEnding.IGNORED, now, splice)
        if (done := grown(live, live.text, splice)) is None:
            switched = self._accepted_other(live, splice, now)
            if switched is None:
                return facts + self._end(ShowingEnding.IGNORED, now, splice)
            facts += switched
            assert self._live is not None
            live = self._live
            done = grown(live, live.text, splice)
            assert done is not None
        return facts + self._went_along(live, *done, now)

    def reported_shown(self, name: str, now: float) -> list[Fact]:
        """A client says that it shows a suggestion."""
        self._client_tells_shown = True
        facts = self.tick(now) + self._switch(name, now)
        live = self._live
        if live is not None and not live.seen and self._showing_of.get(name) == live.id:
            live.seen = True
            facts.append(ShowingEvent(live.id, ShowingSeen(by="client")))
        return facts

    def reported_accepted(self, name: str, now: float) -> list[Fact]:
        """A client says that it put in a suggestion; its edit may come before or after."""
        facts = self.tick(now) + self._switch(name, now)
        live, showing = self._live, self._showing_of.get(name)
        if live is not None and live.id == showing:
            live.accepting_s = now
            return facts
        self._correct(
            showing,
            ShowingEnding.ACCEPTED,
            (ShowingEnding.ACCEPTED, ShowingEnding.TYPED_THROUGH, ShowingEnding.PARTLY_ACCEPTED, ShowingEnding.IGNORED),
        )
        return facts

    def reported_accepted_part(self, name: str, now: float) -> list[Fact]:
        """A client says that it put in a part of a suggestion; its edit may come before or after."""
        facts = self.tick(now) + self._switch(name, now)
        live, showing = self._live, self._showing_of.get(name)
        if live is not None and live.id == showing:
            live.by = "client"
            if live.last is None or now - live.last[2] > SETTLE_S:
                live.part_told = True
            elif (part := live.last[:2]) not in live.parts:
                live.parts.append(part)
            return facts
        over = next((over for over in self._over if over.id == showing), None)
        if over is not None and over.whole:
            self._correct(
                showing, ShowingEnding.ACCEPTED, (ShowingEnding.ACCEPTED, ShowingEnding.TYPED_THROUGH, ShowingEnding.PARTLY_ACCEPTED)
            )
        else:
            self._correct(showing, ShowingEnding.PARTLY_ACCEPTED, (ShowingEnding.PARTLY_ACCEPTED,))
        return facts

    def reported_rejected(self, name: str, now: float) -> list[Fact]:
        """A client says that the user dismissed a suggestion."""
        facts = self.tick(now) + self._switch(name, now)
        live, showing = self._live, self._showing_of.get(name)
        if live is not None and live.id == showing:
            return facts + self._end(ShowingEnding.REJECTED, now, by="client")
        self._correct(showing, ShowingEnding.REJECTED, (ShowingEnding.IGNORED, ShowingEnding.SUPERSEDED))
        return facts

    def closed(self, uri: str, now: float) -> list[Fact]:
        """A document is closed, or can't be followed any more."""
        facts = self.tick(now)
        return facts + self._end(ShowingEnding.SUPERSEDED, now) if self._live is not None and self._live.uri == uri else facts

    def shut(self, now: float) -> list[Fact]:
        """The server ends: so does what is on the screen."""
        facts = self.tick(now) + self._end(ShowingEnding.SUPERSEDED, now)
        facts += [ShowingEvent(over.id, over.ended) for over in self._over]
        self._over = []
        return facts

    def tick(self, now: float) -> list[Fact]:
        """What is certain by now."""
        facts: list[Fact] = []
        live = self._live
        if live is not None and live.accepting_s is not None and now - live.accepting_s >= SETTLE_S:
            facts += self._finish(live, now)
        while self._over and now - self._over[0].at_s >= SETTLE_S:
            over = self._over.pop(0)
            facts.append(ShowingEvent(over.id, over.ended))
        return facts

    def _went_along(self, live: LiveShowing, stood: str, done: int, closed: str, now: float) -> list[Fact]:
        added = stood[len(live.stood) :] if stood.startswith(live.stood) else live.text[live.done : done]
        before, live.stood, live.done, live.closed = live.done, stood, done, closed
        if done <= before:  # some of it was taken back
            live.parts = [(start, min(end, done)) for start, end in live.parts if start < done]
            live.last = None
            return [] if done >= live.given else self._end(ShowingEnding.IGNORED, now)
        live.last = before, done, now
        if live.part_told or is_at_once(added):
            live.parts.append((before, done))
            live.part_told = False
        if live.left:
            return []
        if live.accepting_s is not None:
            return self._finish(live, now)
        if live.parts and live.parts[-1] == (before, done):
            return self._end(ShowingEnding.ACCEPTED, now, by=live.by)
        return self._end(ShowingEnding.TYPED_THROUGH, now)

    def _finish(self, live: LiveShowing, now: float, splice: Splice | None = None) -> list[Fact]:
        """End what a client said it put in, also where its edit did not come or was another one."""
        if live.last is not None and live.last[:2] not in live.parts and not live.left:
            live.parts.append(live.last[:2])
        if live.left:
            live.parts.append((live.done, len(live.text)))
        return self._end(ShowingEnding.ACCEPTED, now, splice, by="client")

    def _accepted_other(self, live: LiveShowing, splice: Splice, now: float) -> list[Fact] | None:
        """Go on with the alternative that an edit puts in, or a part of it; None where it puts in none."""
        for name, text in live.others.items():
            further = grown(live, text, splice)
            if further is not None and is_at_once(text[live.done : further[1]]):
                return self._switch(name, now)
        return None

    def _switch(self, name: str, now: float) -> list[Fact]:
        """Go on with another alternative, where that is what a suggestion is. The one before is put aside: the user may come back to it."""
        live = self._live
        text = None if live is None else live.others.get(name)
        if live is None or text is None:
            return []
        done = along(text, plain(live.stood))
        if done is None:
            return []
        facts: list[Fact] = []
        aside, before = {other: each for other, each in live.aside.items() if other != name}, live.aside.get(name)
        others = {other: text for other, text in live.others.items() if other != name}
        if live.parts or live.accepting_s is not None:
            live.aside = {}
            facts += self._end(ShowingEnding.SUPERSEDED, now)
        else:
            self._see(live, now, facts)
            aside[live.id] = replace(live, seen_s=live.seen_s + now - live.began_s, aside={}, others={})
            others[live.id] = live.text
        if before is None:
            before = replace(
                live, id=name, text=text, given=done, seen=False, parts=[], by="inferred", part_told=False, accepting_s=None, seen_s=0.0
            )
        self._live = replace(
            before, stood=live.stood, done=done, closed=live.closed, began_s=now, since_s=now, last=None, others=others, aside=aside
        )
        self._know(name, name)
        return facts

    def _see(self, live: LiveShowing, now: float, facts: list[Fact]) -> None:
        if not live.seen and not self._client_tells_shown and now - live.since_s >= SEEN_S:
            live.seen = True
            facts.append(ShowingEvent(live.id, ShowingSeen(by="inferred")))

    def _end(self, ending: ShowingEnding, now: float, splice: Splice | None = None, *, by: By = "inferred") -> list[Fact]:
        """End what is on the screen, by an edit perhaps that is not along it."""
        live, self._live = self._live, None
        if live is None:
            return []
        facts: list[Fact] = []
        if live.accepting_s is not None and ending is not ShowingEnding.ACCEPTED:
            self._live = live
            return self._finish(live, now, splice)
        if live.parts and ending is not ShowingEnding.ACCEPTED:
            ending, by = ShowingEnding.PARTLY_ACCEPTED, live.by
        for each in live.aside.values():
            place = Anchor(live.start, live.start + min(len(each.stood), len(live.stood)), live.cursor)
            facts += self._close(replace(each, began_s=now), place, ShowingEnding.SUPERSEDED, "inferred", now, splice)
        self._see(live, now, facts)
        if live.parts and not live.seen:
            live.seen = True
            facts.append(ShowingEvent(live.id, ShowingSeen(by="inferred")))
        return facts + self._close(live, Anchor(live.start, live.cursor), ending, by, now, splice)

    def _close(self, live: LiveShowing, anchor: Anchor, ending: ShowingEnding, by: By, now: float, splice: Splice | None) -> list[Fact]:
        """What is said of a showing that has ended. anchor: where its text stands, or would, before the edit that ended it."""
        facts: list[Fact] = []
        if live.seen:
            if splice is not None:
                anchor.take(splice)
            # Up to the cursor, an editor's parts and what was typed between them are as long in the document as in the text, but for the
            # white space at lines' ends.
            put_in = min(live.done - live.parts[0][0], len(live.stood)) if live.parts else 0
            facts.append(EndedShowing(live.id, live.uri, anchor, live.text, put_in))
        ended = ShowingEnded(
            ending=ending,
            by=by,
            characters=len(live.text),
            accepted=live.accepted,
            typed=max(0, live.done - live.given - live.accepted),
            visible_ms=(live.seen_s + now - live.began_s) * 1e3,
        )
        last = 0 if live.last is None or live.last[:2] in live.parts else live.last[1] - live.last[0]
        self._over.append(_Over(live.id, ended, now, last, not live.left))
        return facts

    def _correct(self, showing: str | None, ending: ShowingEnding, of: tuple[ShowingEnding, ...]) -> None:
        """A client says how a showing ended that has just ended."""
        for index, over in enumerate(self._over):
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
                self._over[index] = replace(over, ended=told, last=0)

    def _know(self, name: str, showing: str) -> None:
        self._showing_of[name] = showing
        while len(self._showing_of) > MAX_KNOWN:
            self._showing_of.popitem(last=False)
