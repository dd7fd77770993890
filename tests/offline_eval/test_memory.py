"""The project memory of a study: what it has of a project, and what it must not have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.analysis.python.lines import Gap
from assay.inference.completion.settings import Settings
from assay.inference.model import Model
from assay.inference.opening import open_model
from assay.inference.project_memory import project
from assay.offline_eval.errors import StudyError
from assay.offline_eval.suggested import FileWithGap, StudyMemory
from assay.suggestion.memory.memories import memory_fingerprint
from assay.suggestion.memory.scope import Scope

USE = "def use(path):\n    store = open_zarquon_index(path)\n    return store\n"
HIDDEN = "index(path)"
OTHER = "class Unlike:\n    def other(self):\n        return self.value\n\n    def another(self):\n        return 1\n"
OPEN = f"{OTHER}\n\ndef main(path):\n    store = open_zarquon_{HIDDEN}\n"


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with open_model(threads=1) as opened:
        yield opened


def gap() -> FileWithGap:
    start = OPEN.index(HIDDEN)
    return FileWithGap(OPEN, Gap(start, start + len(HIDDEN)), "line_rest", Settings())


def suggested(model: Model, scope: Scope, files: dict[str, str]) -> str:
    memory = StudyMemory(model, scope, lambda _: files.items())
    return next(gap().suggestions(model, memory=memory.at(gap(), "p", "main.py"))).generation.text


def test_other_files_are_read_where_the_scope_is_the_project(model: Model) -> None:
    assert suggested(model, "project", {"db.py": USE}) == HIDDEN
    assert suggested(model, "file", {"db.py": USE}) != HIDDEN
    assert suggested(model, "off", {"db.py": USE}) != HIDDEN


def test_what_was_taken_out_is_not_found_in_the_file_itself_nor_in_a_copy(model: Model) -> None:
    alone = suggested(model, "project", {"other.py": "x = 1\n"})
    assert suggested(model, "project", {"other.py": "x = 1\n", "main.py": OPEN}) == alone != HIDDEN
    assert suggested(model, "project", {"other.py": "x = 1\n", "backup/old.py": OPEN}) == alone


def test_a_generation_says_what_it_was_mixed_with(model: Model) -> None:
    for scope in ("project", "file", "off"):
        memory = StudyMemory(model, scope, lambda _: [("db.py", USE)])
        made = next(gap().suggestions(model, memory=memory.at(gap(), "p", "main.py"))).generation
        assert made.memory == memory_fingerprint(model, scope)
    assert memory_fingerprint(model, "off") == ""


def test_a_project_is_read_once_until_another_is_asked_about(model: Model) -> None:
    read: list[str] = []

    def files(name: str) -> list[tuple[str, str]]:
        read.append(name)
        return [("db.py", USE)]

    memory = StudyMemory(model, "project", files)
    for name in ("p", "p", "q", "q", "p"):
        memory.at(gap(), name, "main.py")
    assert read == ["p", "q", "p"]


def test_a_project_that_is_too_large_is_an_error_that_says_what_to_do(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "MAX_WORDS", 5)
    with pytest.raises(StudyError, match="--memory file"):
        StudyMemory(model, "project", lambda _: [("db.py", USE)]).at(gap(), "p", "main.py")
