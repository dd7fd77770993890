from __future__ import annotations

from pathlib import Path

from assay.analysis.sandbox.isolation import cgroup

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
