"""A virtual environment made for a project's tests.

Only when a person asks for it, since that runs the project's build code and needs a network.
"""

from __future__ import annotations

import configparser
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..process_group import run_group
from .copying import copy_project

_TESTING = re.compile(r"(unit)?tests?|testing|dev|develop(ment)?|pytest|tests?[-_].*|.*[-_]tests?")
_REQUIREMENTS = (
    "requirements.txt",
    *(
        f"{stem}{joint}{word}.txt"
        for stem in ("requirements",)
        for joint in ("-", "_", "/")
        for word in ("test", "tests", "testing", "dev")
    ),
    *(f"{word}{joint}requirements.txt" for joint in ("-", "_", "/") for word in ("test", "tests", "dev")),
)
_BUILDS = ("pyproject.toml", "setup.cfg", "setup.py")
_LAST_LINES = 3


class NoEnvironment(Exception):
    """An environment could not be made; the message has the installer's last words and what to do."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a project's own files say that its tests need.

    extras: names of the project's extras. requirements: from dependency groups. files: requirement files, by path inside the project.
    """

    extras: tuple[str, ...]
    requirements: tuple[str, ...]
    files: tuple[str, ...]


def requirements_of(project: Path) -> Requirements:
    """Extras and dependency groups named for testing (or `dev`, where nothing is), and requirement files. Raises NoEnvironment."""
    told: dict[str, Any] = {}
    if (path := project / "pyproject.toml").is_file():
        try:
            told = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise NoEnvironment(f"{path}: {error}") from None
    extras = list(told.get("project", {}).get("optional-dependencies", {}))
    parser = configparser.ConfigParser(interpolation=None)
    if (path := project / "setup.cfg").is_file():
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError) as error:
            raise NoEnvironment(f"{path}: {error}") from None
    if parser.has_section("options.extras_require"):
        extras += parser.options("options.extras_require")
    groups = told.get("dependency-groups", {})
    needed = [line for name in _for_tests(list(groups)) for line in _group(groups, name, ())]
    return Requirements(
        tuple(_for_tests(extras)),
        tuple(dict.fromkeys(needed)),
        tuple(name for name in _REQUIREMENTS if (project / name).is_file()),
    )


def make_environment(project: Path, cache: Path, *, python: Path | None = None) -> Path:
    """Make a virtual environment with the project, what its tests need, and pytest, unless the same one is in `cache`.

    A copy of the project is installed, so that building writes nothing into the project. In a run the oracle's own copy takes precedence
    over it. The environment is identified by the content of the files that say what is needed. Making one needs a network, and runs the
    project's build code with the user's rights.

    Parameters:
        python: the Python to make it with, by default the one that runs.

    Returns: the environment's interpreter.
    Raises: NoEnvironment.
    """
    python = python or Path(sys.executable)
    wanted = requirements_of(project)
    place = _place(project, cache, python, wanted)
    interpreter = place / "bin" / "python"
    if (place / "made").is_file():
        return interpreter
    shutil.rmtree(place, ignore_errors=True)  # one whose making was cut short
    place.parent.mkdir(parents=True, exist_ok=True)
    _do([str(python), "-I", "-m", "venv", str(place)], project)
    with tempfile.TemporaryDirectory(prefix="assay-build-") as temporary:
        copied = copy_project(project, Path(temporary) / "project").folder
        extras = f"[{','.join(wanted.extras)}]" if wanted.extras else ""
        install = [str(interpreter), "-I", "-m", "pip", "install", "--disable-pip-version-check", "-q"]
        if any((copied / name).is_file() for name in _BUILDS):
            _do([*install, f"{copied}{extras}"], project)
        files = [argument for name in wanted.files for argument in ("-r", str(copied / name))]
        _do([*install, "pytest>=7", *wanted.requirements, *files], project, folder=copied)
    (place / "made").write_text(f"{project}\n", encoding="utf-8")
    return interpreter


def cached_environment(project: Path, cache: Path, *, python: Path | None = None) -> Path | None:
    """The interpreter of the environment in `cache`; None where `make_environment` would have to make one. Raises NoEnvironment."""
    place = _place(project, cache, python or Path(sys.executable), requirements_of(project))
    return place / "bin" / "python" if (place / "made").is_file() else None


def _place(project: Path, cache: Path, python: Path, wanted: Requirements) -> Path:
    digest = hashlib.sha256(json.dumps([str(python.resolve()), wanted.extras, wanted.requirements]).encode())
    for name in (*_BUILDS, *wanted.files):
        if (project / name).is_file():
            digest.update(name.encode() + b"\0" + (project / name).read_bytes())
    return cache.absolute() / f"environment-{digest.hexdigest()[:20]}"


def _for_tests(names: Sequence[str]) -> list[str]:
    found = [name for name in dict.fromkeys(names) if _TESTING.fullmatch(name.lower())]
    return [name for name in found if not name.lower().startswith("dev")] or found


def _group(groups: Mapping[str, Any], name: str, above: tuple[str, ...]) -> list[str]:
    """The requirements of a dependency group, those of the groups that it includes among them (PEP 735)."""
    normal = {re.sub(r"[-_.]+", "-", key).lower(): value for key, value in groups.items()}
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in above or not isinstance(normal.get(key), list):
        raise NoEnvironment(f"dependency group {name!r} of pyproject.toml is not there, or includes itself")
    lines: list[str] = []
    for entry in normal[key]:
        lines += [entry] if isinstance(entry, str) else _group(groups, str(entry.get("include-group")), (*above, key))
    return lines


def _do(command: Sequence[str], project: Path, *, folder: Path | None = None) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "ASSAY_"))}
    done = run_group(command, cwd=folder, env=variables)
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).strip().splitlines() if line.strip()][-_LAST_LINES:]
        raise NoEnvironment(
            f"no environment for {project}: {' / '.join(said) or 'the installer said nothing'}. "
            "Make one yourself, with the project's test dependencies and pytest, and give its python"
        )
