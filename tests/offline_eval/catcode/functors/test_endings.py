"""How a program ends, as the real sandboxes tell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from study_runs import isolation_here

from assay.analysis.sandbox.isolation.best_level import best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.judging.javascript import find_node
from assay.analysis.sandbox.judging.result import ProgramOutcome, Result
from assay.offline_eval.catcode.functors.labelling import ProgramUnderTest, Running, Runs, check_languages, ending_of
from assay.offline_eval.errors import StudyError

PYTHON_TEST = "def check(f):\n    assert f(1) == 2\n    assert abs(f(2)) == 3\n"
MBXP = 'const _ = require("lodash")\nfunction compare(a, b) {\n    return _.isEqual(a, b)\n}\n'
# As published: what is thrown names a variable that is not there.
MBXP += "var x0 = f(1);\nif(!compare(x0, 2)){\n    throw 'Error at 1th assert statement. Value = ' + JSON.stringify(x)\n}\n"
JAVA_TEST = (
    "class Main { public static void main(String[] a) throws Exception { int x = A.f(1); "
    'if (x != 2) throw new java.lang.Exception("Exception -- test case 0 did not pass. x0 = " + x); } }'
)


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    level = isolation_here()
    made = Running(level)()
    assert isinstance(made, Runs)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        ("def f(x):\n    return x + 1\n", "passes"),
        ("def f(x):\n    return x\n", "wrong"),
        ("def f(x):\n    return x.y\n", "crash"),
        ("def f(x):\n    return None if x > 1 else 2\n", "crash"),  # the test can't work with it
        ("def g(x):\n    return x\n", "crash"),
        ("import os\nos._exit(0)\n", "crash"),
        ("def f(x):\nreturn x\n", "does_not_compile"),
    ],
)
def test_endings_of_python(runs: Runs, program: str, ending: str) -> None:
    label = runs(ProgramUnderTest("x", "python", program, PYTHON_TEST, "f"))
    assert label["ending"] == ending
    assert bool(label["why"]) == (ending != "passes")


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        ("function f(x) { return x + 1 }", "passes"),
        ("function f(x) { return x }", "wrong"),
        ("function f(x) { return y }", "crash"),
        ("function g(x) { return x }", "crash"),
        ("function f(x) { return }}", "does_not_compile"),
    ],
)
def test_endings_of_javascript_where_a_published_test_fails_to_tell(runs: Runs, program: str, ending: str) -> None:
    check_languages(frozenset({"javascript"}))
    assert runs(ProgramUnderTest("x", "javascript", program, MBXP, "f"))["ending"] == ending
    test = "console.assert(f(1) === 2)\n"
    assert runs(ProgramUnderTest("x", "javascript", program, test, None))["ending"] == ending


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "ending"),
    [("return x + 1;", "passes"), ("return x;", "wrong"), ("return 1 / (x - 1);", "crash"), ('return "";', "does_not_compile")],
)
def test_endings_of_java(runs: Runs, body: str, ending: str) -> None:
    check_languages(frozenset({"java"}))
    assert (
        runs(ProgramUnderTest("x", "java", f"class A {{ public static int f(int x) {{ {body} }} }}", JAVA_TEST, None))["ending"] == ending
    )


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [
        (ProgramOutcome.TIMED_OUT, "time"),
        (ProgramOutcome.OUT_OF_MEMORY, "crash"),
        (ProgramOutcome.CRASHED, "crash"),
        (ProgramOutcome.NOT_JUDGEABLE, None),
        (ProgramOutcome.INFRASTRUCTURE, None),
    ],
)
def test_what_the_machine_or_the_test_can_not_tell_has_no_ending(outcome: ProgramOutcome, ending: str | None) -> None:
    assert ending_of(ProgramUnderTest("x", "python", "def f(x): return x", "", "f"), Result(outcome, "why")) == ending


def test_a_language_that_can_not_be_run_here_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    best_level()
    monkeypatch.setenv("PATH", "/nowhere")
    find_node.cache_clear()
    try:
        with pytest.raises(StudyError, match="There is no node here"):
            check_languages(frozenset({"javascript"}))
    finally:
        find_node.cache_clear()


def test_a_machine_that_fails_makes_no_label() -> None:
    from assay.offline_eval.sets.suites import Unjudged

    class Broken:
        def check(self, *_: object, **__: object) -> Result:
            return Result(ProgramOutcome.INFRASTRUCTURE, "no memory")

    level = best_level()
    with pytest.raises(Unjudged, match="no memory"):
        Runs(Jail(level), {"javascript": Broken()})(ProgramUnderTest("x", "javascript", "", "", None))  # type: ignore[dict-item]
