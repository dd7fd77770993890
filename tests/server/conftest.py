"""What the tests of several rooms of the server begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.inference.completion.settings import Settings
from assay.inference.opening import open_model


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a server is told to log."""
    return tmp_path / "log.sqlite3"


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder and a cache in which no test has left anything."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="session")
def answering_ids(answering_gguf: Path) -> tuple[str, str]:
    """Of the model that answers, and of what it is shown."""
    with open_model(answering_gguf) as model:
        return model.fingerprint.id, Settings().fingerprint(model.layout, model.context_length)
