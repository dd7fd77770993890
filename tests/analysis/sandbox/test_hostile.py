from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.analysis.sandbox.isolation import Isolation
from assay.analysis.sandbox.jail import Jail
from assay.analysis.sandbox.python import PythonSandbox
from assay.analysis.sandbox.result import Ending

from ..hostile import FORGERIES, HARM, Hostile
from ..hostile.program import SQUARE
from ..hostile.sandboxed import ALLOWED, sandbox_uid, sandbox_way
from ..hostile.scene import Outcome, Scene

HONEST = "def square(n):\n    return n * n\n"
EVERY = (*HARM, *FORGERIES)


@contextmanager
def attacked(level: Isolation) -> Iterator[tuple[PythonSandbox, Scene]]:
    """One sandbox for all programs, as it is used, and the scene that they attack."""
    with tempfile.TemporaryDirectory() as folder, PythonSandbox(Jail(level)) as sandbox:
        Path(folder).chmod(0o755)
        try:
            uid = sandbox_uid(sandbox)
        except AssertionError as error:
            pytest.skip(f"no {level} on this machine: {error}")
        with Scene(Path(folder), uid) as scene:
            yield sandbox, scene


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def isolated(request: pytest.FixtureRequest) -> Iterator[tuple[PythonSandbox, Scene]]:
    with attacked(Isolation(request.param)) as made:
        yield made


@pytest.fixture(scope="module")
def open_to_all() -> Iterator[tuple[PythonSandbox, Scene]]:
    with attacked(Isolation.NONE) as made:
        yield made


def named(programs: tuple[Hostile, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", programs, ids=lambda program: program.name)


def contained(outcome: Outcome) -> None:
    assert outcome == Outcome("failed", (), outcome.output)


@named(tuple(program for program in EVERY if not program.hangs))
def test_a_hostile_program_neither_passes_nor_does_harm(isolated: tuple[PythonSandbox, Scene], program: Hostile) -> None:
    sandbox, scene = isolated
    contained(scene.attack(program, sandbox_way(sandbox)))


@named(tuple(program for program in EVERY if program.hangs))
def test_a_program_that_never_ends_is_ended_without_harm(isolated: tuple[PythonSandbox, Scene], program: Hostile) -> None:
    sandbox, scene = isolated
    contained(scene.attack(program, sandbox_way(sandbox)))
