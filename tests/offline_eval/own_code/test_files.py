"""Which files of a folder are asked about first."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay.offline_eval.own_code.files import Folder, authorship, current_folder, source_file


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


def test_a_folder_of_a_repository_has_its_own_files_alone(repository: Path) -> None:
    found = authorship(Folder(repository / "src"), ("python",))
    assert (found.yours, found.others) == (("old.py",), ())


def test_an_author_is_the_whole_address(repository: Path) -> None:
    commit(repository, ["longer.py"], email="not-me@example.org", day=5)
    assert "longer.py" in authorship(Folder(repository), ("python",)).others


def test_without_a_repository_whose_the_files_are_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    config = tmp_path / "config"
    config.write_text("[user]\n\temail = me@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    found = authorship(Folder(tmp_path), ("python",))
    assert found.others == ("a.py",)
    assert "not in a git repository" in found.why_unknown
    assert [who for _, who in found.in_order] == ["unknown"]


def test_what_packages_brought_along_is_left_out(repository: Path) -> None:
    for folder in (".venv/lib/site-packages/flask", "node_modules/left", "env/lib"):
        (repository / folder).mkdir(parents=True)
        (repository / folder / "app.py").write_text("x = 1\n")
    (repository / "env/pyvenv.cfg").write_text("")
    assert not [path for path, _ in authorship(Folder(repository), ("python",)).in_order if path.endswith("app.py")]
    assert Folder(repository / ".venv/lib/site-packages/flask").is_installed


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


def test_a_file_is_named_as_one_of_a_distribution_and_two_folders_have_two_names(tmp_path: Path) -> None:
    for name in ("one/app", "two/app"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "one/app/a.py").write_bytes(b"x = 1\r\n")
    one, two = Folder(tmp_path / "one/app"), Folder(tmp_path / "two/app")
    assert one.name != two.name
    file = source_file(one, "a.py")
    assert file is not None
    assert (file.path, file.text) == (f"{one.name}/a.py", "x = 1\n")
    assert source_file(one, "gone.py") is None


def test_an_installed_package_is_nobodys_own_code(repository: Path) -> None:
    package = repository / ".venv" / "site-packages" / "attr"
    package.mkdir(parents=True)
    (package / "a.py").write_text("x = 1\n")
    found = authorship(Folder(package), ("python",))
    assert (found.yours, found.others, found.why_unknown) == ((), ("a.py",), "it is of an installed package")


def test_a_language_of_few_files_can_not_be_judged_by_them(tmp_path: Path) -> None:
    for name in (*(f"{number}.go" for number in range(10)), *(f"{number}.js" for number in range(9)), "nine.test.js"):
        (tmp_path / name).write_text("x\n")
    assert authorship(Folder(tmp_path), ("go", "javascript")).languages == {"go"}
