"""Many answers of a model to each problem, labelled in the sandbox: one unit of work for each distinct text of a problem.

A unit's record tells whether the text passes, what it gives for the benchmark's inputs, and how many of the model's own tests it passes.
From the records of all units follow two measures of each draw: the share of the draws that give the same for all inputs (`agreement`), and
the share of the own tests that it passes (`self-test`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...analysis.corpora.benchmarks import profiled
from ...analysis.sandbox.isolation.jail import Jail
from ...analysis.sandbox.isolation.levels import Isolation
from ...analysis.sandbox.isolation.limits import Limits
from ...analysis.sandbox.judging.python import PythonSandbox
from ...analysis.sandbox.judging.result import ProgramOutcome, Result
from ...calibration.fitting.folds import numbered
from ..recorded.answers import Recorded
from ..recorded.formats import recorded
from ..sets.problem import Problem
from ..sets.problems import problems
from .own_tests import assertions, own_test
from .scaling import Measured, of_shares

# Small calls with literals: what takes a second does not end.
OWN_LIMITS = Limits(cpu_s=1)
# A program that does not come back from one own test is asked on from the next, so often; the rest then counts as failed.
MAX_RESTARTS = 2


@dataclass(frozen=True, slots=True)
class Unit:
    """A distinct text for a problem. id: of both."""

    id: str
    problem: str
    text: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """The record of a unit.

    tests_pass: None where the machine or the test failed. outcome, why: as the sandbox tells.
    outputs: digest of what it gave for the benchmark's inputs, as far as it came; "" where it gave no value.
    inputs_right, inputs: of the benchmark's inputs. own_right: of the own tests; None where the machine failed.
    """

    id: str
    problem: str
    tests_pass: bool | None
    outcome: str
    why: str
    outputs: str
    inputs_right: int
    inputs: int
    own_right: int | None


def unit_of(problem: Problem, text: str) -> Unit:
    """The unit of a draw: its text as far as it answers the problem."""
    cut = problem.cut(text)
    return Unit(f"{problem.id}:{hashlib.sha256(cut.encode(errors='surrogatepass')).hexdigest()[:16]}", problem.id, cut)


def units(drawn: Recorded, asked: Sequence[Problem]) -> Iterator[Unit]:
    """The units of some problems, problem by problem, each text once."""
    for problem in asked:
        yield from {unit.id: unit for answer in drawn.of(problem.id, "draw") if (unit := unit_of(problem, answer.text))}.values()


def own_tests_of(written: Recorded, asked: Sequence[Problem]) -> dict[str, list[str]]:
    """The model's own tests of each problem, as expressions."""
    return {
        problem.id: assertions([answer.text for answer in written.of(problem.id, "test")], problem.entry_point or "") for problem in asked
    }


def start(set_file: Path, tests_file: Path, isolation: Isolation) -> Callable[[Unit], Labelled]:
    """The function that labels a unit, in a worker of its own. It lives as long as the worker."""
    asked = problems("humaneval", set_file)
    return labelling(asked, own_tests_of(recorded(tests_file), asked), PythonSandbox(Jail(isolation)))


def labelling(asked: Sequence[Problem], own: Mapping[str, Sequence[str]], sandbox: PythonSandbox) -> Callable[[Unit], Labelled]:
    """The function that labels a unit in a sandbox."""
    by_id = {problem.id: problem for problem in asked}

    def label(unit: Unit) -> Labelled:
        problem = by_id[unit.problem]
        program = problem.program(unit.text)
        result = sandbox.check(program, profiled(problem.test, problem.entry_point), problem.entry_point)
        digest, _, marks = result.report.partition(" ")
        made = Labelled(
            id=unit.id,
            problem=unit.problem,
            tests_pass=result.label,
            outcome=result.outcome,
            why=result.reason[:200],
            outputs=digest if set(marks) & {"0", "1"} else "",
            inputs_right=marks.count("1"),
            inputs=len(marks),
            own_right=None,
        )
        if made.tests_pass is None:
            return made
        # a program that does not run at all passes none of them
        right = _own_right(sandbox, problem, program, own[unit.problem]) if marks or result.outcome is ProgramOutcome.TIMED_OUT else 0
        return replace(made, own_right=right)

    return label


def _own_right(sandbox: PythonSandbox, problem: Problem, program: str, own: Sequence[str]) -> int | None:
    """How many of the own tests hold; None where the machine failed."""
    right, at = 0, 0
    for _ in range(1 + MAX_RESTARTS):
        if at == len(own):
            return right
        result: Result = sandbox.check(program, own_test(own[at:]), problem.entry_point, limits=OWN_LIMITS)
        if result.label is None:
            return None
        right += result.report.count("1")
        if result.label:
            return right
        at = min(len(own), at + len(result.report) + 1)
    return right


def measured(drawn: Recorded, asked: Sequence[Problem], labels: Mapping[str, Labelled], own: Mapping[str, Sequence[str]]) -> list[Measured]:
    """Both measures over every draw, duplicates included, as the model draws them.

    Draws whose label is unknown, or that have no label yet, are left out; for the self-test those of problems without own tests, too.
    A text that gave no value agrees with its own copies alone.
    """
    agreement: list[tuple[str, int, int, bool]] = []
    self_test: list[tuple[str, int, int, bool]] = []
    for problem in asked:
        found = [labels.get(unit_of(problem, answer.text).id) for answer in drawn.of(problem.id, "draw")]
        kept = [label for label in found if label is not None and label.tests_pass is not None]
        given = [label.outputs or label.id for label in kept]
        for label, outputs in zip(kept, given, strict=True):
            agreement.append((problem.id, given.count(outputs), len(kept), bool(label.tests_pass)))
            if own[problem.id] and label.own_right is not None:
                self_test.append((problem.id, label.own_right, len(own[problem.id]), bool(label.tests_pass)))
    return [_shares(name, rows) for name, rows in (("agreement", agreement), ("self-test", self_test)) if rows]


def _shares(name: str, rows: Sequence[tuple[str, int, int, bool]]) -> Measured:
    of, k, m, right = zip(*rows, strict=True)
    return of_shares(name, np.array(k), np.array(m), np.array(right), numbered(of))
