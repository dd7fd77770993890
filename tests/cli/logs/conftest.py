"""Logs of events for the tests of `assay logs`."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_events import lives

from assay.server.tracking.event_writer import EventWriter, LogTarget


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.sqlite3"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def logged(path: Path) -> Path:
    """400 showings, of which 300 have a label, as the real writer leaves them."""
    writer = EventWriter(LogTarget(path))
    for each in lives(400):
        for showing, event in each:
            writer.add(event, showing)
    writer.close(60)
    return path
