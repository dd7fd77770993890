"""Folders of killed processes are removed, and those of living ones never."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.analysis.oracle.scratch_folder import ScratchFolder, remove_stale

HOLD = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from assay.analysis.oracle.scratch_folder import ScratchFolder
place = ScratchFolder()
(place.path / "file").touch()
print(place.path, flush=True)
sys.stdin.read()
"""


@contextmanager
def elsewhere(temporary: Path) -> Iterator[Path]:
    """A place of another process, which is killed at the end."""
    command = [sys.executable, "-c", HOLD, str(temporary)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield Path(process.stdout.readline().strip())
        finally:
            process.kill()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_place_lives_as_long_as_its_process_and_is_removed_by_the_next_one(temporary: Path) -> None:
    with elsewhere(temporary) as theirs:
        mine = ScratchFolder()
        remove_stale(temporary)
        assert (theirs / "file").exists()
        assert mine.path.is_dir()
    assert (theirs / "file").exists()
    second = ScratchFolder()
    assert not theirs.exists()
    assert mine.path.is_dir()
    for place in (mine, second):
        place.close()
        place.close()
    assert not list(temporary.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands its places to other users")
def test_a_place_that_root_handed_to_a_jails_user_is_removed_too(temporary: Path) -> None:
    with elsewhere(temporary) as theirs:
        os.chown(theirs, 1_900_000_000, 1_900_000_000)
    ScratchFolder().close()
    assert not theirs.exists()


def test_what_only_has_such_a_name_and_what_a_link_leads_to_are_left_alone(temporary: Path) -> None:
    (temporary / "other").mkdir()
    (temporary / "other" / "file").touch()
    (temporary / "assay-copy-link").symlink_to(temporary / "other")
    (temporary / "assay-copy-file").touch()
    stale = temporary / "assay-copy-stale"
    stale.mkdir()
    (stale / "link").symlink_to(temporary / "other")
    remove_stale(temporary)
    assert sorted(path.name for path in temporary.iterdir()) == ["assay-copy-file", "assay-copy-link", "other"]
    assert (temporary / "other" / "file").exists()


def test_of_many_that_begin_and_end_at_once_none_takes_anothers(temporary: Path) -> None:
    def come_and_go(_: int) -> bool:
        place = ScratchFolder()
        (place.path / "file").touch()
        remove_stale(temporary)
        there = (place.path / "file").exists()
        place.close()
        return there

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(come_and_go, range(60)))
    assert not list(temporary.iterdir())
