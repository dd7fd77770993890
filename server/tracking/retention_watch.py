"""The retention watch: how much of a suggestion is still in the document some time after its showing ended, and at each save.

Rejected and ignored suggestions are watched as well as accepted ones, because the user may type the same in their place. A text is held no
longer than until the last check, and only for a limited number of showings. If it can no longer be known what stands there, that is logged
once.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

from ...calibration.log.events import RETENTION_CHECKED_AFTER_S, RetentionChecked
from ...calibration.log.retention import retained_share, text_to_search, tokens_of
from ..documents.documents import Document, Splice
from .anchors import Anchor, move_anchors
from .logged_outcomes import EndedShowing

# OutcomeEvents that are watched: one every second for 10 minutes. An edit then costs 60 µs.
MAX_WATCHED = 600
# If a timer is this late, or the two clocks drift apart by this much, the machine slept, and its user was away.
LATE_S = 5.0
# An editor that renames a file closes it and opens it under the new name within this time.
REOPEN_S = 2.0
# Longer texts are not checked, so that a check takes at most 2 ms. Nobody types so much into a suggestion in 10 minutes.
MAX_CHARACTERS = 20_000
# Checks in one go, so that a save does not hold the event loop for long (a check of a line takes 50 µs).
MAX_CHECKS = 32

Why = Literal["closed", "asleep", "lost"]


@dataclass(slots=True, eq=False)
class _Watched:
    """A showing that ended. inserted, stood: as in `EndedShowing`. checks: how many were made."""

    showing: str
    uri: str
    anchor: Anchor
    text: str
    ended_s: float
    inserted: int
    stood: str
    checks: int = 0
    gone: bool = False
    share_at_save: float | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check. uri: of the document. found: the text that stands there, None if it is not known."""

    showing: str
    uri: str
    event: RetentionChecked
    found: str | None


@dataclass(frozen=True, slots=True)
class _Closed:
    """A closed document, which may be opened again under another name. text: the hash of its text."""

    watched: list[_Watched]
    text: int
    until_s: float


