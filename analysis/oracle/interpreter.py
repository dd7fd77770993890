"""The Python that runs a project's tests: its path, version, folders, pytest and plugins."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import msgspec

from ..sandbox.isolation.installation import installation_defect, is_of_the_system, parts_of, special_file_defect
from ..sandbox.isolation.jail import Jail, Mount
from ..sandbox.isolation.levels import Isolation
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
# Whose paths lead elsewhere for another process, or are the jail's own.
_NO_HOMES = ("/proc", "/sys", "/dev")
_MAX_SETTINGS_BYTES = 1 << 16
_OTHER = "make the environment anew, or name another Python (--python)"
_NO_ENVIRONMENT = (
    "no environment of the project is found that has pytest: activate it before, make one in its folder .venv, or name its Python "
    "(--python FILE, in an editor assay.tests.python)"
)
# Python with pytest answers in a second or two; the rest is for a busy machine.
_PROBE_LIMITS = Limits(cpu_s=30, wall_s=30, memory_bytes=1 << 30, processes=16, output_bytes=1 << 22)


class UnusableInterpreter(Exception):
    """This Python can't run the project's tests; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with pytest.

    mounts: what a jail must show of it. pytest: its version. plugins: the installed pytest plugins. distributions: all that is installed,
    as name==version.
    """

    path: Path
    mounts: tuple[Mount, ...]
    python: tuple[int, int, int]
    pytest: str
    plugins: frozenset[str]
    distributions: tuple[str, ...]


def interpreter_of(project: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The Python of the activated environment, of the project's own, or of the one that poetry or uv made for it; else the one that runs.

    The environment that Assay runs in comes last. Conda's base, which is active unasked, is passed over. Raises UnusableInterpreter where
    the project's environment is a link, or has its programs elsewhere: whoever wrote the project may have made it.
    """
    activated = [environ.get("VIRTUAL_ENV"), environ.get("CONDA_PREFIX") if environ.get("CONDA_DEFAULT_ENV") != "base" else None]
    found = [_python_in(Path(place)) for place in activated if place and Path(place).resolve() != Path(sys.prefix).resolve()]
    found += [_own_python(project), *map(_python_in, _made_elsewhere(project, environ))]
    return next((path for path in found if path is not None), Path(sys.executable))


def _python_in(place: Path) -> Path | None:
    path = place.absolute() / "bin" / "python"
    return path if os.access(path, os.X_OK) else None


def _own_python(project: Path) -> Path | None:
    for name in (".venv", "venv", "env"):
        path = project / name / "bin" / "python"
        if (project / name / "pyvenv.cfg").is_file() and os.access(path, os.X_OK):
            found = path.parent.resolve()
            if (project / name).is_symlink() or not found.is_relative_to(project.resolve() / name):
                raise UnusableInterpreter(
                    f"{project / name} leads to {found.parent}: if this is your environment, name its Python (--python {path})"
                )
            return path.absolute()
    return None


