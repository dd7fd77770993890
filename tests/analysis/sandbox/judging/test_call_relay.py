"""What holds of Java and JavaScript programs alike: each is tested from another process, to which its calls are carried."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hostile_java
import hostile_javascript
import pytest

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging.java import JavaSandbox
from assay.analysis.sandbox.judging.javascript import JavaScriptSandbox
from assay.analysis.sandbox.judging.result import ProgramOutcome
from assay.analysis.sandbox.judging.runtime import MissingRuntime


@dataclass(frozen=True, slots=True)
class Language:
    """A sandbox with programs for it.

    peek: a program that looks at places, a port and a file, and its test. failing: programs, and why they fail `test`.
    """

    sandbox: JavaSandbox | JavaScriptSandbox
    right: str
    test: str
    prints: str
    endless: str
    asleep: str
    peek: tuple[str, str]
    failing: dict[str, str]


def java() -> Language:
    right, solution = hostile_java.RIGHT, hostile_java.solution
    return Language(
        JavaSandbox(Jail(best_level())),
        right,
        hostile_java.TEST,
        right.replace("return x * x;", 'System.out.println("seen " + x); return x * x;'),
        solution("for (;;) {}"),
        solution("try { Thread.sleep(99999); } catch (Exception e) {} return 0;"),
        (hostile_java.PEEK, hostile_java.TEST),
        {
            right.replace("i * i", "i + i"): "AssertionError at line 11 of the test",
            right.replace("return all;", "return x;"): "Program.java:4: cannot find symbol",
            right.replace("square(int", "cube(int"): "Test.java:5: cannot find symbol",
        },
    )


def javascript() -> Language:
    right, wrong = hostile_javascript.RIGHT, hostile_javascript.wrong
    return Language(
        JavaScriptSandbox(Jail(best_level())),
        right,
        hostile_javascript.TEST,
        right.replace("=> x * x", "=> { console.log('seen', x); return x * x }"),
        wrong("for (;;) {}"),
        wrong("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); return 0"),
        (hostile_javascript.PEEK, hostile_javascript.PEEK_TEST),
        {
            right.replace("i * i", "i + i"): "assertion failed at line 4 of the test",
            "const square = (x) => {": "SyntaxError: Unexpected end of input",
            "const cube = (x) => x": "square is not defined at line 2 of the test",
        },
    )


@pytest.fixture(scope="module")
def language(request: pytest.FixtureRequest) -> Iterator[Language]:
    try:
        made = {"java": java, "javascript": javascript}[request.param]()
    except (MissingRuntime, NoIsolation) as reason:
        pytest.skip(str(reason))
    with made.sandbox:
        yield made


each_language = pytest.mark.parametrize("language", [pytest.param("java", marks=pytest.mark.slow), "javascript"], indirect=True)


@each_language
def test_a_right_program_passes_and_what_it_prints_is_kept(language: Language) -> None:
    result = language.sandbox.check(language.prints, language.test)
    assert (result.outcome, result.label) == (ProgramOutcome.PASSED, True), result
    assert "seen -4\n" in result.output


@each_language
def test_a_program_that_is_wrong_or_no_program_fails_with_the_line_or_the_message(language: Language) -> None:
    for program, why in language.failing.items():
        result = language.sandbox.check(program, language.test)
        assert (result.outcome, result.label) == (ProgramOutcome.FAILED, False)
        assert why in result.reason


@pytest.mark.slow
@each_language
def test_a_process_that_cannot_start_says_nothing_about_the_program(language: Language) -> None:
    result = language.sandbox.check(language.right, language.test, limits=Limits(memory_bytes=1 << 24, wall_s=2))
    assert (result.outcome, result.label) == (ProgramOutcome.INFRASTRUCTURE, None)
    assert "did not start" in result.reason


@pytest.mark.slow
@each_language
def test_a_program_that_never_ends_is_stopped_by_its_cpu_time_or_by_the_clock(language: Language) -> None:
    limits, says = Limits(cpu_s=1), "1 s of CPU time"
    for program in (language.endless, language.asleep):
        result = language.sandbox.check(program, language.test, limits=limits)
        assert (result.outcome, says in result.reason) == (ProgramOutcome.TIMED_OUT, True), result
        limits, says = Limits(wall_s=4), "4 s on the clock"


# these end when their limits end them, or make the machine work
SLOW = ("never", "fill", "full", "without end", "bounds", "worker")
HOSTILE = [
    pytest.param(language, program, ending, id=f"{language} {name}", marks=[pytest.mark.slow] if language == "java" or is_slow else [])
    for language, programs in (("java", hostile_java.HOSTILE), ("javascript", hostile_javascript.HOSTILE))
    for name, (program, ending) in programs.items()
    for is_slow in [any(word in name for word in SLOW)]
]


@pytest.mark.parametrize(("language", "program", "ending"), HOSTILE, indirect=["language"])
def test_a_hostile_program_never_passes(language: Language, program: str, ending: ProgramOutcome | None) -> None:
    result = language.sandbox.check(program, language.test, limits=Limits(cpu_s=1, wall_s=20))
    assert result.label is False, result
    assert ending is None or result.outcome is ending, result


@each_language
def test_a_right_program_passes_after_all_the_hostile_ones(language: Language) -> None:
    assert all(language.sandbox.check(language.right, language.test).label for _ in range(3))


@each_language
def test_a_program_sees_no_file_variable_or_socket_of_ours(language: Language, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SECRET", "1")
    # for any user, so that the jail alone stands in the way
    shared.chmod(0o777)
    secret = shared / "secret"
    secret.write_text("x")
    secret.chmod(0o644)
    program, test = language.peek
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = language.sandbox.check(program % (secret, __file__, server.getsockname()[1], shared / "written"), test)
    assert result.outcome is ProgramOutcome.PASSED, result
    assert not (shared / "written").exists()
