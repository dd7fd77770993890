"""What the sandbox's tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from jails import TMP


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    """A folder that any user gets to: pytest's own are closed to others."""
    folder = TMP / f"assay-test-{os.getpid()}-{tmp_path.name}"
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
