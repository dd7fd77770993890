"""The best isolation is found by trying, and where there is none, the message says how to get it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import assay
from assay.analysis.sandbox.isolation import best_level as isolation
from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation


@pytest.mark.skipif(sys.platform != "linux", reason="not Linux")
def test_the_level_that_is_found_runs_a_program() -> None:
    try:
        level = best_level()
    except NoIsolation as error:
        pytest.skip(str(error))
    assert level is not Isolation.NONE
    assert Jail(level).run([sys.executable, "-c", "print(1)"], cwd=Path("/tmp")).stdout == b"1\n"


@pytest.mark.skipif(sys.platform != "linux", reason="not Linux")
def test_what_fails_is_passed_over_and_where_all_fail_it_is_said_how_to_get_it(tmp_path: Path) -> None:
    # a bubblewrap that fails is first on the path; on a processor that no filter is known for, Landlock is not enough
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if str(folder).startswith(str(Path(tempfile.gettempdir()) / "pytest-")):
            folder.chmod(0o755)
    code = """
from assay.analysis.sandbox.isolation import best_level as isolation
from assay.analysis.sandbox.isolation.jail import Jail
try: print(isolation.best_level())
except isolation.NoIsolation as error: print('nothing')
isolation.best_level.cache_clear()
Jail.defect = lambda jail, defect=Jail.defect: 'tried' if jail.isolation == 'landlock' else defect(jail)
try: isolation.best_level()
except isolation.NoIsolation as error: print(error)
"""
    environment = os.environ | {"PYTHONPATH": str(Path(assay.__file__).parent.parent), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    first, message = ran.stdout.split("\n", 1)
    assert first == ("nothing" if Jail(Isolation.LANDLOCK).defect() else "landlock")
    assert "bubblewrap: bubblewrap: bwrap: No permissions to create new namespace" in message
    assert "landlock: tried" in message
    assert isolation.HOW in message
