from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from jails import ALL, ISOLATING, needs_level
from needs import needs

from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.analysis.sandbox.judging.result import ProgramOutcome

from ..hostile import FORGERIES, HARM, Hostile
from ..hostile.program import SQUARE
from ..hostile.sandboxed import ALLOWED, sandbox_uid, sandbox_way
from ..hostile.scene import Outcome, Scene

HONEST = "def square(n):\n    return n * n\n"
TEST = f"{SQUARE}\ncheck(square)\n"
EVERY = (*HARM, *FORGERIES)
# They have the checker work, or hold what it may.
LONG = {
    *("powers", "hash_collisions", "hoard", "much_output", "deep_key", "deep_value", "huge_error", "huge_text", "huge_type_name"),
    "many_values",
}
# What shows nothing even where only the jail of the whole scene holds it: an unprivileged user may not, or a plain time limit ends it.
UNSEEN_ANYWAY = {
    *("read_shadow", "read_home", "inherited_folders", "inherited_files", "inherited_sockets", "file_handles", "mount", "terminal"),
    *("priority", "clock", "memory_of_pipes", "memory_of_threads", "core", "much_output", "late_output"),
}

Attacked = tuple[PythonSandbox, Scene]
Test = TypeVar("Test", bound=Callable[..., object])


@pytest.fixture(scope="module")
def attacked(request: pytest.FixtureRequest) -> Iterator[Attacked]:
    """One sandbox for all programs, as it is used, and the scene that they attack, at the level of the parameter."""
    with tempfile.TemporaryDirectory() as folder, PythonSandbox(Jail(request.param)) as sandbox:
        Path(folder).chmod(0o755)
        with Scene(Path(folder), sandbox_uid(sandbox)) as scene:
            yield sandbox, scene


isolated, isolated_best, in_the_open = (
    pytest.mark.parametrize("attacked", levels, indirect=True) for levels in (ISOLATING, ISOLATING[:1], ALL[len(ISOLATING) :])
)


def open_scene(test: Test) -> Test:
    """Marks tests of a scene that only the jail of the whole of it holds."""
    return needs_level(Isolation.BUBBLEWRAP)(needs("" if shutil.which("setpriv") else "setpriv is not installed")(test))


def each(programs: Sequence[Hostile]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", programs, ids=lambda program: program.name)


def contained(where: Attacked, program: Hostile) -> None:
    """The program fails (its label is False, not unknown), and nothing is seen of it."""
    sandbox, scene = where
    outcome = scene.attack(program, sandbox_way(sandbox))
    assert outcome == Outcome("failed", (), outcome.output)
    if program.rough or program.then:
        honest_passes(where)


def honest_passes(where: Attacked) -> None:
    result = where[0].check(HONEST, TEST, "square", limits=ALLOWED)
    assert result.outcome is ProgramOutcome.PASSED, result


@pytest.mark.slow
@isolated
@each([program for program in EVERY if program.name not in LONG])
def test_a_hostile_program_neither_passes_nor_does_harm_nor_goes_on(attacked: Attacked, program: Hostile) -> None:
    contained(attacked, program)


@pytest.mark.slow
@isolated_best
@each([program for program in EVERY if program.name in LONG])
def test_what_a_program_makes_its_judge_do_is_bounded(attacked: Attacked, program: Hostile) -> None:
    contained(attacked, program)


@isolated
def test_an_honest_program_passes_after_all_of_them(attacked: Attacked) -> None:
    honest_passes(attacked)


@pytest.mark.slow
@in_the_open
@each([program for program in FORGERIES if not (program.rough or program.hangs or program.name in LONG)])
def test_a_wrong_program_does_not_pass_without_isolation_either(attacked: Attacked, program: Hostile) -> None:
    sandbox, scene = attacked
    assert scene.attack(program, sandbox_way(sandbox)).said != "passed"


@isolated_best
def test_what_a_program_tells_of_its_harm_is_heard_and_an_honest_one_does_none(attacked: Attacked) -> None:
    sandbox, scene = attacked
    honest = Hostile("honest", "harm", "solves the task", HONEST)
    assert scene.attack(honest, sandbox_way(sandbox)).said == "passed"
    told = Hostile("told", "harm", "tells of harm", "harm('was done')\n")
    assert scene.attack(told, sandbox_way(sandbox)).harms == ("was done",)


def seen_in_the_open(program: Hostile) -> tuple[str, ...]:
    """The harm that the scene sees where nothing but the jail of the whole scene contains a program."""
    from benchmarks.hostile_peers import jailed

    return jailed("exit_status", program).harms


@pytest.mark.slow
@open_scene
@each([program for program in HARM if program.name in ("read_a_file", "write_a_file", "tcp", "signal_one", "daemon", "memory")])
def test_the_scene_sees_harm_that_is_done(program: Hostile) -> None:
    assert seen_in_the_open(program)


@pytest.mark.slow
@open_scene
@each([program for program in HARM if not program.hangs and program.name not in UNSEEN_ANYWAY])
def test_every_harmful_program_does_its_harm_where_nothing_contains_it(program: Hostile) -> None:
    assert seen_in_the_open(program)
