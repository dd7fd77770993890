from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.calibration.trust import CALIBRATORS, TESTS, TRUSTED, Subject, answer_file, remember, remembered


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_an_answer_is_remembered_for_the_folder_by_whatever_path_it_is_reached(tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    for folder in (project, other):
        folder.mkdir()
    (tmp_path / "link").symlink_to(project)
    remember(project, trusted=True)
    assert remembered(project) == remembered(tmp_path / "link") == TRUSTED
    assert remembered(other).is_open
    remember(tmp_path / "link", trusted=False)
    assert (remembered(project).counts, remembered(project).is_open) == (False, False)
    assert "you said that you do not trust" in remembered(project).why_not


def test_trust_in_calibrators_is_no_consent_to_run_tests_nor_the_other_way_round(tmp_path: Path) -> None:
    remember(tmp_path, trusted=True)
    assert remembered(tmp_path, TESTS).is_open
    assert remembered(tmp_path, TESTS).why_not.endswith(f"to allow it: assay calibrate trust --tests {tmp_path}")
    remember(tmp_path, trusted=False, about=TESTS)
    assert remembered(tmp_path).counts
    assert "you said that Assay may not run the tests" in remembered(tmp_path, TESTS).why_not
    # an answer that was copied from one to the other is none
    answer_file(tmp_path, TESTS).write_bytes(answer_file(tmp_path).read_bytes())
    assert not remembered(tmp_path, TESTS).counts


def test_a_name_that_is_no_text_has_an_answer_of_its_own(tmp_path: Path) -> None:
    project = tmp_path / os.fsdecode(b"caf\xe9")
    remember(project, trusted=True)
    assert remembered(project).counts
    assert not remembered(tmp_path / "caf").counts
    # what such a name looks like, written out, is a name as well
    for other in ("caf\\udce9", "caf%E9", "caf\ufffd"):
        assert not remembered(tmp_path / other).counts, other


@pytest.mark.parametrize("about", [CALIBRATORS, TESTS])
def test_a_folder_that_takes_the_name_of_another_is_asked_about_again(tmp_path: Path, about: Subject) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    remember(project, trusted=True, about=about)
    (project / "a.py").write_text("x = 1\n")
    assert remembered(project, about).counts
    project.rename(tmp_path / "before")
    assert not remembered(project, about).counts  # nothing is there
    project.mkdir()
    found = remembered(project, about)
    assert (found.counts, found.is_open) == (False, True)
    assert "another has its name now" in found.why_not
    # moved back it is the folder that was asked about
    project.rmdir()
    (tmp_path / "before").rename(project)
    assert remembered(project, about).counts


def test_a_folder_that_was_deleted_and_made_again_is_asked_about_again(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    for _ in range(3):  # the file system may give it the same inode
        project.mkdir()
        assert not remembered(project, TESTS).counts
        remember(project, trusted=True, about=TESTS)
        assert remembered(project, TESTS).counts
        project.rmdir()


def damaged(project: Path) -> dict[str, bytes]:
    whole = json.loads(answer_file(project).read_bytes())
    return {
        "empty": b"",
        "no JSON": b"{",
        "deep": b"[" * 5_000,
        "another schema": json.dumps({**whole, "schema": "assay/trust/1"}).encode(),
        "another folder": json.dumps({**whole, "folder": "/"}).encode(),
        "no boolean": json.dumps({**whole, "trusted": 1}).encode(),
        "more": json.dumps({**whole, "more": 1}).encode(),
        "large": json.dumps(whole).encode() + b" " * 100_000,
    }


def test_a_damaged_answer_is_none_and_the_reason_names_the_file(tmp_path: Path) -> None:
    project = tmp_path / "project"
    remember(project, trusted=True)
    for what, content in damaged(project).items():
        answer_file(project).write_bytes(content)
        found = remembered(project)
        assert (found.counts, found.is_open) == (False, True), what
        assert str(answer_file(project)) in found.why_not, what
        assert found.why_not.endswith(f"to use them: assay calibrate trust {project}"), what
    remember(project, trusted=True)
    assert remembered(project) == TRUSTED
