"""Jails for tests: each level of isolation that works here, and short ways to run a program in one."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from needs import needs

import assay
from assay.analysis.sandbox.isolation.jail import CompletedRun, Jail, Mount
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.analysis.sandbox.isolation.limits import Limits

TMP = Path("/tmp")
# where a run of the tests keeps what it has found for its workers, which have to agree on what tests there are
FOUND = "ASSAY_TESTS_DEFECTS"


def found() -> dict[Isolation, str]:
    """Why each level of isolation does not work here, "" where it does."""
    if sys.platform != "linux":
        return {}
    if FOUND not in os.environ:
        os.environ[FOUND] = json.dumps({level: defect(level) for level in Isolation})
    return {Isolation(level): why for level, why in json.loads(os.environ[FOUND]).items()}


def defect(level: Isolation) -> str:
    """Asked more than once: an ordinary user's processes are counted, and others may begin meanwhile."""
    return "" if any(not Jail(level).defect() for _ in range(4)) else Jail(level).defect()


DEFECTS = found()


def needs_level(level: Isolation, *, fixture: str | None = None) -> pytest.MarkDecorator:
    """Marks tests of a level of isolation."""
    defect = DEFECTS.get(level, "this is not Linux")
    return needs(f"{level} does not work here ({defect})" if defect else "", fixture=fixture)


ISOLATING = [pytest.param(level, marks=needs_level(level)) for level in (Isolation.BUBBLEWRAP, Isolation.LANDLOCK)]
ALL = [*ISOLATING, pytest.param(Isolation.NONE, marks=needs_level(Isolation.NONE))]
QUICK = Limits(cpu_s=5, wall_s=30, memory_bytes=256 << 20)
every_level = pytest.mark.parametrize("level", ALL)
isolating = pytest.mark.parametrize("level", ISOLATING)


def python(
    level: Isolation, code: str, *, limits: Limits = QUICK, mounts: tuple[Mount, ...] = (), stdin: bytes = b"", **variables: str
) -> CompletedRun:
    """Run Python code in a jail of that level, in its private folder."""
    return Jail(level).run(
        [sys.executable, "-I", "-S", "-c", code], cwd=TMP, limits=limits, mounts=mounts, environment=variables, stdin=stdin
    )


def attempt(code: str) -> str:
    """A program that tries code, and prints what it gives, or the class of the error."""
    return f"import os, sys\ntry:\n    print('got', {code})\nexcept BaseException as error:\n    print('refused', type(error).__name__)\n"


def soon(is_so: Callable[[], bool]) -> bool:
    """Whether it becomes so within half a minute."""
    for _ in range(1500):
        if is_so():
            return True
        time.sleep(0.02)
    return False


def gone(marker: str) -> bool:
    """Whether soon no process has the marker in its command line."""
    return soon(lambda: not any(marker in line for line in command_lines()))


def command_lines() -> list[str]:
    lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines.append((folder / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return lines


def zombies() -> set[int]:
    """Ids of this process's ended, unreaped children."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    ids = [int(pid) for file in children for pid in file.read_text().split()]
    return {pid for pid in ids if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"}


def our_environment() -> dict[str, str]:
    """An environment in which a new Python finds the package that is tested."""
    return os.environ | {"PYTHONPATH": str(Path(assay.__file__).parent.parent)}
