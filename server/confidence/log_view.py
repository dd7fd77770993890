"""What the log of events says of suggestions: every generation that was decided on, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...calibration.log.event_log import EventLog
from ...calibration.log.events import DriftFound, EventsDropped, RequestEnded, Row
from ...calibration.log.samples import Showing, showings_of, was_kept


@dataclass(frozen=True, slots=True)
class Decided:
    """A generation that the policy decided on, by the first request for it. kept: the label, None where it is not known."""

    time_ms: int
    request: RequestEnded
    shown: bool
    kept: bool | None

    @property
    def probability(self) -> float | None:
        """What was said then."""
        said = (self.request.confidence or {}).get("probability")
        return said if isinstance(said, float) else None

    @property
    def event(self) -> str | None:
        """What the probability was about."""
        said = (self.request.confidence or {}).get("event")
        return said if isinstance(said, str) else None

    @property
    def calibrator(self) -> str | None:
        """Whose it was."""
        said = (self.request.confidence or {}).get("calibrator")
        return said if isinstance(said, str) else None


@dataclass(frozen=True, slots=True)
class LogView:
    """A log as it was read. decided: in the order of their times; showings: that were seen; endings: how many of those ended in each way;
    dropped: events that were never written; drifted: ids of the calibrators of which the user was told that they no longer hold;
    since_ms: the oldest event's time.
    """

    path: Path
    since_ms: int | None
    decided: tuple[Decided, ...]
    endings: dict[str, int]
    showings: int
    dropped: int
    drifted: frozenset[str]


def read_log(path: Path) -> LogView:
    """What is in a log. Raises EventLogError where it can't be read; a log that is not there yet holds nothing."""
    if not path.exists():
        return LogView(path, None, (), {}, 0, 0, frozenset())
    aside = _Aside()
    with EventLog(path) as log:
        rows = list(aside.taken(log.rows()))
    showings = showings_of(rows)
    decided = [*aside.hidden.values(), *map(_decided, showings)]
    seen = [showing for showing in showings if showing.shown]
    return LogView(
        path,
        aside.since_ms,
        tuple(sorted(decided, key=lambda one: one.time_ms)),
        dict(Counter(showing.ended.ending.value for showing in seen if showing.ended is not None)),
        len(seen),
        aside.dropped,
        frozenset(aside.drifted),
    )


class _Aside:
    """Takes from rows what showings do not tell, and lets only those through that begin a showing or tell of one."""

    def __init__(self) -> None:
        self.since_ms: int | None = None
        self.hidden: dict[str, Decided] = {}
        self.dropped = 0
        self.drifted: set[str] = set()

    def taken(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows that are left."""
        for row in rows:
            event = row.event
            self.since_ms = row.time_ms if self.since_ms is None else min(self.since_ms, row.time_ms)
            if isinstance(event, EventsDropped):
                self.dropped += event.count
            elif isinstance(event, DriftFound):
                self.drifted.add(event.calibrator)
            elif not isinstance(event, RequestEnded):
                yield row
            elif event.outcome == "hidden":
                self.hidden.setdefault(row.showing or event.id, Decided(row.time_ms, event, shown=False, kept=None))
            elif row.showing in (None, event.id) or event.others:  # at each keystroke along a showing there is another request
                yield row


def _decided(showing: Showing) -> Decided:
    kept = was_kept(showing.ended, showing.kept) if showing.shown else None
    return Decided(showing.time_ms, showing.request, shown=True, kept=kept)
