from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest
from synthetic_samples import MODEL, PROMPT, world

from assay.calibration.calibrator import MAX_FILE_BYTES, Calibrator, save
from assay.calibration.calibrator_files import MAX_FILES
from assay.calibration.fitting.fit import fit
from assay.calibration.measures.agreement import SINGLE_DRAW, Drawn
from assay.calibration.metrics.intervals import Interval
from assay.calibration.project_folder import project_of
from assay.calibration.registry import (
    Choice,
    Entry,
    Origin,
    Purpose,
    Registry,
    choose,
    explain_choice,
    folders,
    load_registry,
    read_registry,
)
from assay.calibration.trust import remember
from assay.calibration.validation import table
from assay.calibration.validation.figures import figure
from assay.calibration.validation.table import Validation

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


def chosen(
    registry: Registry,
    *,
    model: str = MODEL,
    prompt: str = PROMPT,
    event: str = "exact_match",
    task: str = "line",
    language: str = "python",
    file: Path | None = None,
) -> Choice:
    return explain_choice(registry, Purpose(model, prompt, event, task, language, file))


def passed_over(choice: Choice) -> dict[str, str]:
    return {passed.entry.path.name: passed.reason for passed in choice.passed_over}


def test_a_projects_calibrator_goes_before_a_users_and_that_before_a_shipped_one(places: Places, made: Calibrator) -> None:
    assert chosen(read_registry(places)).reason == "there is no calibrator"
    for day, (origin, folder) in reversed(list(enumerate(places, 1))):
        save(on(day, made), folder / f"{origin}.json")
        choice = chosen(read_registry(places))
        assert choice.entry.origin == origin
    reasons = {f"{origin}.json": f"it matches, but a project one goes before a {origin} one" for origin in ("user", "shipped")}
    assert passed_over(choice) == reasons


def test_within_a_folder_the_newest_is_chosen_whatever_its_name_and_time_zone(places: Places, made: Calibrator) -> None:
    folder = places[1][1]
    save(on(3, made), folder / "z.json")
    save(on(9, made), folder / "b.json")
    east = replace(made, fitted_on=replace(made.fitted_on, date="2026-11-09T11:30:00+05:00"))
    save(east, folder / "a.json")
    choice = chosen(read_registry(places))
    assert choice.entry.path.name == "b.json"
    assert choice.reason == f"user b.json (2026-11-09, n = 600) matches and is informative: {made.reason}"
    assert passed_over(choice) == dict.fromkeys(("a.json", "z.json"), "it matches, but a newer one goes before it")


def test_a_projects_calibrator_is_for_files_of_that_project_alone(tmp_path: Path, made: Calibrator) -> None:
    inside, outside = tmp_path / "shop" / "src" / "a.py", tmp_path / "shopping" / "a.py"
    save(made, tmp_path / "shop" / ".assay" / "calibrators" / "own.json")
    remember(tmp_path / "shop", trusted=True)
    registry = load_registry(tmp_path / "shop")
    assert chosen(registry, file=inside).calibrator == chosen(registry, file=None).calibrator == made
    elsewhere = chosen(registry, file=outside)
    assert elsewhere.calibrator.fitted_on.models, "the one for any model"
    assert passed_over(elsewhere)["own.json"] == f"it is for the project {tmp_path / 'shop'}, not {outside}"


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"model": "f" * 16}, f"no calibrator is for this model (ffffffffffffffff), only for tiny ({MODEL})"),
        (
            {"prompt": "0" * 16},
            "the calibrator for this model, language, event and task was fitted with another prompt or memory (assay.memory)",
        ),
        ({"event": "kept"}, "no calibrator for this model and language is for the event kept, only for exact_match"),
        ({"task": "block"}, "no calibrator for this model, language and event is for the task block, only for line"),
        (
            {"task": "block", "prompt": "0" * 16, "language": "ruby"},
            "the calibrators for this model are for Java, JavaScript and Python, not for Ruby",
        ),
    ],
)
def test_the_reason_is_the_first_that_no_calibrator_is_for(places: Places, made: Calibrator, asked: dict[str, str], reason: str) -> None:
    save(made, places[2][1] / "a.json")
    other = replace(made, task="line_rest", fitted_on=replace(made.fitted_on, languages=("java", "javascript")))
    save(other, places[2][1] / "b.json")
    assert chosen(read_registry(places), **asked).reason == reason


def test_what_does_not_match_is_passed_over_with_all_its_reasons(places: Places, made: Calibrator) -> None:
    save(made, places[2][1] / "c.json")
    choice = chosen(read_registry(places), prompt="0" * 16, task="block")
    assert choice.calibrator is None
    assert passed_over(choice) == {"c.json": "it is for the task line, not block, and was fitted with another prompt"}


def test_an_insufficient_one_gives_way_but_an_uninformative_one_does_not(places: Places, made: Calibrator) -> None:
    save(made, places[2][1] / "shipped.json")
    save(replace(made, status="insufficient"), places[0][1] / "own.json")
    choice = chosen(read_registry(places))
    assert choice.calibrator == made
    assert passed_over(choice) == {"own.json": f"it matches, but is insufficient: {made.reason}"}
    save(replace(made, status="uninformative"), places[0][1] / "own.json")
    found = chosen(read_registry(places)).calibrator
    assert found.status == "uninformative"


