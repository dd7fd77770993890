"""The best isolation is found by trying, and where there is none, the message says how to get it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.analysis.sandbox.isolation import cgroup
from assay.analysis.sandbox.isolation import levels as isolation
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation, NoIsolation, available
from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging.result import Ending, Result


@pytest.mark.skipif(sys.platform != "linux", reason="not Linux")
def test_the_level_that_is_found_runs_a_program() -> None:
    try:
        level = available()
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
from assay.analysis.sandbox.isolation import levels as isolation
from assay.analysis.sandbox.isolation.jail import Jail
try: print(isolation.available())
except isolation.NoIsolation as error: print('nothing')
isolation.available.cache_clear()
Jail.defect = lambda jail, defect=Jail.defect: 'tried' if jail.isolation == 'landlock' else defect(jail)
try: isolation.available()
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


def test_the_label_of_a_failed_sandbox_is_unknown() -> None:
    labels = {ending: Result(ending).label for ending in Ending}
    assert labels.pop(Ending.PASSED) is True
    assert labels.pop(Ending.INFRASTRUCTURE) is None
    assert set(labels.values()) == {False}


@given(st.sampled_from(["cpu_s", "wall_s", "memory_bytes", "processes", "output_bytes", "file_bytes"]), st.floats(max_value=0))
def test_a_limit_that_is_not_positive_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})


VERSION_1 = """\
30 23 0:26 / /sys/fs/cgroup/pids rw,relatime shared:11 - cgroup cgroup rw,pids
31 23 0:27 /docker/abc /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
"""


def test_the_groups_of_version_1_are_found() -> None:
    parents = cgroup.find_parents(VERSION_1, "8:pids:/\n4:memory:/docker/abc/inner\n0::/\n")
    assert parents == cgroup.Parents(1, Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup/memory/inner"))


def test_the_groups_of_version_2_are_made_where_a_group_above_hands_them_down(tmp_path: Path) -> None:
    own = tmp_path / "user.slice" / "app"
    own.mkdir(parents=True)
    for folder, handed in ((own, ""), (own.parent, "cpu memory pids"), (tmp_path, "cpu")):
        (folder / "cgroup.subtree_control").write_text(handed)
    mounts = f"30 23 0:26 / {tmp_path} rw - cgroup2 cgroup2 rw\n"
    assert cgroup.find_parents(mounts, "0::/user.slice/app\n") == cgroup.Parents(2, own.parent, own.parent)
    assert cgroup.find_parents("", "0::/\n") == cgroup.Parents(1, None, None)


def test_how_to_get_isolation_names_the_usual_ways() -> None:
    for word in ("apt install", "dnf install", "pacman", "WSL 2", "--sandbox none"):
        assert word in isolation.HOW
