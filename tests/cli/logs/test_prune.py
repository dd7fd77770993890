"""`assay logs prune`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from log_commands import run
from synthetic_events import new, request

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import EventsDropped


def test_prune_keeps_to_the_days_and_the_size(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EventLog(path, create=True) as log:
        log.append([new(EventsDropped(count=1), time_ms=0)] + [new(request(f"{n}"), time_ms=2**42) for n in range(3000)])
        assert run("prune", "--log", path, "--days", "100") == 0
        assert "1 event deleted" in capsys.readouterr().err
        assert run("prune", "--log", path, "--megabytes", "1") == 0
        assert log.size <= 2**20


def test_a_command_leaves_the_log_to_its_owner(logged: Path) -> None:
    before = os.umask(0)
    try:
        assert run("prune", "--log", logged) == 0
    finally:
        os.umask(before)
    assert logged.stat().st_mode & 0o777 == 0o600