def test_a_shipped_one_without_skill_gives_way_to_another_that_has_some(places: Places, made: Calibrator) -> None:
    save(on(2, replace(made, status="uninformative")), places[2][1] / "languages.json")
    save(on(1, made), places[2][1] / "other.json")
    choice = chosen(read_registry(places))
    assert choice.calibrator == on(1, made)
    assert passed_over(choice) == {"languages.json": f"it matches, but is uninformative: {made.reason}"}
    (places[2][1] / "other.json").unlink()
    assert chosen(read_registry(places)).calibrator.status == "uninformative"


def test_a_damaged_or_foreign_file_is_skipped_and_the_reason_is_said(places: Places, made: Calibrator) -> None:
    folder = places[1][1]
    save(made, folder / "good.json")
    (folder / "broken.json").write_text("{")
    (folder / "foreign.json").write_text('{"name": "something else"}')
    (folder / "old.json").write_text('{"schema": "assay/calibrator/0"}')
    (folder / "folder.json").mkdir()
    registry = read_registry(places)
    assert [entry.path.name for entry in registry.entries] == ["good.json"]
    broken, of_a_folder, foreign, old = registry.skipped
    assert broken.startswith(f"{folder / 'broken.json'}:1: not JSON")
    assert of_a_folder == f"{folder / 'folder.json'}: can't be read: Is a directory"
    assert foreign.startswith(f"{folder / 'foreign.json'}: schema: None")
    assert "fit it again" in old


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_file_without_end(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_large_file(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes files that only POSIX has")
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (a_pipe, "not a file"),
        (a_file_without_end, "a symbolic link, and none is followed here"),
        (a_large_file, "larger than 2 MiB"),
    ],
)
def test_what_is_no_file_or_has_no_end_is_skipped_unread(places: Places, make: Callable[[Path], None], reason: str) -> None:
    folder = places[0][1]
    folder.mkdir()
    make(folder / "trap.json")
    (skipped,) = read_registry(places).skipped
    assert skipped.startswith(f"{folder / 'trap.json'}: ")
    assert skipped.endswith(reason)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes files that only POSIX has")
def test_a_users_own_calibrator_may_be_a_link_but_not_to_a_device(places: Places, made: Calibrator, tmp_path: Path) -> None:
    folder = places[1][1]
    folder.mkdir()
    save(made, tmp_path / "elsewhere.json")
    (folder / "mine.json").symlink_to(tmp_path / "elsewhere.json")
    (folder / "device.json").symlink_to("/dev/zero")
    registry = read_registry(places)
    assert [entry.calibrator for entry in registry.entries] == [made]
    assert registry.skipped == (f"{folder / 'device.json'}: can't be read: not a file",)


def test_of_more_files_than_one_needs_the_first_are_read_and_the_rest_is_said(places: Places, made: Calibrator) -> None:
    folder = places[0][1]
    save(made, folder / "0000.json")
    for number in range(1, MAX_FILES + 50):
        (folder / f"{number:04}.json").write_text("{")
    registry = read_registry(places)
    assert len(registry.entries) == 1
    assert len(registry.skipped) == MAX_FILES
    assert registry.skipped[-1].startswith(f"{folder}: 50 files or more are left out: at most {MAX_FILES} calibrators")


def test_hidden_files_are_left_alone(places: Places, made: Calibrator) -> None:
    save(made, places[0][1] / ".c.json.0123456789ab")
    (places[0][1] / "._c.json").write_bytes(b"\0\5\x16\7")
    (places[0][1] / ".#c.json").symlink_to("someone@somewhere.1234")
    assert read_registry(places) == Registry((), ())


def test_the_folders_are_the_projects_the_users_and_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [origin for origin, _ in folders()] == ["user", "shipped"]
    places = dict(folders(tmp_path))
    assert places["project"] == tmp_path / ".assay" / "calibrators"
    assert places["user"] == Path(os.environ["ASSAY_DATA_HOME"]) / "calibrators"
    monkeypatch.delenv("ASSAY_DATA_HOME")
    assert dict(folders())["user"].parent == Path(platformdirs.user_data_dir("assay", appauthor=False))
    assert places["shipped"].name == "shipped"


def test_a_projects_own_calibrators_count_only_where_the_user_trusts_them(tmp_path: Path, made: Calibrator) -> None:
    save(made, tmp_path / "a project" / ".assay" / "calibrators" / "own.json")
    project = tmp_path / "a project"
    for trusted, why in ((None, "nobody has said yet"), (True, None), (False, "you said that you do not trust")):
        if trusted is not None:
            remember(project, trusted=trusted)
        registry = load_registry(project)
        assert [entry.origin for entry in registry.entries].count("project") == (why is None)
        if why is None:
            assert registry.skipped == ()
        else:
            assert registry.skipped[0].startswith(f"{project / '.assay' / 'calibrators'}: its calibrators are not used: {why}")
            assert registry.skipped[0].endswith(f"to use them: assay calibrate trust '{project}'")


