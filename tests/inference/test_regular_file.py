from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.inference.regular_file import read_regular_file

MOST = 1 << 20

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes files that only POSIX has")


def test_a_file_is_read_whole_up_to_the_bound_and_refused_beyond_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * MOST)
    assert read_regular_file(path, MOST) == b"x" * MOST
    path.write_bytes(b"x" * (MOST + 1))
    with pytest.raises(OSError, match="larger than 1 MiB"):
        read_regular_file(path, MOST)


def test_a_pipe_that_nobody_writes_to_and_a_device_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(OSError, match="not a file"):
            read_regular_file(path, MOST)
    with pytest.raises(OSError, match=r"not a file|[Dd]irectory"):
        read_regular_file(tmp_path, MOST)


def test_a_link_is_followed_only_where_it_may_be(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"mine")
    link.symlink_to(target)
    assert read_regular_file(link, MOST) == b"mine"
    with pytest.raises(OSError, match="link"):
        read_regular_file(link, MOST, follow=False)
