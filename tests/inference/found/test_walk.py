"""Folders are walked with a bound, once each, and what can't be read is told."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.found.candidate import Notes, walk
from assay.inference.found.gguf_files import candidates_of


def test_links_are_followed_and_circles_end(tmp_path: Path) -> None:
    (tmp_path / "home/a").mkdir(parents=True)
    (tmp_path / "home/a/x").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/y").touch()
    (tmp_path / "home/link").symlink_to(tmp_path / "other")
    (tmp_path / "home/a/up").symlink_to(tmp_path / "home")
    (tmp_path / "home/gone").symlink_to(tmp_path / "nothing")
    notes: Notes = []
    assert [path.relative_to(tmp_path).as_posix() for path in walk(tmp_path / "home", notes)] == ["home/gone", "home/a/x", "home/link/y"]
    assert notes == []


def test_a_huge_folder_is_looked_at_in_part_and_said_to_be(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}").touch()
    notes: Notes = []
    assert len(list(walk(tmp_path, notes, entries=5))) == 5
    assert notes == [f"{tmp_path}: only its first 5 files and folders were looked at"]
    deep = tmp_path / "d/e/f"
    deep.mkdir(parents=True)
    (deep / "x").touch()
    assert "x" not in {path.name for path in walk(tmp_path, notes, depth=2)}


def test_a_file_in_place_of_a_folder_and_a_name_that_no_folder_has_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    notes: Notes = []
    assert list(walk(tmp_path / "file", notes)) == list(walk(tmp_path / ("x" * 5000), notes)) == list(walk(tmp_path / "gone", notes)) == []
    assert [note.rpartition(": ")[2] for note in notes] == ["not a folder", "can't be read (File name too long)"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_folder_that_the_user_may_not_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    notes: Notes = []
    assert list(walk(tmp_path, notes)) == []
    assert notes == [f"{tmp_path / 'closed'}: can't be read (Permission denied)"]


def test_downloads_that_were_not_finished_are_named_like_what_they_will_be() -> None:
    root = Path("models")
    files = [root / "a" / name for name in ("m.gguf.part", "incomplete-n.gguf", "o.gguf.downloadInProgress", "p.gguf", "q.txt", "r.part")]
    found = {candidate.name: bool(candidate.problem) for candidate in candidates_of(root, files)}
    assert found == {"a/m": True, "a/n": True, "a/o": True, "a/p": False}


@given(st.integers(1, 12), st.data())
def test_a_model_in_several_files_is_one_entry_that_counts_what_is_missing(count: int, data: st.DataObject) -> None:
    there = data.draw(st.sets(st.integers(1, count), min_size=1))
    files = [Path("models") / f"big-{number:05}-of-{count:05}.gguf" for number in data.draw(st.permutations(sorted(there)))]
    (found,) = candidates_of(Path("models"), files)
    assert (found.name, found.path) == ("big", Path("models") / f"big-{min(there):05}-of-{count:05}.gguf")
    assert list(found.parts) == sorted(files)
    missing = count - len(there)
    assert found.problem.startswith(f"{missing} of its {count} files") == bool(missing)


@given(st.lists(st.from_regex(r"[a-z]{1,4}(/[a-z]{1,4}){0,2}\.gguf", fullmatch=True), unique=True))
def test_every_whole_file_is_one_entry_with_a_name_of_its_own(names: list[str]) -> None:
    found = list(candidates_of(Path("m"), [Path("m") / name for name in names]))
    assert [f"{candidate.name}.gguf" for candidate in found] == [name for name in names if not Path(name).name.startswith("mmproj")]
