"""Which files of a folder are asked about first."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from synthetic_samples import world

from assay.offline_eval.errors import StudyError
from assay.offline_eval.own_code import files as public
from assay.offline_eval.own_code.files import (
    ARCHIVE,
    MANIFEST,
    Folder,
    authorship,
    current_folder,
    public_code,
)
from assay.offline_eval.own_code.numbers import Made
from assay.offline_eval.own_code.report import Ending, sentence, why_ended
from assay.offline_eval.own_code.study import MAX_PER_FILE, in_turn, own_places, public_places
from assay.offline_eval.sets.projects import measured_projects
from assay.offline_eval.study import Results

FUNCTION = 'def f{n}(items):\n    """Sum."""\n    total = 0\n    for item in items:\n        total += item\n    return total\n\n\n'


def test_the_users_code_and_public_code_take_turns_so_that_any_beginning_has_both(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("".join(FUNCTION.format(n=n) for n in range(2 * MAX_PER_FILE)))
    folder = Folder(tmp_path)
    own = own_places(folder, authorship(folder, ("python",)), 0)
    first = [asked for asked, _ in zip(in_turn([own], public_places(0)), range(27), strict=False)]
    mine = [asked for asked in first if asked.author != "public"]
    assert len(mine) == 18
    assert {asked.place.project for asked in mine} == {folder.name}
    # no file speaks for a project
    by_file = [asked.place.path for asked in own_places(folder, authorship(folder, ("python",)), 0)]
    assert {path: by_file.count(path) for path in by_file} == dict.fromkeys((f"{folder.name}/a.py", f"{folder.name}/b.py"), MAX_PER_FILE)


@pytest.mark.slow
def test_the_places_of_public_code_are_of_every_project_and_the_same_each_time() -> None:
    places = list(public_places(0))
    assert {asked.place.project for asked in places[:60]} == set(public_code())
    assert [asked.id for asked in places[:20]] == [asked.id for asked, _ in zip(public_places(0), range(20), strict=False)]
    assert len({asked.id for asked in places}) == len(places)


def test_public_code_is_small_of_measured_projects_alone_and_with_its_permissive_licences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ARCHIVE.stat().st_size <= 2_000_000
    listed = tomllib.loads(MANIFEST.read_text())["project"]
    measured = {(project.name, project.version, project.sha256) for project in measured_projects()}
    assert {(project["name"], project["version"], project["sha256"]) for project in listed} <= measured
    code, packed = public_code(), [json.loads(line) for line in lzma.decompress(ARCHIVE.read_bytes()).splitlines()]
    assert {project["name"]: project["files"] for project in listed} == {name: len(files) for name, files in code.items()}
    for project in listed:
        assert project["licence"] in ("MIT", "BSD-3-Clause", "Apache-2.0")
        texts = [file["text"] for file in packed if file["project"] == project["name"] and not file["path"].endswith(".py")]
        assert any("permission" in text.lower() or "licens" in text.lower() for text in texts)
    other = tmp_path / "public.xz"
    other.write_bytes(ARCHIVE.read_bytes()[:-1])
    monkeypatch.setattr(public, "ARCHIVE", other)
    with pytest.raises(StudyError, match="install Assay again"):
        public_code()


MADE = [Made(task, None, "") for task in ("line", "line_rest", "line_middle")]
BOTH = frozenset({"javascript", "python"})


def test_each_task_is_told_with_the_languages_that_have_its_number() -> None:
    numbers = {"line": frozenset({"python"}), "line_rest": BOTH, "line_middle": BOTH}
    assert sentence(MADE, "m", numbers, ["python", "javascript", "ruby"], 9) == (
        "suggestions of m have a number for line in Python; for line_rest, line_middle in JavaScript and Python; none in Ruby"
    )
    assert sentence(MADE, "m", {"line": BOTH}, ["python"], 9) == (
        "suggestions of m have a number for line in JavaScript and Python; none for line_rest, line_middle"
    )
    assert sentence(MADE, "m", {"line": BOTH}, [], 0).startswith(
        "nothing was asked, so nothing changed: suggestions of m have a number for line"
    )
    assert sentence(MADE, "m", {}, [], 9) == "suggestions of m have no number: too little was asked to tell; the same command goes on"


def test_after_the_time_it_is_said_how_much_longer_it_takes_where_too_little_was_asked() -> None:
    results = Results([{}] * 20, {"line": world(20, slope=0.0)[0]}, [])
    (said,) = why_ended(Ending(None, "time", 5.0, 20), [Made("line", None, "")], results)
    assert said.endswith("goes on from there: about 2 minutes more should tell, at 4 places a minute")
    (said,) = why_ended(Ending(None, "time", 5.0, 100), [], Results([{}] * 100, {}, []))
    assert said == "asking ended after 5 minutes; the same command goes on from there", "where there is a number, nobody is sent on"


def git(folder: Path, *arguments: str, email: str = "me@example.org", date: str = "2026-01-01T00:00:00Z") -> None:
    environment = {
        **os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date,
        "GIT_AUTHOR_NAME": "x", "GIT_COMMITTER_NAME": "x", "GIT_AUTHOR_EMAIL": email, "GIT_COMMITTER_EMAIL": email,
    }  # fmt: skip
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=environment)


def commit(folder: Path, names: list[str], *, email: str, day: int) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(f"x = {day}\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "x", email=email, date=f"2026-01-{day:02d}T00:00:00Z")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two files of mine, one of another, one that is not committed; the repository itself says who I am."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init")
    git(folder, "config", "user.email", "me@example.org")
    commit(folder, ["theirs.py", "src/old.py"], email="other@example.org", day=1)
    commit(folder, ["src/old.py"], email="me@example.org", day=2)
    commit(folder, ["recent.py", "notes.txt"], email="me@example.org", day=3)
    commit(folder, ["theirs.py"], email="some@example.org", day=4)
    (folder / "new.py").write_text("x = 5\n")
    return folder


def test_the_users_own_files_go_first_the_newest_before_older_ones(repository: Path) -> None:
    found = authorship(Folder(repository), ("python",))
    assert found.email == "me@example.org"
    assert found.yours == ("new.py", "recent.py", "src/old.py")
    assert found.others == ("theirs.py",)
    assert [who for _, who in found.in_order] == ["you", "you", "you", "others"]
    inner = authorship(Folder(repository / "src"), ("python",))
    assert (inner.yours, inner.others) == (("old.py",), ()), "a folder of a repository has its own files alone"
    commit(repository, ["longer.py"], email="not-me@example.org", day=5)
    assert "longer.py" in authorship(Folder(repository), ("python",)).others, "an author is the whole address"


def test_what_packages_brought_along_is_left_out_and_is_nobodys_own_code(repository: Path) -> None:
    for folder in (".venv/lib/site-packages/flask", "node_modules/left", "env/lib"):
        (repository / folder).mkdir(parents=True)
        (repository / folder / "app.py").write_text("x = 1\n")
    (repository / "env/pyvenv.cfg").write_text("")
    assert not [path for path, _ in authorship(Folder(repository), ("python",)).in_order if path.endswith("app.py")]
    found = authorship(Folder(repository / ".venv/lib/site-packages/flask"), ("python",))
    assert (found.yours, found.others, found.why_unknown) == ((), ("app.py",), "it is of an installed package")


def test_without_a_repository_whose_the_files_are_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    config = tmp_path / "config"
    config.write_text("[user]\n\temail = me@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    found = authorship(Folder(tmp_path), ("python",))
    assert found.others == ("a.py",)
    assert "not in a git repository" in found.why_unknown
    assert [who for _, who in found.in_order] == ["unknown"]


def test_the_current_project_is_the_repository_around_and_never_a_home_folder(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(repository / "src")
    assert current_folder() == Folder(repository)
    monkeypatch.chdir(tmp_path)
    assert current_folder() is None
    git(tmp_path, "init")
    (tmp_path / "loose").mkdir()
    monkeypatch.chdir(tmp_path / "loose")
    assert current_folder() == Folder(tmp_path / "loose")


def test_a_language_of_few_files_can_not_be_judged_by_them(tmp_path: Path) -> None:
    for name in (*(f"{number}.go" for number in range(10)), *(f"{number}.js" for number in range(9)), "nine.test.js"):
        (tmp_path / name).write_text("x\n")
    assert authorship(Folder(tmp_path), ("go", "javascript")).languages == {"go"}
