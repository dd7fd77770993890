"""What an environment for a project's tests needs, and how it is made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.analysis.oracle.environment import NoEnvironment, Requirements, cached_environment, make_environment, requirements_of

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
