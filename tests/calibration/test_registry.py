from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest
from synthetic_samples import MODEL, PROMPT, world

from assay.calibration.calibrator import Calibrator, save
from assay.calibration.fit import fit
from assay.calibration.registry import Choice, Origin, Registry, choose, folders, load_registry, project_of, read_registry

Places = list[tuple[Origin, Path]]


@pytest.fixture(scope="module")
def made() -> Calibrator:
    return fit(world(600)[0], "exact_match", resamples=50).calibrator


@pytest.fixture
def places(tmp_path: Path) -> Places:
    origins: list[Origin] = ["project", "user", "shipped"]
    return [(origin, tmp_path / origin) for origin in origins]


def on(day: int, calibrator: Calibrator) -> Calibrator:
    return replace(calibrator, fitted_on=replace(calibrator.fitted_on, date=f"2026-11-{day:02}T10:00:00+00:00"))


def chosen(registry: Registry, *, language: str = "python", event: str = "exact_match", task: str = "line", prompt: str = PROMPT) -> Choice:
    return choose(registry, MODEL, prompt, event, task, language)


def test_a_projects_calibrator_goes_before_a_users_and_that_before_a_shipped_one(places: Places, made: Calibrator) -> None:
    for day, (origin, folder) in reversed(list(enumerate(places, 1))):
        save(on(day, made), folder / "c.json")
        entry = chosen(read_registry(places)).entry
        assert entry is not None
        assert entry.origin == origin


def test_within_a_folder_the_newest_is_chosen_whatever_its_name_and_time_zone(places: Places, made: Calibrator) -> None:
    folder = places[1][1]
    save(on(3, made), folder / "z.json")
    save(on(9, made), folder / "b.json")
    east = replace(made, fitted_on=replace(made.fitted_on, date="2026-11-09T11:30:00+05:00"))
    save(east, folder / "a.json")
    choice = chosen(read_registry(places))
    assert choice.entry is not None
    assert choice.entry.path.name == "b.json"
    assert "chosen: user b.json" in choice.why[0]
    assert any("passed over user z.json" in line and "another goes before it" in line for line in choice.why)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"prompt": "0" * 16}, "the prompt fedcba9876543210, not 0000000000000000"),
        ({"event": "kept"}, "the event exact_match, not kept"),
        ({"task": "block"}, "the task line, not block"),
        ({"language": "java"}, "the language python, not java"),
    ],
)
def test_what_does_not_match_is_never_chosen_and_the_reason_is_said(
    places: Places, made: Calibrator, asked: dict[str, str], reason: str
) -> None:
    save(made, places[2][1] / "c.json")
    choice = chosen(read_registry(places), **asked)
    assert choice.calibrator is None
    assert choice.why[0] == "none matches"
    assert reason in choice.why[1]


def test_another_models_calibrator_is_never_chosen(places: Places, made: Calibrator) -> None:
    save(made, places[2][1] / "c.json")
    assert choose(read_registry(places), "f" * 16, PROMPT, "exact_match", "line", "python").calibrator is None


def test_an_insufficient_one_gives_way_but_an_uninformative_one_does_not(places: Places, made: Calibrator) -> None:
    save(made, places[2][1] / "shipped.json")
    save(replace(made, status="insufficient"), places[0][1] / "own.json")
    choice = chosen(read_registry(places))
    assert choice.calibrator == made
    assert any("own.json" in line and "insufficient" in line for line in choice.why)
    save(replace(made, status="uninformative"), places[0][1] / "own.json")
    found = chosen(read_registry(places)).calibrator
    assert found is not None
    assert found.status == "uninformative"


def test_an_insufficient_one_is_chosen_where_nothing_else_matches(places: Places, made: Calibrator) -> None:
    save(replace(made, status="insufficient"), places[0][1] / "own.json")
    assert chosen(read_registry(places)).calibrator is not None


def test_a_damaged_or_foreign_file_is_skipped_with_one_warning(places: Places, made: Calibrator, caplog: pytest.LogCaptureFixture) -> None:
    folder = places[1][1]
    save(made, folder / "good.json")
    (folder / "broken.json").write_text("{")
    (folder / "foreign.json").write_text('{"name": "something else"}')
    (folder / "notes.txt").write_text("no calibrator, and no *.json either")
    (folder / "folder.json").mkdir()
    with caplog.at_level(logging.WARNING):
        registry = read_registry(places)
    assert [entry.path.name for entry in registry.entries] == ["good.json"]
    assert len(caplog.records) == 3
    assert sorted(record.getMessage().split(": ")[1].rsplit("/", 1)[1].split(":")[0] for record in caplog.records) == [
        "broken.json",
        "folder.json",
        "foreign.json",
    ]
    assert any(line.startswith("skipped") and "broken.json" in line for line in chosen(registry).why)


def test_folders_that_are_not_there_are_empty(places: Places) -> None:
    assert read_registry(places) == Registry((), ())


def test_the_folders_are_the_projects_the_users_and_the_packages(tmp_path: Path) -> None:
    assert [origin for origin, _ in folders()] == ["user", "shipped"]
    places = dict(folders(tmp_path))
    assert places["project"] == tmp_path / ".assay" / "calibrators"
    assert places["user"].parent == Path(platformdirs.user_data_dir("assay", appauthor=False))
    assert places["shipped"].name == "shipped"


def test_a_projects_own_calibrator_is_in_the_registry_of_that_project(tmp_path: Path, made: Calibrator) -> None:
    save(made, tmp_path / ".assay" / "calibrators" / "own.json")
    assert chosen(load_registry(tmp_path)).calibrator == made


def test_fifty_calibrators_are_read_in_a_moment(places: Places, made: Calibrator) -> None:
    for number in range(50):
        save(on(number % 28 + 1, made), places[0][1] / f"{number}.json")
    began = time.process_time()
    assert len(read_registry(places).entries) == 50
    assert time.process_time() - began < 0.5


def test_a_project_is_found_from_any_file_of_it(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".assay" / "calibrators").mkdir(parents=True)
    (tmp_path / "shop" / "src" / "deep").mkdir(parents=True)
    assert project_of(tmp_path / "shop" / "src" / "deep" / "a.py") == tmp_path / "shop"
    assert project_of(tmp_path / "elsewhere" / "a.py") is None
