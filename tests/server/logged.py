"""What tests read of a log of events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import Event, RequestEnded


def events_of(path: Path) -> list[Event]:
    """The events that are committed so far; a thread of its own writes, after the answer."""
    if not path.exists():
        return []
    with EventLog(path) as log:
        return [row.event for row in log.rows()]


def requests_of(path: Path) -> list[dict[str, Any]]:
    """How requests ended, as `RequestEnded` has it."""
    return [msgspec.structs.asdict(event) for event in events_of(path) if isinstance(event, RequestEnded)]


def bytes_of(path: Path) -> bytes:
    """All that is on the disk of a log."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))
