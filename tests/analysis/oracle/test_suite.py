"""Where a suite's copy and plugin are put."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from assay.analysis.oracle.suite import install_plugin


@pytest.mark.parametrize(("user", "mode"), [(1000, 0o700), (0, 0o755)])
def test_only_where_programs_run_as_another_user_others_can_read_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, mode: int
) -> None:
    place = tmp_path / "place"
    place.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    install_plugin(place)
    assert stat.S_IMODE(place.stat().st_mode) == mode