@pytest.mark.parametrize("linked", [".assay", ".assay/calibrators"])
def test_a_folder_that_is_a_link_is_not_followed_out_of_a_project(tmp_path: Path, made: Calibrator, linked: str) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    save(made, elsewhere / "calibrators" / "own.json")
    (project / linked).parent.mkdir(parents=True)
    (project / linked).symlink_to(elsewhere if linked == ".assay" else elsewhere / "calibrators")
    remember(project, trusted=True)
    registry = load_registry(project)
    assert [entry for entry in registry.entries if entry.origin == "project"] == []
    assert registry.skipped == (f"{project / linked}: a symbolic link, and none is followed in a project",)


def test_a_project_is_found_from_any_file_of_it(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".assay" / "calibrators").mkdir(parents=True)
    (tmp_path / "shop" / "src" / "deep").mkdir(parents=True)
    assert project_of(tmp_path / "shop" / "src" / "deep" / "a.py") == tmp_path / "shop"
    assert project_of(tmp_path / "elsewhere" / "a.py") is None


def test_a_calibrator_that_needs_to_ask_the_model_again_is_never_taken(made: Calibrator) -> None:
    asking = Registry((Entry("project", Path("ask.json"), replace(made, features=("ask_true",))),), ())
    both = Registry((*asking.entries, Entry("shipped", Path("c.json"), made)), ())
    purpose = Purpose(MODEL, PROMPT, "exact_match", "line", "python")
    assert choose(both, purpose).calibrator is made
    assert choose(asking, purpose) is None
    assert "needs ask_true: the model would have to be asked again" in explain_choice(asking, purpose).reason


def for_several(calibrator: Calibrator, count: int) -> Calibrator:
    return replace(calibrator, fitted_on=replace(calibrator.fitted_on, alternatives=count))


def of_draw(registry: Registry, calibrator: Calibrator, drawn: Drawn) -> Choice:
    made = calibrator.fitted_on
    return explain_choice(registry, Purpose(made.model, made.prompt, "exact_match", "line", "python"), drawn)


def test_one_for_all_alternatives_is_taken_only_where_as_many_were_drawn_and_then_goes_first(places: Places, made: Calibrator) -> None:
    save(on(9, made), places[2][1] / "first.json")
    save(on(1, for_several(made, 4)), places[2][1] / "all.json")
    registry = read_registry(places)
    for rank in (1, 4):
        choice = of_draw(registry, made, Drawn(rank, 4, -0.5))
        assert choice.entry.path.name == "all.json"
    assert passed_over(of_draw(registry, made, Drawn(1, 4, -0.5))) == {
        "first.json": "it matches, but one for all alternatives goes before one for first choices"
    }
    for drawn, reason in (
        (SINGLE_DRAW, "is for one of 4 alternatives, and here one was drawn"),
        (Drawn(1, 3, -0.5), "is for one of 4 alternatives, and here 3 were drawn"),
        (Drawn(1, 4), "needs agreement, and log-probabilities are not known"),
    ):
        choice = of_draw(registry, made, drawn)
        assert choice.entry.path.name == "first.json"
        assert passed_over(choice) == {"all.json": f"it matches, but {reason}"}
    (places[2][1] / "all.json").unlink()
    second = of_draw(read_registry(places), made, Drawn(2, 4, -0.5))
    assert second.calibrator is None
    assert second.reason.endswith(" matches, but was fitted on first choices, and this is number 2")


def table_of(calibrator: Calibrator) -> Validation:
    """What a study says of it: K1 holds."""
    k1 = figure("K1", Interval(0.2, 0.1, 0.3), 600, 12, "project", "> 0")
    return replace(table.empty(calibrator), figures=table.rows_of([k1], "calibration", "run", "0" * 64))


def test_a_damaged_table_or_one_of_something_else_leaves_the_calibrator_in_use(places: Places, made: Calibrator) -> None:
    other = on(3, made)
    for calibrator, name in ((made, "c.json"), (other, "d.json")):
        save(calibrator, places[1][1] / name)
    damaged = table.path_of(made, places[1][1] / "c.json")
    own = table_of(other)
    table.save(own, beside := table.path_of(other, places[1][1] / "d.json"))
    damaged.write_text("{")
    assert [entry.validation for entry in read_registry(places).entries] == [None, own]
    table.save(replace(own, event="kept"), beside)
    registry = read_registry(places)
    assert [(entry.calibrator, entry.validation) for entry in registry.entries] == [(made, None), (other, None)]
    (reason,) = registry.skipped
    assert reason.startswith(f"{damaged}:1: not JSON")


def test_in_a_project_no_link_to_tables_is_followed(places: Places, made: Calibrator) -> None:
    folder, elsewhere = places[0][1], places[1][1]
    save(made, folder / "c.json")
    table.save(table_of(made), table.path_of(made, elsewhere / "c.json"))
    (folder / "validation").symlink_to(elsewhere / "validation")
    registry = read_registry(places[:1])
    assert [entry.validation for entry in registry.entries] == [None]
    assert registry.skipped == (f"{folder / 'validation'}: a symbolic link, and none is followed in a project",)
