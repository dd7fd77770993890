"""Which interpreter runs a project's tests, and what an environment for them needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assay.analysis.oracle.environment import NoEnvironment, Requirements, cached_environment, make_environment, requirements_of
from assay.analysis.oracle.interpreter import UnusableInterpreter, folders_of, interpreter_of, probe
from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "needs-nothing"
version = "1"
[project.optional-dependencies]
docs = ["sphinx"]
testing = ["iniconfig"]
dev = ["black"]
[dependency-groups]
test = ["pluggy", {include-group = "more_tests"}]
more-tests = ["iniconfig"]
lint = ["ruff"]
"""


def test_what_is_named_for_testing_is_wanted_and_what_it_includes(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "setup.cfg").write_text("[options.extras_require]\ntests =\n    x\ndoc =\n    y\n")
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "test.txt").write_text("pluggy\n")
    assert requirements_of(tmp_path) == Requirements(("testing", "tests"), ("pluggy", "iniconfig"), ("requirements/test.txt",))


def test_dev_stands_in_where_nothing_is_named_for_testing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[dependency-groups]\ndev = ["a"]\ndocs = ["b"]\n')
    assert requirements_of(tmp_path).requirements == ("a",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[project", "pyproject.toml"),
        ('[dependency-groups]\ntest = [{include-group = "test"}]\n', "includes itself"),
        ('[dependency-groups]\ntest = [{include-group = "missing"}]\n', "'missing'"),
    ],
)
def test_a_project_that_does_not_say_what_it_needs_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(NoEnvironment, match=reason):
        requirements_of(tmp_path)


def test_the_projects_own_environment_goes_before_the_python_that_runs(tmp_path: Path) -> None:
    assert interpreter_of(tmp_path) == Path(sys.executable)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /srv/python/bin\n")
    assert interpreter_of(tmp_path) == Path(sys.executable)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    assert interpreter_of(tmp_path) == tmp_path / ".venv" / "bin" / "python"
    assert folders_of(tmp_path / ".venv" / "bin" / "python")[:2] == (tmp_path / ".venv", Path("/srv/python"))


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("missing", "no such program"),
        ("fails", "does not run as a Python: no, never$"),
        ("repeats", "does not run as a Python: .{,80}…$"),
    ],
)
def test_what_is_no_python_is_refused(tmp_path: Path, program: str, reason: str) -> None:
    try:
        jail = Jail(best_level())
    except NoIsolation as error:
        pytest.skip(f"nothing isolates here: {error}")
    folder = tmp_path / "env" / "bin"
    folder.mkdir(parents=True)
    (folder / "fails").write_text("#!/bin/sh\necho no, never >&2\nexit 3\n")
    (folder / "repeats").write_text("#!/bin/sh\necho $* >&2\nexit 3\n")
    for name in ("fails", "repeats"):
        (folder / name).chmod(0o755)
    (tmp_path / "env").chmod(0o755)
    with pytest.raises(UnusableInterpreter, match=reason):
        probe(folder / program, jail)


@pytest.mark.slow
def test_an_environment_is_made_once_and_again_when_what_is_needed_changes(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "requirements.txt").write_text("iniconfig\n")
    assert cached_environment(project, tmp_path / "cache") is None
    try:
        made = make_environment(project, tmp_path / "cache")
    except NoEnvironment as error:
        pytest.skip(f"no network, or no registry: {error}")
    subprocess.run([str(made), "-c", "import pytest, iniconfig"], check=True)
    marker = made.parent / "marker"
    marker.write_text("")
    assert cached_environment(project, tmp_path / "cache") == made
    assert make_environment(project, tmp_path / "cache") == made
    assert marker.exists()
    (project / "requirements.txt").write_text("iniconfig\npluggy\n")
    assert make_environment(project, tmp_path / "cache") != made
    assert sorted(path.name for path in project.iterdir()) == ["requirements.txt"]


@pytest.mark.slow
def test_an_environment_that_cannot_be_made_is_told_with_the_installers_words_and_not_kept(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "setup.py").write_text("raise RuntimeError('this project does not build')\n")
    with pytest.raises(NoEnvironment, match="Make one yourself"):
        make_environment(project, tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*/made"))
