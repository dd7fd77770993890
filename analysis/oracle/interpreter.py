"""The Python that runs a project's tests: its path, version, folders, pytest and plugins."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from ..sandbox.isolation.jail import Jail, Mount
from ..sandbox.isolation.limits import Limits

MIN_PYTHON = (3, 10)
MIN_PYTEST = 7

_ASK = """
import importlib.metadata as m, json, sys
d = sorted({f"{x.metadata['Name']}=={x.version}" for x in m.distributions()})
try:
    import pytest
    v = pytest.__version__
except ImportError:
    v = None
p = sorted({e.name for e in m.entry_points(group="pytest11")}) if sys.version_info >= (3, 10) else []
json.dump({"python": sys.version_info[:3], "pytest": v, "plugins": p, "distributions": d}, sys.stdout)
"""
_MAX_QUOTE = 80
_PROBE_LIMITS = Limits(cpu_s=30, wall_s=120, memory_bytes=1 << 30, processes=16, output_bytes=1 << 22)


class UnusableInterpreter(Exception):
    """This Python can't run the project's tests; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with pytest.

    folders: those that a jail must show. pytest: its version. plugins: the installed pytest plugins. distributions: all that is installed,
    as name==version.
    """

    path: Path
    folders: tuple[Path, ...]
    python: tuple[int, int, int]
    pytest: str
    plugins: frozenset[str]
    distributions: tuple[str, ...]


def interpreter_of(project: Path) -> Path:
    """The Python of the project's own virtual environment, or the one that runs."""
    for name in (".venv", "venv", "env"):
        path = project / name / "bin" / "python"
        if (project / name / "pyvenv.cfg").is_file() and os.access(path, os.X_OK):
            return path.absolute()
    return Path(sys.executable)


def folders_of(path: Path) -> tuple[Path, ...]:
    """The folders that the interpreter at `path` needs to start: its environment and the installation that this uses. Runs nothing."""
    prefix, folders = path.absolute().parent.parent, []
    if (settings := prefix / "pyvenv.cfg").is_file():
        folders.append(prefix)
        for line in settings.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "home":
                folders.append(Path(value.strip()).parent)
    folders.append(path.resolve().parent.parent)
    both = [folder for given in folders for folder in (given, given.resolve())]
    return tuple(folder for folder in dict.fromkeys(both) if folder not in (Path("/"), Path("/usr"), Path("/usr/local")))


def existing(path: Path) -> Path:
    """Return the path. Raises UnusableInterpreter where there is no program at it."""
    if not os.access(path, os.X_OK) or path.is_dir():
        raise UnusableInterpreter(
            f"{path}: no such program; give the python of an environment that has the project's dependencies and pytest"
        )
    return path


def probe(path: Path, jail: Jail) -> Interpreter:
    """Ask an interpreter, in the jail, for its version, pytest and plugins. Raises UnusableInterpreter."""
    folders = folders_of(existing(path))
    mounts = [Mount(folder, folder) for folder in folders]
    ran = jail.run([str(path), "-I", "-c", _ASK], cwd=Path("/"), mounts=mounts, limits=_PROBE_LIMITS)
    if ran.ending == "infrastructure":
        raise UnusableInterpreter(f"{path} can't be run in the sandbox: {ran.reason}")
    try:
        said = json.loads(ran.stdout)
        python = tuple(said["python"])
    except (ValueError, KeyError, TypeError):
        last = (ran.stderr.decode(errors="replace").strip().splitlines() or [ran.reason or f"{ran.ending} {ran.status}"])[-1]
        # a program that is no Python may repeat the whole code that it was given
        raise UnusableInterpreter(f"{path} does not run as a Python: {last[:_MAX_QUOTE]}{'…' if len(last) > _MAX_QUOTE else ''}") from None
    if python[:2] < MIN_PYTHON:
        raise UnusableInterpreter(f"{path} is Python {python[0]}.{python[1]}; the tests of a project are followed from 3.10 on")
    if said["pytest"] is None:
        raise UnusableInterpreter(f"{path} has no pytest: install it beside the project's dependencies ({path} -m pip install pytest)")
    if int(said["pytest"].split(".")[0]) < MIN_PYTEST:
        raise UnusableInterpreter(f"{path} has pytest {said['pytest']}, which is too old: pytest {MIN_PYTEST} or later is needed")
    return Interpreter(path, folders, python, said["pytest"], frozenset(said["plugins"]), tuple(said["distributions"]))
