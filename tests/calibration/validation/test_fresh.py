"""The fresh projects: of no other list, each once for a calibrator, and all that shipped tables claim of K1 to K8 is of them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from assay.calibration.calibrator import load
from assay.calibration.held_out import folds_path, load_folds
from assay.calibration.validation import table
from assay.calibration.validation.fresh import registration_of, registrations

ROOT = Path(__file__).parents[3]
SHIPPED = sorted((ROOT / "calibration" / "shipped").glob("*.json"))
# The weights of the project memory.
FITTED = sorted((ROOT / "inference" / "project_memory").rglob("*.json"))
LEAST = 12
READS = re.compile(r"\"fresh\.toml\"|\bregistration_of\b|\bregistrations\(|\bwheels\(")


def names_of(path: str, key: str) -> set[str]:
    document = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))
    return {each if isinstance(each, str) else each["name"] for each in document[key]}


def test_the_projects_are_many_and_in_no_list_of_what_anything_was_fitted_to_or_chosen_by() -> None:
    others = (
        names_of("training/corpus.toml", "package")
        | names_of("training/held_out.toml", "names")
        | names_of("offline_eval/sets/projects.toml", "project")
        | {each.partition(" ")[0] for path in FITTED for each in json.loads(path.read_text(encoding="utf-8"))["fitted_on"]["projects"]}
    )
    for each in registrations():
        assert len(each.projects) >= LEAST
        if not each.caveat:
            assert not {project.partition(" ")[0] for project in each.projects} & others


def test_a_calibrator_has_one_set_of_fresh_projects_and_its_fit_saw_none_of_them() -> None:
    known = [id for each in registrations() for id in each.calibrators]
    assert len(known) == len(set(known)), "the projects of a calibrator count once"
    for path in SHIPPED:
        calibrator = load(path)
        if not folds_path(calibrator, path).is_file():
            continue
        seen = {group.name for group in load_folds(folds_path(calibrator, path)).groups}
        for each in registrations():
            if calibrator.id in each.calibrators:
                assert not seen & {project.partition(" ")[0] for project in each.projects}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_a_shipped_table_claims_of_k1_to_k8_is_of_registered_projects(path: Path) -> None:
    calibrator = load(path)
    at = table.path_of(calibrator, path)
    for row in table.load(at).figures if at.is_file() else ():
        if row.study == "calibration" and row.claim and row.n:
            assert row.registered in {each.date for each in registrations() if calibrator.id in each.calibrators}
            assert row.groups >= LEAST


def test_other_projects_than_all_that_are_registered_are_not_fresh() -> None:
    first = registrations()[0]
    id = min(first.calibrators)
    assert registration_of(id, first.projects) == first
    assert registration_of(id, sorted(first.projects)[1:]) is None
    assert registration_of("0" * 16, first.projects) is None


def test_only_the_validation_command_and_the_step_that_fetches_them_read_the_list() -> None:
    rooms = (room for room in ROOT.iterdir() if room.is_dir() and room.name[0] != "." and room.name != "tests")
    readers = {
        path.relative_to(ROOT).as_posix() for room in rooms for path in room.rglob("*.py") if READS.search(path.read_text(encoding="utf-8"))
    }
    made = "training/remake/fresh.py"
    assert readers == {"calibration/validation/fresh.py", "cli/calibrate/validation.py", made}