def _made_elsewhere(project: Path, environ: Mapping[str, str]) -> list[Path]:
    """Where poetry keeps the environments of a project, the latest Python first, and where uv does if it is told to."""
    root = str(project.resolve())
    cache = Path(environ.get("POETRY_CACHE_DIR") or Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pypoetry")
    kept = Path(environ.get("POETRY_VIRTUALENVS_PATH") or cache / "virtualenvs")
    # as poetry.utils.env.EnvManager names them: NAME-HASH-pyVERSION
    digest = base64.urlsafe_b64encode(hashlib.sha256(root.encode(errors="surrogateescape")).digest()).decode()[:8]
    found = sorted(
        kept.glob(f"*-{digest}-py3.*"), key=lambda place: int(place.name.rpartition(".")[2] or 0) if place.name[-1].isdigit() else 0
    )
    uv = environ.get("UV_PROJECT_ENVIRONMENT")
    return [*reversed(found), *([project / uv] if uv else [])]


def mounts_of(path: Path, isolation: Isolation) -> tuple[Mount, ...]:
    """What a jail shows of the interpreter at `path` so that it starts: its environment, and programs and libraries of the Python below it.

    The file pyvenv.cfg of an environment, and the link to its Python, may come from whoever wrote the project. So what they name is shown
    only where it is an installation of Python. Links are followed here, once: what is mounted is what was looked at. Runs nothing.

    Raises: UnusableInterpreter.
    """
    prefix, real = path.absolute().parent.parent, path.resolve().parent.parent
    is_environment = (prefix / "pyvenv.cfg").is_file()
    named = [home.parent] if is_environment and (home := _home_of(prefix / "pyvenv.cfg")) is not None else []
    bases = [*named, *(() if is_environment and real == prefix.resolve() else (real,))]
    folders = [prefix] if is_environment else []
    if is_environment and (defect := _environment_defect(prefix)):
        raise UnusableInterpreter(f"{path}: {defect}: {_OTHER}")
    for base in bases:
        # unlike Path.resolve, this takes links that lead to one another
        installed = Path(os.path.realpath(base))
        if is_of_the_system(installed):
            continue
        if defect := installation_defect(installed):
            raise UnusableInterpreter(f"{path}: its Python is said to be in {base}, but {defect}: {_OTHER}")
        folders += parts_of(base)
    mounts = [Mount(real, place) for folder in folders if (real := folder.resolve()) for place in (folder, real)]
    # without namespaces nothing can be shown elsewhere, and nothing needs to be: links are still there
    elsewhere = isolation is Isolation.BUBBLEWRAP
    return tuple(dict.fromkeys(mount for mount in mounts if elsewhere or mount.source == mount.target))


def _home_of(settings: Path) -> Path | None:
    """The folder of programs that an environment names as its Python's. Raises UnusableInterpreter."""
    try:
        with settings.open("rb") as file:
            text = file.read(_MAX_SETTINGS_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableInterpreter(f"{settings} can't be read ({error}): {_OTHER}") from None
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip().lower() == "home":
            home = Path(value.strip())
            if "\0" in value or not home.is_absolute() or ".." in home.parts or any(map(home.is_relative_to, _NO_HOMES)):
                raise UnusableInterpreter(f"{settings}: the home of its Python, {value.strip()!r}, is no absolute path of files: {_OTHER}")
            return home
    return None


def _environment_defect(prefix: Path) -> str:
    if Path.home().resolve().is_relative_to(prefix.resolve()):
        return f"{prefix} holds your home folder"
    return special_file_defect(prefix)


def existing(path: Path) -> Path:
    """Return the path. Raises UnusableInterpreter where there is no program at it."""
    if not os.access(path, os.X_OK) or path.is_dir():
        raise UnusableInterpreter(
            f"{path}: no such program; give the python of an environment that has the project's dependencies and pytest"
        )
    return path


def probe(path: Path, jail: Jail) -> Interpreter:
    """Ask an interpreter, in the jail, for its version, pytest and plugins. Raises UnusableInterpreter."""
    mounts = mounts_of(existing(path), jail.isolation)
    ran = jail.run([str(path), "-I", "-c", _ASK], cwd=Path("/"), mounts=mounts, limits=_PROBE_LIMITS)
    if ran.ending == "infrastructure":
        raise UnusableInterpreter(f"{path} can't be run in the sandbox: {ran.reason}")
    if ran.ending == "timed_out":
        raise UnusableInterpreter(f"{path} was asked which Python it is, and gave no answer within {_PROBE_LIMITS.wall_s:g} s: {_OTHER}")
    said = _answer(ran.stdout)
    if said is None:
        last = (ran.stderr.decode(errors="replace").strip().splitlines() or [ran.reason or f"{ran.ending} {ran.status}"])[-1]
        # a program that is no Python may repeat the whole code that it was given
        raise UnusableInterpreter(f"{path} does not run as a Python: {last[:_MAX_QUOTE]}{'…' if len(last) > _MAX_QUOTE else ''}")
    python, version = said["python"], said["pytest"]
    if python[:2] < MIN_PYTHON:
        raise UnusableInterpreter(f"{path} is Python {python[0]}.{python[1]}; the tests of a project are followed from 3.10 on")
    if version is None and path.absolute().parent.parent == Path(sys.prefix):
        raise UnusableInterpreter(_NO_ENVIRONMENT)
    if version is None:
        raise UnusableInterpreter(f"{path} has no pytest: install it beside the project's dependencies ({path} -m pip install pytest)")
    if int(version.split(".")[0]) < MIN_PYTEST:
        raise UnusableInterpreter(f"{path} has pytest {version}, which is too old: pytest {MIN_PYTEST} or later is needed")
    return Interpreter(path, mounts, python, version, frozenset(said["plugins"]), tuple(said["distributions"]))


class _Answer(TypedDict):
    python: tuple[int, int, int]
    pytest: str | None
    plugins: list[str]
    distributions: list[str]


def _answer(said: bytes) -> _Answer | None:
    """What an interpreter said of itself; None where a program says something that no Python says."""
    try:
        answer = msgspec.json.decode(said, type=_Answer)
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError):
        return None
    is_version = answer["pytest"] is None or re.fullmatch(r"\d{1,4}(\.[\w.+-]{0,40})?", answer["pytest"], re.ASCII)
    return answer if is_version else None