class RetentionWatch:
    """Watches the anchors of ended showings. Times are seconds: `now` of a monotonic clock, `wall` of the wall clock."""

    def __init__(self, document_of: Callable[[str], Document | None]) -> None:
        """document_of: gives the open document of a URI, None if it may differ from the editor's."""
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
        """When `check` will have something to do. None if nothing is watched."""
        if self._saved:
            return 0.0
        while self._due and self._due[0][2].gone:
            heappop(self._due)
        times = [closed.until_s for closed in self._closed.values()] + [due for due, _, _ in self._due[:1]]
        return min(times, default=None)

    def follow(self, ended: EndedShowing, now: float, wall: float) -> list[CheckResult]:
        """Watch a showing that has just ended. If there are too many, the oldest is given up, and that is returned."""
        if not self._all:
            self._clocks = now, wall
        self._count += 1
        watched = _Watched(ended.showing, ended.uri, ended.anchor, ended.text, now, ended.inserted, ended.stood)
        self._all[id(watched)] = watched
        self._by_uri.setdefault(ended.uri, []).append(watched)
        heappush(self._due, (now + RETENTION_CHECKED_AFTER_S[0], self._count, watched))
        if ended.inserted:
            self._undoable[ended.uri] = watched
        return [self._give_up(next(iter(self._all.values())), "lost")] if len(self._all) > MAX_WATCHED else []

    def edited(self, uri: str, splice: Splice) -> list[CheckResult]:
        """A document was edited. Returns what follows for the showings that are watched there."""
        watched = self._by_uri.get(uri)
        if not watched:
            return []
        checks = []
        last = self._undoable.pop(uri, None)
        is_undone = last is not None and not last.stood and _is_undo(last, splice)
        lost = move_anchors([each.anchor for each in watched], splice)
        if last is not None and (is_undone or self._stands_again(last)):
            # It stays watched: redo may bring it back.
            checks.append(CheckResult(last.showing, uri, RetentionChecked(after_s=None, share=0.0, why="undone"), None))
        return checks + [self._give_up(each, "lost") for each in list(watched) if each.anchor in lost]

    def saved(self, uri: str) -> None:
        """A document was saved. The next `check` checks what is watched there."""
        waiting = set(map(id, self._saved))
        self._saved += [each for each in self._by_uri.get(uri, ()) if id(each) not in waiting]

    def closed(self, uri: str, text: str, now: float) -> None:
        """A document with this text is closed."""
        watched = self._by_uri.pop(uri, [])
        self._undoable.pop(uri, None)
        if watched:
            self._closed[uri] = _Closed(watched, hash(text), now + REOPEN_S)

    def renamed(self, old: str, new: str) -> None:
        """A file or a folder was renamed. Its documents will be closed and opened again, or already were."""
        for uri in {*self._by_uri, *self._closed}:
            if uri == old or uri.startswith(old.rstrip("/") + "/"):
                self._new_names[new + uri[len(old) :]] = uri

    def opened(self, uri: str, text: str) -> list[CheckResult]:
        """A document is opened. If one with the same text was closed just now, its showings are watched on; others are given up."""
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
        return [] if other is None else [self._give_up(each, "closed") for each in other.watched]

    def lost(self, uri: str) -> list[CheckResult]:
        """The edits of a document can no longer be followed."""
        self._undoable.pop(uri, None)
        return [self._give_up(each, "lost") for each in self._by_uri.pop(uri, [])]

    def check(self, now: float, wall: float) -> list[CheckResult]:
        """Make the checks that are due, at most `MAX_CHECKS`. If more are due, `next_s` says so."""
        asleep = self._asleep(now, wall)
        checks = []
        for uri in [uri for uri, closed in self._closed.items() if closed.until_s <= now]:
            checks += [self._give_up(each, "closed") for each in self._closed.pop(uri).watched]
        if not self._closed:
            self._new_names.clear()
        while self._saved and len(checks) < MAX_CHECKS:
            watched = self._saved.popleft()
            if not watched.gone and (check := self._at_save(watched)) is not None:
                checks.append(check)
        while self._due and self._due[0][0] <= now and len(checks) < MAX_CHECKS:
            due, number, watched = heappop(self._due)
            if watched.gone:
                continue
            if asleep or now - due > LATE_S:
                checks.append(self._give_up(watched, "asleep"))
                continue
            checks.append(self._checked(watched, after_s=RETENTION_CHECKED_AFTER_S[watched.checks]))
            watched.checks += 1
            if watched.checks == len(RETENTION_CHECKED_AFTER_S):
                self._remove(watched)
            elif not watched.gone:
                heappush(self._due, (watched.ended_s + RETENTION_CHECKED_AFTER_S[watched.checks], number, watched))
        if asleep:
            checks += [self._give_up(each, "asleep") for each in list(self._all.values())]
        return checks

    def shut(self) -> list[CheckResult]:
        """The server ends: give up all."""
        return [self._give_up(each, "closed") for each in list(self._all.values())]

    def _asleep(self, now: float, wall: float) -> bool:
        before, self._clocks = self._clocks, (now, wall)
        return before is not None and abs((wall - before[1]) - (now - before[0])) > LATE_S

    def _checked(self, watched: _Watched, after_s: int | None) -> CheckResult:
        found = self._found(watched)
        if found is None:
            return self._give_up(watched, "lost") if watched.uri not in self._closed else self._give_up(watched, "closed")
        event = RetentionChecked(after_s=after_s, share=self._share(watched, found))
        return CheckResult(watched.showing, watched.uri, event, found)

    def _at_save(self, watched: _Watched) -> CheckResult | None:
        """The check at a save. None if it is the same as at the last save."""
        found = self._found(watched)
        if found is None:
            return None
        event = RetentionChecked(after_s=None, share=self._share(watched, found))
        before, watched.share_at_save = watched.share_at_save, event.share
        return None if before == event.share else CheckResult(watched.showing, watched.uri, event, found)

    def _share(self, watched: _Watched, found: str) -> float:
        """How much of a text stands in `found`. Of a repair nothing, if what it replaced stands there again: most of that is alike."""
        return 0.0 if self._stands_again(watched) else retained_share(watched.text, found)

    def _stands_again(self, watched: _Watched) -> bool:
        document, anchor = self._document_of(watched.uri), watched.anchor
        if not watched.stood or document is None or anchor.reach - anchor.start > MAX_CHARACTERS:
            return False
        return tokens_of(document.between(anchor.start, max(anchor.end, anchor.reach))) == tokens_of(watched.stood)

    def _found(self, watched: _Watched) -> str | None:
        """The text in the place of the showing's text. None if it is not known."""
        document, anchor = self._document_of(watched.uri), watched.anchor
        if document is None or watched.uri in self._closed or anchor.end - anchor.start > MAX_CHARACTERS:
            return None
        behind = document.between(anchor.end, min(anchor.reach, anchor.end + MAX_CHARACTERS))
        return text_to_search(watched.text, document.between(anchor.start, anchor.end), behind)

    def _give_up(self, watched: _Watched, why: Why) -> CheckResult:
        """Stop watching a showing before its last check, and say why."""
        self._remove(watched)
        after_s = RETENTION_CHECKED_AFTER_S[min(watched.checks, len(RETENTION_CHECKED_AFTER_S) - 1)]
        return CheckResult(watched.showing, watched.uri, RetentionChecked(after_s=after_s, share=None, why=why), None)

    def _remove(self, watched: _Watched) -> None:
        watched.gone = True
        self._all.pop(id(watched), None)
        for there in (self._by_uri.get(watched.uri), closed.watched if (closed := self._closed.get(watched.uri)) else None):
            if there is not None and watched in there:
                there.remove(watched)
        if self._undoable.get(watched.uri) is watched:
            del self._undoable[watched.uri]
        if not self._by_uri.get(watched.uri, True):
            del self._by_uri[watched.uri]


def _is_undo(watched: _Watched, splice: Splice) -> bool:
    """Whether an edit removes all that the editor inserted, and inserts nothing."""
    anchor = watched.anchor
    return not splice.added and splice.end == anchor.end and splice.start <= anchor.end - watched.inserted and anchor.end > anchor.start
