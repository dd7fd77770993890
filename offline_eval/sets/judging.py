"""The verdict on an answer to a problem: by the sandbox, by the one right text, or by the literal's value."""

from __future__ import annotations

from dataclasses import dataclass

from ...analysis.sandbox.isolation.jail import DEFAULT_LIMITS
from ...analysis.sandbox.isolation.limits import Limits
from ...analysis.sandbox.judging.python import PythonSandbox
from ...analysis.sandbox.judging.result import ProgramOutcome
from .literals import literal
from .problem import Problem


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an answer, by event. None is unknown, which is never false.

    why: for people, where something is not true. machine_failed: that, and not the answer or its test, is why tests_pass is unknown.
    """

    exact_match: bool | None
    tests_pass: bool | None
    why: str = ""
    machine_failed: bool = False


def is_exact(problem: Problem, text: str) -> bool | None:
    """Whether a text is the right one of a repair, spaces at its ends aside; None for what has no one right text."""
    return problem.cut(text).strip() == problem.truth.strip() if problem.kind == "repair" else None


def judge(problem: Problem, text: str, sandbox: PythonSandbox, *, limits: Limits = DEFAULT_LIMITS) -> Verdict:
    """The verdict on a text, which is cut as `Problem.cut` does.

    exact_match is of repairs: the same line, spaces at its ends aside; a function has no one right text. An exact match passes without a
    run where the set has tests. tests_pass is of the sandbox, and of an execution whether the literal has the right value.
    """
    match problem.kind:
        case "execution":
            return _value(problem, problem.cut(text))
        case "repair":
            exact = is_exact(problem, text)
            if not problem.test:
                return Verdict(exact, None, "no test of this set can be run here")
            return Verdict(exact, True) if exact else _tested(problem, text, sandbox, limits, exact=exact)
    return _tested(problem, text, sandbox, limits, exact=None)


def _value(problem: Problem, text: str) -> Verdict:
    said, right = literal(text), literal(problem.truth)
    if said is None:
        return Verdict(None, False, "no literal")
    return Verdict(None, said == right, "" if said == right else "another value")


def _tested(problem: Problem, text: str, sandbox: PythonSandbox, limits: Limits, *, exact: bool | None) -> Verdict:
    result = sandbox.check(problem.program(text), problem.test, problem.entry_point, limits=limits)
    why = "" if result.label else f"{result.outcome}: {result.reason}" if result.reason else str(result.outcome)
    return Verdict(exact, result.label, why, result.outcome is ProgramOutcome.INFRASTRUCTURE)
