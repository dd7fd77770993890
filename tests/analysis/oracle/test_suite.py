"""Where a suite's copy and plugin are put."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from shop_project import isolated

from assay.analysis.oracle.suite import ended, install_plugin
from assay.analysis.sandbox.isolation.limits import MAX_FILES, Limits


@pytest.mark.parametrize(("user", "mode"), [(1000, 0o700), (0, 0o755)])
def test_only_where_programs_run_as_another_user_others_can_read_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, mode: int
) -> None:
    place = tmp_path / "place"
    place.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    install_plugin(place)
    assert stat.S_IMODE(place.stat().st_mode) == mode


@pytest.mark.parametrize(
    ("code", "told", "doubtful"),
    [
        (
            "import os; os.chdir(os.environ['TMPDIR'])\nfor i in range(10**6): open(str(i), 'w').close()",
            f"it made more than {MAX_FILES} files",
            False,
        ),
        ("import os; os.kill(os.getpid(), 9)", "killed", True),
    ],
)
def test_only_a_kill_that_the_jail_gives_no_reason_for_is_doubtful(code: str, told: str, doubtful: bool) -> None:
    ran = isolated().run([sys.executable, "-I", "-S", "-c", code], cwd=Path("/tmp"), limits=Limits(cpu_s=60, wall_s=120))
    assert ran.ending == "signalled", ran
    assert (ended(ran).why, ended(ran).doubtful) == (told, doubtful)
