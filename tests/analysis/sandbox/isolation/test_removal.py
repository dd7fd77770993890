"""What a program left is removed, however it lies and whatever it allows."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.analysis.sandbox.isolation.removal import remove

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not Linux")
OTHER = 61183


@contextmanager
def as_an_ordinary_user(folder: Path) -> Iterator[None]:
    """For root, whom no permission stops: this thread looks at files as another user, to whom the folder is given."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(folder, OTHER, OTHER)
    folder.parent.chmod(0o777)
    files_as = ctypes.CDLL(None).setfsuid
    files_as(OTHER)
    try:
        yield
    finally:
        files_as(0)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2000])
@pytest.mark.parametrize("mode", [0, 0o500])
def test_folders_that_allow_nothing_are_removed_however_deep(shared: Path, depth: int, mode: int) -> None:
    place = shared / "place"
    place.mkdir()
    with as_an_ordinary_user(place):
        folders = [os.open(place, os.O_RDONLY)]
        for _ in range(depth):
            os.mkdir("in", dir_fd=folders[-1])
            folders.append(os.open("in", os.O_RDONLY, dir_fd=folders[-1]))
            if len(folders) > 4:
                os.close(folders.pop(0))
        for folder in folders:
            os.close(os.open("file", os.O_CREAT, dir_fd=folder))
            os.fchmod(folder, mode)
            os.close(folder)
        remove(str(place))
    assert not place.exists()


def test_where_a_link_leads_to_nothing_changes(shared: Path) -> None:
    kept = shared / "kept"
    kept.mkdir(mode=0o500)
    (shared / "place" / "in" / "in").mkdir(parents=True)
    for folder in ("place", "place/in", "place/in/in"):
        (shared / folder / "link").symlink_to(kept)
    remove(str(shared / "place"))
    assert [path.name for path in shared.iterdir()] == ["kept"]
    assert kept.stat().st_mode & 0o777 == 0o500
