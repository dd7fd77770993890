"""The verdict on an answer to a problem: by the sandbox, by the one right text, or by the literal's value."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypedDict

from ...analysis.corpora.benchmarks import Language
from ...analysis.sandbox.isolation.jail import DEFAULT_LIMITS, Jail
from ...analysis.sandbox.isolation.levels import Isolation
from ...analysis.sandbox.isolation.limits import Limits
from ...analysis.sandbox.judging.java import JavaSandbox
from ...analysis.sandbox.judging.javascript import JavaScriptSandbox
from ...analysis.sandbox.judging.python import PythonSandbox
from ...analysis.sandbox.judging.result import ProgramOutcome, Result
from .problem import Problem, literal
from .suites import Unjudged


class Label(TypedDict):
    """What the tests said of a text."""

    id: str
    tests_pass: bool | None
    why: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text for a problem, whose tests judge it."""

    id: str
    problem: Problem
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an answer, by event. None is unknown, which is never false.

    why: for people, where something is not true. machine_failed: that, and not the answer or its test, is why tests_pass is unknown.
    """

    exact_match: bool | None
    tests_pass: bool | None
    why: str = ""
    machine_failed: bool = False


def label_of(sandbox: PythonSandbox, judged: Text) -> dict[str, Any]:
    """The label of a text. Raises Unjudged where the machine failed."""
    said = judge(judged.problem, judged.text, sandbox)
    if said.machine_failed:
        raise Unjudged(said.why)
    return {"id": judged.id, "tests_pass": said.tests_pass, "why": said.why}


@dataclass(frozen=True, slots=True)
class InSandbox:
    """Makes the worker's function that runs programs in a sandbox; travels to the worker. ask: gives the record of an item.

    several: whether it gets `Sandboxes`, and not that of Python alone.
    """

    isolation: Isolation
    ask: Callable[[Any, Any], dict[str, Any]] = label_of
    several: bool = False

    def __call__(self) -> OpenSandbox:
        """The function, with its sandbox."""
        return OpenSandbox(self.ask, Sandboxes(self.isolation) if self.several else PythonSandbox(Jail(self.isolation)))


@dataclass(frozen=True, slots=True)
class OpenSandbox:
    """Runs programs; holds a sandbox."""

    ask: Callable[[Any, Any], dict[str, Any]]
    sandbox: PythonSandbox | Sandboxes

    def __call__(self, item: Any) -> dict[str, Any]:
        """The record of an item. Raises Unjudged where the machine failed."""
        begun = time.perf_counter()
        return {**self.ask(self.sandbox, item), "timings": {"tests_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the sandbox away."""
        self.sandbox.close()


Sandbox = PythonSandbox | JavaSandbox | JavaScriptSandbox
KINDS: dict[Language, Callable[[Jail], Sandbox]] = {"python": PythonSandbox, "java": JavaSandbox, "javascript": JavaScriptSandbox}


@dataclass(slots=True)
class Sandboxes:
    """Runs programs on their tests, each in the sandbox of its language, which opens as it is needed. checks: programs that were run."""

    isolation: Isolation
    held: dict[Language, Sandbox] = field(default_factory=dict)
    opened: ExitStack = field(default_factory=ExitStack)
    checks: int = 0

    def check(self, language: Language, program: str, test: str, entry_point: str | None) -> Result:
        """What becomes of a program. Raises Unjudged where the machine failed, MissingRuntime."""
        self.checks += 1
        if language not in self.held:
            self.held[language] = KINDS[language](Jail(self.isolation))
            self.opened.push(self.held[language])
        sandbox = self.held[language]
        result = sandbox.check(program, test, entry_point) if isinstance(sandbox, PythonSandbox) else sandbox.check(program, test)
        if result.outcome is ProgramOutcome.INFRASTRUCTURE:
            raise Unjudged(result.reason)
        return result

    def close(self) -> None:
        """End the sandboxes."""
        self.opened.close()


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
