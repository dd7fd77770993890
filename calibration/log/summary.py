"""The summary of a log of events: how many suggestions were shown, what became of them, how many were kept. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..metrics.bins import Bin, reliability, wilson
from .events import EventsDropped, RequestEnded, Row
from .samples import AT_S, Showing, showings_of, was_kept

# The ending of a showing that has not ended yet, or whose end is not in the log.
UNENDED = "unended"


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the showings that were seen.

    labelled: the number of them of which it is known whether they were kept. low, high: 95 % interval of the rate, None without labels.
    """

    name: str
    showings: int
    labelled: int
    kept: int
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class LogSummary:
    """The summary of a log.

    since_ms, until_ms: time of the first and last event, since 1970. None if there are none.
    requests: by outcome. endings: of the showings that were seen.
    all: the showings that were seen.
    repair_requests, repairs: the same of repairs, which are counted nowhere else.
    reliability: of those with a label and a probability of being kept.
    dropped: the number of events that were not written.
    """

    events: int
    servers: int
    since_ms: int | None
    until_ms: int | None
    requests: dict[str, int]
    endings: dict[str, int]
    all: Part
    by_band: tuple[Part, ...]
    by_task: tuple[Part, ...]
    by_language: tuple[Part, ...]
    reliability: tuple[Bin, ...]
    dropped: int
    repair_requests: dict[str, int]
    repairs: Part


def summary_of(rows: Iterable[Row], at_s: int = AT_S) -> LogSummary:
    """The summary of a log's events. at_s: as for `was_kept`."""
    events, dropped = 0, 0
    servers: set[str] = set()
    since: int | None = None
    until: int | None = None
    requests, repairs = Counter[str](), Counter[str]()

    def counted() -> Iterator[Row]:
        nonlocal events, dropped, since, until
        for row in rows:
            events += 1
            servers.add(row.server)
            since, until = row.time_ms if since is None else since, row.time_ms
            if isinstance(row.event, RequestEnded):
                (repairs if row.event.is_repair else requests)[row.event.outcome] += 1
            elif isinstance(row.event, EventsDropped):
                dropped += row.event.count
            yield row

    shown = [showing for showing in showings_of(counted()) if showing.shown]
    seen = [showing for showing in shown if not showing.request.is_repair]
    labels = [was_kept(showing.ended, showing.kept, at_s) for showing in seen]
    kept = [was_kept(showing.ended, showing.kept, at_s) for showing in shown if showing.request.is_repair]
    return LogSummary(
        events=events,
        servers=len(servers),
        since_ms=since,
        until_ms=until,
        requests=dict(requests.most_common()),
        endings=dict(Counter(UNENDED if showing.ended is None else showing.ended.ending.value for showing in seen).most_common()),
        all=_part("all", labels),
        by_band=_parts(seen, labels, _band),
        by_task=_parts(seen, labels, lambda showing: showing.request.task or ""),
        by_language=_parts(seen, labels, lambda showing: showing.request.language),
        reliability=_reliability(seen, labels),
        dropped=dropped,
        repair_requests=dict(repairs.most_common()),
        repairs=_part("repairs", kept),
    )


def _band(showing: Showing) -> str:
    said = showing.request.confidence or {}
    return str(said.get("band") or "")


def _parts(seen: Sequence[Showing], labels: Sequence[bool | None], name_of: Callable[[Showing], str]) -> tuple[Part, ...]:
    """By name, those with the most showings first."""
    parts: dict[str, list[bool | None]] = {}
    for showing, label in zip(seen, labels, strict=True):
        parts.setdefault(name_of(showing), []).append(label)
    return tuple(_part(name, parts[name]) for name in sorted(parts, key=lambda name: (-len(parts[name]), name)))


def _part(name: str, labels: Sequence[bool | None]) -> Part:
    known = [label for label in labels if label is not None]
    low, high = wilson(sum(known), len(known)) if known else (None, None)
    return Part(name, len(labels), len(known), sum(known), low, high)


def _reliability(seen: Sequence[Showing], labels: Sequence[bool | None]) -> tuple[Bin, ...]:
    pairs = [
        (float(probability), label)
        for showing, label in zip(seen, labels, strict=True)
        if label is not None
        and (said := showing.request.confidence) is not None
        and said.get("event") == "kept"
        and isinstance(probability := said.get("probability"), float | int)
    ]
    return tuple(reliability([p for p, _ in pairs], [label for _, label in pairs])) if pairs else ()
