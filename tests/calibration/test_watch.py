from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator, save
from assay.calibration.calibrator_files import FileState, look
from assay.calibration.fitting.fit import fit
from assay.calibration.registry import Origin, Registry
from assay.calibration.trust import TRUSTED, Trust
from assay.calibration.validation import table
from assay.calibration.validation.figures import not_run
from assay.calibration.watch import RegistryWatch, RootCalibrators

Places = list[tuple[Origin, Path]]
Look = Callable[[], dict[Path, FileState]]


@pytest.fixture(scope="module")
def made() -> Calibrator:
    return fit(world(300)[0], "exact_match", resamples=50).calibrator


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".assay" / "calibrators"


@pytest.fixture
def places(tmp_path: Path, folder: Path) -> Places:
    return [("project", folder), ("user", tmp_path / "data" / "calibrators")]


@pytest.fixture
def again(places: Places) -> Look:
    """A look that remembers the one before."""
    seen: dict[Path, FileState] = {}

    def look_again() -> dict[Path, FileState]:
        nonlocal seen
        seen = look(places, seen, threading.Event())
        return seen

    return look_again


class Watched:
    """A watch on one project's calibrators and those of the user, and the newest that it told of."""

    def __init__(self, places: Places) -> None:
        self.project = places[0][1].parents[1]
        self.found: RootCalibrators | None = None
        self.watch = RegistryWatch(places[1:], lambda *_: TRUSTED, self.tell)
        self.watch.follow(self.project)

    def tell(self, root: Path | None, found: RootCalibrators) -> None:
        assert root == self.project == found.project
        self.found = found

    @property
    def registry(self) -> Registry:
        return Registry((), ()) if self.found is None else self.found.registry


@pytest.fixture
def watched(places: Places) -> Iterator[Watched]:
    watching = Watched(places)
    yield watching
    watching.watch.close()


def another(calibrator: Calibrator, number: int) -> Calibrator:
    """The same with another content, as long as the first."""
    return replace(calibrator, fitted_on=replace(calibrator.fitted_on, date=f"2026-11-09T10:00:{number:02}+00:00"))


def ids(watching: Watched) -> list[str]:
    return [entry.calibrator.id for entry in watching.registry.entries]


def open_files() -> int | None:
    """How many descriptors this process has, where the system tells it."""
    listing = Path("/proc/self/fd")
    return sum(1 for _ in listing.iterdir()) if listing.exists() else None


