"""How much of what was suggested stands in the document later: looked at some times after a showing ended, and when the file is saved.

What was dismissed or passed over is followed as well as what was accepted: the user may type the same at its place. Texts are held no
longer than the last look, and of so many showings at most. Where nobody can know any more what stands there, that is said once.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

from ...calibration.log.events import RETENTION_CHECKED_AFTER_S, RetentionChecked
from ...calibration.log.retention import retained_share, text_to_search
from ..documents.documents import Document, Splice
from .anchors import Anchor, move_anchors
from .outcome_events import EndedShowing

# OutcomeEvents that are watched: one every second for 10 minutes. An edit then costs 60 µs.
MAX_WATCHED = 600
# A timer that comes so late, or clocks that differ by so much more than before, mean that the machine slept, and its user was away.
LATE_S = 5.0
# A file that is renamed is closed, and opened under its other name, within so long.
REOPEN_S = 2.0
# Longer texts are not looked at, so that a look takes 2 ms at most: more was put into what was accepted than anybody types in 10 minutes.
MAX_CHARACTERS = 20_000
# Looks at once, so that the event loop does not wait for all of them after a save (50 µs each, where a suggestion is a line).
MAX_CHECKS = 32

Why = Literal["closed", "asleep", "lost"]


@dataclass(slots=True, eq=False)
class _Watched:
    """An ended showing. put_in: of its text, so many characters at the end are the editor's; looks: how many were taken."""

    showing: str
    uri: str
    anchor: Anchor
    text: str
    ended_s: float
    put_in: int
    looks: int = 0
    gone: bool = False
    at_save: float | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What is said of a showing. uri: of its document; found: the text that stands there, None where nobody knows."""

    showing: str
    uri: str
    kept: RetentionChecked
    found: str | None


@dataclass(frozen=True, slots=True)
class _Closed:
    """A document that was closed, perhaps to be opened under another name; text: the hash of it."""

    watched: list[_Watched]
    text: int
    until_s: float


class RetentionWatch:
    """Follows the places of showings that have ended. Times are in seconds: `now` of a clock that never goes back, `wall` of the day's."""

    def __init__(self, document_of: Callable[[str], Document | None]) -> None:
        """document_of: the open document of a URI, None where it is not known to equal the editor's."""
        self._document_of = document_of
        self._by_uri: dict[str, list[_Watched]] = {}
        self._all: OrderedDict[int, _Watched] = OrderedDict()
        self._due: list[tuple[float, int, _Watched]] = []
        self._saved: deque[_Watched] = deque()
        self._closed: dict[str, _Closed] = {}
        self._new_names: dict[str, str] = {}
        self._undoable: dict[str, _Watched] = {}
        self._count = 0
        self._clocks: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self._all)

    @property
    def next_s(self) -> float | None:
        """When `look` has something to do; None where nothing is watched."""
        if self._saved:
            return 0.0
        while self._due and self._due[0][2].gone:
            heappop(self._due)
        times = [closed.until_s for closed in self._closed.values()] + [due for due, _, _ in self._due[:1]]
        return min(times, default=None)

    def follow(self, left: EndedShowing, now: float, wall: float) -> list[Look]:
        """Watch a showing that has just ended. What is said of the oldest, where there are too many."""
        if not self._all:
            self._clocks = now, wall
        self._count += 1
        watched = _Watched(left.showing, left.uri, left.anchor, left.text, now, left.put_in)
        self._all[id(watched)] = watched
        self._by_uri.setdefault(left.uri, []).append(watched)
        heappush(self._due, (now + RETENTION_CHECKED_AFTER_S[0], self._count, watched))
        if left.put_in:
            self._undoable[left.uri] = watched
        return [self._let_go(next(iter(self._all.values())), "lost")] if len(self._all) > MAX_WATCHED else []

    def edited(self, uri: str, splice: Splice) -> list[Look]:
        """A document was edited: what that says of those that are watched there."""
        watched = self._by_uri.get(uri)
        if not watched:
            return []
        looks = []
        if (last := self._undoable.pop(uri, None)) is not None and _takes_back(last, splice):
            looks.append(Look(last.showing, uri, RetentionChecked(after_s=None, share=0.0, why="undone"), None))  # and it may be done again
        lost = move_anchors([each.anchor for each in watched], splice)
        return looks + [self._let_go(each, "lost") for each in list(watched) if each.anchor in lost]

    def saved(self, uri: str) -> None:
        """A document was saved: `look` looks at what is watched there."""
        waiting = set(map(id, self._saved))
        self._saved += [each for each in self._by_uri.get(uri, ()) if id(each) not in waiting]

    def closed(self, uri: str, text: str, now: float) -> None:
        """A document with this text is closed."""
        watched = self._by_uri.pop(uri, [])
        self._undoable.pop(uri, None)
        if watched:
            self._closed[uri] = _Closed(watched, hash(text), now + REOPEN_S)

    def renamed(self, old: str, new: str) -> None:
        """A file or a folder has another name: documents in it will be, or were, closed and opened again."""
        for uri in {*self._by_uri, *self._closed}:
            if uri == old or uri.startswith(old.rstrip("/") + "/"):
                self._new_names[new + uri[len(old) :]] = uri

    def opened(self, uri: str, text: str) -> list[Look]:
        """A document with this text is opened; it goes on what was closed with it just now. What is said of what it is not."""
        before = self._new_names.pop(uri, uri)
        if not self._closed:
            return []
        same = [name for name, closed in self._closed.items() if closed.text == hash(text)]
        if same:
            closed = self._closed.pop(before if before in same else same[-1])
            for each in closed.watched:
                each.uri = uri
            self._by_uri.setdefault(uri, []).extend(closed.watched)
            return []
        other = self._closed.pop(uri, None)
        return [] if other is None else [self._let_go(each, "closed") for each in other.watched]

    def lost(self, uri: str) -> list[Look]:
        """A document can't be followed any more."""
        self._undoable.pop(uri, None)
        return [self._let_go(each, "lost") for each in self._by_uri.pop(uri, [])]

    def look(self, now: float, wall: float) -> list[Look]:
        """What there is to say by now, of some at once: `next_s` is then at once again."""
        asleep = self._asleep(now, wall)
        looks = []
        for uri in [uri for uri, closed in self._closed.items() if closed.until_s <= now]:
            looks += [self._let_go(each, "closed") for each in self._closed.pop(uri).watched]
        if not self._closed:
            self._new_names.clear()
        while self._saved and len(looks) < MAX_CHECKS:
            watched = self._saved.popleft()
            if not watched.gone and (look := self._at_save(watched)) is not None:
                looks.append(look)
        while self._due and self._due[0][0] <= now and len(looks) < MAX_CHECKS:
            due, number, watched = heappop(self._due)
            if watched.gone:
                continue
            if asleep or now - due > LATE_S:
                looks.append(self._let_go(watched, "asleep"))
                continue
            looks.append(self._looked(watched, after_s=RETENTION_CHECKED_AFTER_S[watched.looks]))
            watched.looks += 1
            if watched.looks == len(RETENTION_CHECKED_AFTER_S):
                self._forget(watched)
            elif not watched.gone:
                heappush(self._due, (watched.ended_s + RETENTION_CHECKED_AFTER_S[watched.looks], number, watched))
        if asleep:
            looks += [self._let_go(each, "asleep") for each in list(self._all.values())]
        return looks

    def shut(self) -> list[Look]:
        """The server ends, and nobody looks any more."""
        return [self._let_go(each, "closed") for each in list(self._all.values())]

    def _asleep(self, now: float, wall: float) -> bool:
        before, self._clocks = self._clocks, (now, wall)
        return before is not None and abs((wall - before[1]) - (now - before[0])) > LATE_S

    def _looked(self, watched: _Watched, after_s: int | None) -> Look:
        found = self._found(watched)
        if found is None:
            return self._let_go(watched, "lost") if watched.uri not in self._closed else self._let_go(watched, "closed")
        return Look(watched.showing, watched.uri, RetentionChecked(after_s=after_s, share=retained_share(watched.text, found)), found)

    def _at_save(self, watched: _Watched) -> Look | None:
        """A look at a save; None where it says what the one before said."""
        found = self._found(watched)
        if found is None:
            return None
        kept = RetentionChecked(after_s=None, share=retained_share(watched.text, found))
        before, watched.at_save = watched.at_save, kept.share
        return None if before == kept.share else Look(watched.showing, watched.uri, kept, found)

    def _found(self, watched: _Watched) -> str | None:
        """The text that stands where the showing's text does or would; None where that is not known."""
        document, anchor = self._document_of(watched.uri), watched.anchor
        if document is None or watched.uri in self._closed or anchor.end - anchor.start > MAX_CHARACTERS:
            return None
        behind = document.between(anchor.end, min(anchor.reach, anchor.end + MAX_CHARACTERS))
        return text_to_search(watched.text, document.between(anchor.start, anchor.end), behind)

    def _let_go(self, watched: _Watched, why: Why) -> Look:
        """Say for the last time something of a showing, that was to be looked at later."""
        self._forget(watched)
        after_s = RETENTION_CHECKED_AFTER_S[min(watched.looks, len(RETENTION_CHECKED_AFTER_S) - 1)]
        return Look(watched.showing, watched.uri, RetentionChecked(after_s=after_s, share=None, why=why), None)

    def _forget(self, watched: _Watched) -> None:
        watched.gone = True
        self._all.pop(id(watched), None)
        for there in (self._by_uri.get(watched.uri), closed.watched if (closed := self._closed.get(watched.uri)) else None):
            if there is not None and watched in there:
                there.remove(watched)
        if self._undoable.get(watched.uri) is watched:
            del self._undoable[watched.uri]
        if not self._by_uri.get(watched.uri, True):
            del self._by_uri[watched.uri]


def _takes_back(watched: _Watched, splice: Splice) -> bool:
    """Whether an edit takes away again all that the editor put in, and puts in nothing."""
    anchor = watched.anchor
    return not splice.added and splice.end == anchor.end and splice.start <= anchor.end - watched.put_in and anchor.end > anchor.start
