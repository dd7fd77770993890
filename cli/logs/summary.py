"""`assay logs summary`: counts the shown suggestions, what became of them, and how many you kept."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..exit_codes import DONE
from ..options import Subparsers, command_parser, set_run
from ..terminal import print_json, show
from .log import count, mib, opened, say_skipped, since_ms

if TYPE_CHECKING:
    from ...calibration.log.summary import LogSummary, Part


def register(actions: Subparsers) -> None:
    """Add `assay logs summary`."""
    parser = command_parser(actions, "summary", "count what was shown, what became of it, and how much of it was kept")
    set_run(parser, run, "days", "log", "json")


def run(arguments: argparse.Namespace) -> int:
    """Print the summary. Raises EventLogError."""
    from ...calibration.log.samples import AT_S
    from ...calibration.log.summary import summary_of

    skipped = Counter[str]()
    with opened(arguments.log) as log:
        path, size = log.path, log.size
        found = summary_of(log.rows(skipped, since_ms=since_ms(arguments.days)), AT_S)
    if arguments.json:
        print_json({"path": str(path), "bytes": size, "at_s": AT_S, "passed_over": dict(skipped), **asdict(found)})
    else:
        show(*lines_of(found, path, size, AT_S))
        say_skipped(skipped)
    return DONE


def lines_of(found: LogSummary, path: Path, size: int, at_s: int) -> Iterable[str]:
    """The summary in words. size: of the log, in bytes. at_s: how long after a suggestion ended it counts as kept."""
    yield f"{path}: {count(found.events, 'event')} of {count(found.servers, 'server')}, {mib(size)}"
    if found.since_ms is None or found.until_ms is None:
        return
    yield f"from {_minute(found.since_ms)} to {_minute(found.until_ms)}"
    yield f"requests: {sum(found.requests.values()):,}: {_listed(found.requests)}"
    if found.dropped:
        yield f"dropped: {found.dropped:,} events, because they came faster than they could be written"
    yield f"suggestions that were seen: {found.all.showings:,}: {_listed(found.endings)}"
    yield f"kept after {at_s} s: {_rate(found.all)}"
    for title, parts in (("by band", found.by_band), ("by task", found.by_task), ("by language", found.by_language)):
        yield f"{title}:"
        yield from (f"  {part.name or '(none)'}: {part.showings:,} shown, {_rate(part)}" for part in parts)
    if found.repair_requests:
        yield f"repairs: {sum(found.repair_requests.values()):,} requests: {_listed(found.repair_requests)}"
        yield f"  {found.repairs.showings:,} shown or put in, kept after {at_s} s: {_rate(found.repairs)}"


def _rate(part: Part) -> str:
    if part.low is None or part.high is None:
        return "not known for any"
    return f"{part.kept / part.labelled:.0%} ({part.low:.0%} to {part.high:.0%}): {part.kept:,} of {part.labelled:,} that are known"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items()) or "none"


def _minute(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1e3).astimezone().isoformat(sep=" ", timespec="minutes")
