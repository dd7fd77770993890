"""Reads the log of events: each generation that was shown or hidden, and what became of it. Repairs are none of these."""

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
    """A generation that was shown or hidden, with the first request for it. kept: the label, None if it is not known."""

    time_ms: int
    request: RequestEnded
    shown: bool
    kept: bool | None

    @property
    def probability(self) -> float | None:
        """The probability that was given then."""
        value = (self.request.confidence or {}).get("probability")
        return value if isinstance(value, float) else None

    @property
    def event(self) -> str | None:
        """The event that the probability was about."""
        value = (self.request.confidence or {}).get("event")
        return value if isinstance(value, str) else None

    @property
    def calibrator(self) -> str | None:
        """The id of the calibrator that gave it."""
        value = (self.request.confidence or {}).get("calibrator")
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class LogView:
    """What was read from a log.

    decided: sorted by time. showings: how many were seen. endings: how many of those ended in each way. dropped: events that were never
    written. drifted: ids of the calibrators that the user was told no longer hold. since_ms: the time of the oldest event.
    """

    path: Path
    since_ms: int | None
    decided: tuple[Decided, ...]
    endings: dict[str, int]
    showings: int
    dropped: int
    drifted: frozenset[str]


def read_log(path: Path) -> LogView:
    """Read a log. One that does not exist yet is empty. Raises EventLogError if it can't be read."""
    if not path.exists():
        return LogView(path, None, (), {}, 0, 0, frozenset())
    besides = _BesidesShowings()
    with EventLog(path) as log:
        rows = list(besides.filtered(log.rows()))
    showings = showings_of(rows)
    decided = [*besides.hidden.values(), *map(_decided, showings)]
    seen = [showing for showing in showings if showing.shown]
    return LogView(
        path,
        besides.since_ms,
        tuple(sorted(decided, key=lambda one: one.time_ms)),
        dict(Counter(showing.ended.ending.value for showing in seen if showing.ended is not None)),
        len(seen),
        besides.dropped,
        frozenset(besides.drifted),
    )


class _BesidesShowings:
    """Collects what showings do not have from the rows, and passes on only the rows that belong to showings."""

    def __init__(self) -> None:
        self.since_ms: int | None = None
        self.hidden: dict[str, Decided] = {}
        self.dropped = 0
        self.drifted: set[str] = set()

    def filtered(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows that belong to showings."""
        for row in rows:
            event = row.event
            self.since_ms = row.time_ms if self.since_ms is None else min(self.since_ms, row.time_ms)
            if isinstance(event, EventsDropped):
                self.dropped += event.count
            elif isinstance(event, DriftFound):
                self.drifted.add(event.calibrator)
            elif not isinstance(event, RequestEnded):
                yield row
            elif event.is_repair:
                continue
            elif event.outcome == "hidden":
                self.hidden.setdefault(row.showing or event.id, Decided(row.time_ms, event, shown=False, kept=None))
            elif row.showing in (None, event.id) or event.others:  # at each keystroke along a showing there is another request
                yield row


def _decided(showing: Showing) -> Decided:
    kept = was_kept(showing.ended, showing.kept) if showing.shown else None
    return Decided(showing.time_ms, showing.request, shown=True, kept=kept)