def until(what: Callable[[], bool]) -> None:
    """Wait for it."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() - began < 60, "it never came"
        time.sleep(0.005)


def test_a_half_written_file_leaves_what_was_read_before_in_use_and_is_read_again(folder: Path, made: Calibrator, again: Look) -> None:
    save(another(made, 1), folder / "a.json")
    whole = (folder / "a.json").read_bytes()
    save(made, folder / "a.json")
    assert again()[folder / "a.json"].content == made
    for half in (b"", whole[:1000], whole[:2000]):
        (folder / "a.json").write_bytes(half)
        seen = again()[folder / "a.json"]
        assert seen.content == made
        assert str(seen.error).endswith("what was read of it before is still used")
    (folder / "a.json").write_bytes(whole)
    assert again()[folder / "a.json"].content == another(made, 1)


def test_a_damaged_file_is_warned_of_once_for_each_version(folder: Path, again: Look, caplog: pytest.LogCaptureFixture) -> None:
    folder.mkdir(parents=True)
    with caplog.at_level(logging.WARNING):
        for text, warnings in (("{", 1), ('{"schema": "assay/calibrator/0"}', 2)):
            (folder / "a.json").write_text(text)
            for _ in range(4):
                again()
            assert len(caplog.records) == warnings
            assert again()[folder / "a.json"] is again()[folder / "a.json"]  # and read no more
    assert "fit it again" in caplog.records[-1].getMessage()


def test_while_a_folder_can_not_be_listed_it_stays(folder: Path, made: Calibrator, again: Look, caplog: pytest.LogCaptureFixture) -> None:
    save(made, folder / "a.json")
    first = again()
    folder.rename(folder.with_name("aside"))
    folder.symlink_to(folder)
    with caplog.at_level(logging.WARNING):
        for _ in range(4):
            assert again()[folder / "a.json"] is first[folder / "a.json"]
    assert len(caplog.records) == 1
    assert "can't be listed" in caplog.records[0].getMessage()
    folder.unlink()
    folder.with_name("aside").rename(folder)
    assert again() == first


def test_what_is_added_changed_and_removed_is_in_the_registry_soon(watched: Watched, folder: Path, made: Calibrator) -> None:
    assert ids(watched) == []
    save(made, folder / "a.json")
    until(lambda: ids(watched) == [made.id])
    changed = another(made, 1)
    save(changed, folder / "a.json")
    until(lambda: ids(watched) == [changed.id])
    save(made, folder / "b.json")
    until(lambda: sorted(ids(watched)) == sorted([changed.id, made.id]))
    (folder / "a.json").unlink()
    until(lambda: ids(watched) == [made.id])


def test_a_folder_that_comes_and_goes_with_its_parent_is_followed(watched: Watched, places: Places, folder: Path, made: Calibrator) -> None:
    save(made, places[1][1] / "mine.json")
    until(lambda: ids(watched) == [made.id])
    save(another(made, 1), folder / "own.json")
    until(lambda: len(ids(watched)) == 2)
    folder.parent.rename(folder.parent.with_name("aside"))
    until(lambda: ids(watched) == [made.id])
    folder.parent.with_name("aside").rename(folder.parent)
    until(lambda: len(ids(watched)) == 2)
    shutil.rmtree(folder)
    until(lambda: ids(watched) == [made.id])


def test_closing_ends_every_thread_and_a_second_time_does_nothing(places: Places, folder: Path, made: Calibrator) -> None:
    save(made, folder / "a.json")
    before = set(threading.enumerate())
    files_open = open_files()
    watching = Watched(places)
    until(lambda: ids(watching) == [made.id])
    watching.watch.close()
    watching.watch.close()
    assert set(threading.enumerate()) == before
    assert open_files() == files_open
    assert ids(watching) == [made.id]


def test_folders_without_calibrators_share_one_registry_and_one_thread(places: Places, made: Calibrator, tmp_path: Path) -> None:
    save(made, places[1][1] / "mine.json")
    found: dict[Path | None, RootCalibrators] = {}
    roots = [tmp_path / f"root{number}" for number in range(100)]
    before = threading.active_count()
    watching = RegistryWatch(places[1:], lambda *_: TRUSTED, lambda root, what: found.update({root: what}))
    try:
        for root in roots:
            watching.follow(root)
        until(lambda: len(found) == 100)
        assert len({id(what.registry) for what in found.values()}) == 1
        assert threading.active_count() < before + 10
        save(another(made, 1), places[0][1].parents[1].with_name("root7") / ".assay" / "calibrators" / "own.json")
        until(lambda: len(found[roots[7]].registry.entries) == 2)
        assert len(found[roots[8]].registry.entries) == 1
        watching.unfollow(roots[7])
        found.clear()
        save(another(made, 2), places[1][1] / "mine.json")
        until(lambda: len(found) == 99)
        assert roots[7] not in found
    finally:
        watching.close()


def test_a_projects_calibrators_are_read_as_soon_as_they_are_trusted_and_not_before(places: Places, folder: Path, made: Calibrator) -> None:
    save(made, folder / "own.json")
    told: list[RootCalibrators] = []
    trust = Trust(False, "nobody was asked", is_open=True)
    watching = RegistryWatch(places[1:], lambda *_: trust, lambda _, found: told.append(found))
    try:
        watching.follow(project := folder.parents[1])
        until(lambda: bool(told))
        assert (told[0].registry.entries, told[0].project, told[0].is_open) == ((), project, True)
        assert told[0].registry.skipped == (f"{folder}: its calibrators are not used: nobody was asked",)
        trust = TRUSTED
        watching.look()
        until(lambda: len(told) == 2)
        assert [entry.calibrator for entry in told[1].registry.entries] == [made]
        assert not told[1].is_open
        trust = Trust(False, "no more")
        watching.look()
        until(lambda: len(told) == 3)
        assert told[2].registry.entries == ()
    finally:
        watching.close()


@pytest.mark.parametrize(
    "name",
    ["/".join(["l" * 200] * 20), "a\0b", "half a character \ud800"],
    ids=["too long", "zero", "no character"],
)
def test_a_folder_that_can_not_be_looked_at_has_no_calibrators_and_all_others_are_still_followed(
    places: Places, folder: Path, made: Calibrator, tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    save(made, places[1][1] / "mine.json")
    found: dict[Path | None, RootCalibrators] = {}
    watching = RegistryWatch(places[1:], lambda *_: TRUSTED, lambda root, what: found.update({root: what}))
    odd, usual = tmp_path / name, folder.parents[1]
    try:
        watching.follow(odd)
        until(lambda: odd in found)
        watching.follow(usual)
        until(lambda: usual in found)
        save(made, folder / "own.json")
        until(lambda: len(found[usual].registry.entries) == 2)
        assert [entry.origin for entry in found[odd].registry.entries] == ["user"]
    finally:
        watching.close()
    assert "can't be followed" not in caplog.text


def test_a_validation_table_that_comes_changes_or_goes_is_noticed(watched: Watched, folder: Path, made: Calibrator) -> None:
    def told() -> list[str]:
        return [entry.validation.figures[0].note for entry in watched.registry.entries if entry.validation]

    save(made, folder / "c.json")
    path = table.path_of(made, folder / "c.json")
    for note in ("first", "second"):
        (row,) = table.rows_of([not_run("K1", "> 0", note)], "calibration", "run", "0" * 64)
        table.save(replace(table.empty(made), figures=(row,)), path)
        until(lambda note=note: told() == [note])  # type: ignore[misc]
    path.write_text("{")
    until(lambda: bool(watched.registry.skipped))
    assert told() == ["second"], "what was read of it before is still used"
    assert "still used" in watched.registry.skipped[0]
    path.unlink()
    until(lambda: told() == [])
    assert ids(watched) == [made.id]
