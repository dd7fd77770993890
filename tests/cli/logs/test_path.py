"""`assay logs path`."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_commands import run


def test_the_path_is_that_of_the_users_own_log_or_the_one_that_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("path") == 0
    assert capsys.readouterr().out == f"{home / 'events.sqlite3'}\n"
    assert run("path", "--log", "x") == 0
    assert capsys.readouterr().out == "x\n"
