"""Many answers of a model to each problem, labelled in the sandbox: one unit of work for each distinct text of a problem.

A unit's record tells whether the text passes, what it gives for the benchmark's inputs, and how many of the model's own tests it passes.
From the records of all units follow two measures of each draw: the share of the draws that give the same for all inputs (`agreement`), and
the share of the own tests that it passes (`self-test`).
"""

from __future__ import annotations

import ast
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from ....analysis.python.source_text import tree_or_none
from ....analysis.sandbox.isolation.jail import Jail
from ....analysis.sandbox.isolation.levels import Isolation
from ....analysis.sandbox.isolation.limits import Limits
from ....analysis.sandbox.judging.python import PythonSandbox
from ....analysis.sandbox.judging.result import ProgramOutcome, Result
from ....calibration.fitting.folds import numbered
from ...answers import text_id
from ...recorded.answers import Form, Recorded, RecordedAnswer
from ...recorded.formats import recorded
from ...sets.problem import Problem
from ...sets.problems import problems
from ...sets.suites import Unjudged
from .scaling import PROBABILITIES, Measured, of_measure, of_shares

# A text goes on with other code behind an assertion (Chen et al. 2022, CodeT, stops at the same).
_END = re.compile(r"\n(?:class|def|#|if|print)")
_MAX_LENGTH = 2_000
_BUILTINS = frozenset(
    ("abs", "all", "any", "bool", "dict", "float", "int", "len", "list", "max", "min", "round", "set", "sorted", "str", "tuple")
)
_PLAIN = (
    *(ast.Expression, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.boolop, ast.unaryop, ast.cmpop),
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Load, ast.Subscript, ast.Slice, ast.BinOp, ast.Add, ast.Sub, ast.Div),
)
_TEST = """\
test_report = ""
own_tests = [
{tests}
]
for own_test in own_tests:
    try:
        own_mark = "1" if own_test() else "0"
    except Exception:
        own_mark = "0"
    test_report += own_mark
"""


def assertions(texts: Iterable[str], entry_point: str) -> list[str]:
    """The distinct plain assertions in texts that go on from `assert `, in their order, each as an expression."""
    found: dict[str, None] = {}
    for text in texts:
        for part in re.split(r"\bassert\b", text):
            if (expression := _expression(part, entry_point)) is not None:
                found[expression] = None
    return list(found)


def _expression(part: str, entry_point: str) -> str | None:
    """What is asserted, spelled as Python spells it; None where that is no plain assertion on the function."""
    part = _END.split(part, maxsplit=1)[0].strip()
    if entry_point not in part or len(part) > _MAX_LENGTH:
        return None
    for text in dict.fromkeys((part, part.partition("\n")[0])):
        tree = tree_or_none(f"assert {text}")
        statement = tree.body if tree else []
        if len(statement) == 1 and isinstance(statement[0], ast.Assert) and _is_plain(statement[0].test, entry_point):
            return ast.unparse(statement[0].test)
    return None


def _is_plain(test: ast.expr, entry_point: str) -> bool:
    nodes = list(ast.walk(test))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return (
        all(isinstance(node, _PLAIN) for node in nodes)
        and entry_point in names
        and names <= _BUILTINS | {entry_point}
        # a name that is only called: nothing of the program's own is handed around
        and all(id(node) in called for node in nodes if isinstance(node, ast.Name))
        and not any(node.keywords for node in nodes if isinstance(node, ast.Call))
    )


def own_test(expressions: Iterable[str]) -> str:
    """A test for the sandbox that reports a mark for each expression: 1 where it holds, else 0; fewer where the program ended before."""
    return _TEST.format(tests="\n".join(f"    lambda: {expression}," for expression in expressions))


# Small calls with literals: what takes a second does not end.
OWN_LIMITS = Limits(cpu_s=1)
# A program that does not come back from one own test is asked on from the next, so often; the rest then counts as failed.
MAX_RESTARTS = 2


@dataclass(frozen=True, slots=True)
class Unit:
    """A distinct text for a problem. id: of both. draws: how many have it. own_tests: how many the model wrote for the problem.

    measures: those of each draw; none of a draw without log-probabilities or score, or whose text goes on behind the answer. passes, fails:
    how many draws the file says so of.
    """

    id: str
    problem: str
    text: str
    draws: int = 1
    own_tests: int = 0
    measures: tuple[dict[str, float], ...] = ()
    passes: int = 0
    fails: int = 0
    form: Form = "answer"


@dataclass(frozen=True, slots=True)
class Labelled:
    """The record of a unit.

    tests_pass: None where the machine or the test failed. outcome, why: as the sandbox tells.
    outputs: digest of what it gave for the benchmark's inputs, as far as it came; "" where it gave no value.
    inputs_right, inputs: of the benchmark's inputs, as far as it came. own_right: of the own tests; None where the machine failed.
    base_right, base_inputs, plus_inputs: of the original benchmark's inputs, and how many EvalPlus adds to them.
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
    base_right: int = 0
    base_inputs: int = 0
    plus_inputs: int = 0


def unit_of(problem: Problem, text: str, form: Form = "answer") -> Unit:
    """The unit of a draw: of an answer its text as far as it answers the problem."""
    cut = problem.cut(text) if form == "answer" else text
    return Unit(text_id(problem.id, cut), problem.id, cut, form=form)


def program_of(problem: Problem, unit: Unit) -> str:
    """What is run. A whole program in an answer has the imports of the prompt that it answers."""
    if unit.form != "answer":
        return unit.text if unit.form == "program" else problem.prompt + unit.text
    program = problem.program(unit.text)
    imports = [line for line in problem.prompt.splitlines(keepends=True) if line.startswith(("import ", "from "))]
    return program if program.startswith(problem.prompt) else "".join([*imports, program])


def units(drawn: Recorded, asked: Sequence[Problem], own: Mapping[str, Sequence[str]]) -> Iterator[Unit]:
    """The units of some problems, problem by problem, each text once. own: the own tests of each problem."""
    for problem in asked:
        alike: dict[str, tuple[Unit, list[RecordedAnswer]]] = {}
        for answer in drawn.of(problem.id, "draw"):
            unit = unit_of(problem, answer.text, answer.form)
            alike.setdefault(unit.id, (unit, []))[1].append(answer)
        for unit, answers in alike.values():
            measures = tuple(drawn.measures_of(answer) if answer.text.rstrip() == unit.text.rstrip() else {} for answer in answers)
            labels = [answer.labels.get("tests_pass") for answer in answers]
            yield replace(
                unit,
                draws=len(answers),
                own_tests=len(own[problem.id]),
                measures=measures if any(measures) else (),
                passes=labels.count(True),
                fails=labels.count(False),
            )


def own_tests_of(written: Recorded | None, asked: Sequence[Problem]) -> dict[str, list[str]]:
    """The model's own tests of each problem, as expressions; none where none were recorded."""
    if written is None:
        return {problem.id: [] for problem in asked}
    return {
        problem.id: assertions([answer.text for answer in written.of(problem.id, "test")], problem.entry_point or "") for problem in asked
    }


def start(set_name: str, set_file: Path, tests_file: Path | None, isolation: Isolation) -> Callable[[Unit], dict[str, Any]]:
    """The function that makes the record of a unit, in a worker of its own; it raises Unjudged where the machine failed."""
    asked = problems(set_name, set_file)
    written = None if tests_file is None else recorded(tests_file)
    label = labelling(asked, own_tests_of(written, asked), PythonSandbox(Jail(isolation)))

    def record(unit: Unit) -> dict[str, Any]:
        begun = time.perf_counter()
        made = label(unit)
        if made.outcome == ProgramOutcome.INFRASTRUCTURE:
            raise Unjudged(made.why)
        return {**asdict(made), "timings": {"tests_ms": (time.perf_counter() - begun) * 1e3}}

    return record


def labelling(asked: Sequence[Problem], own: Mapping[str, Sequence[str]], sandbox: PythonSandbox) -> Callable[[Unit], Labelled]:
    """The function that labels a unit in a sandbox."""
    by_id = {problem.id: problem for problem in asked}

    def label(unit: Unit) -> Labelled:
        problem = by_id[unit.problem]
        program = program_of(problem, unit)
        result = sandbox.check(program, problem.counting_test, problem.entry_point)
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
            base_right=marks[: problem.base_inputs].count("1"),
            base_inputs=problem.base_inputs,
            plus_inputs=problem.plus_inputs,
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


def measured(found: Sequence[Unit], labels: Mapping[str, Labelled]) -> list[Measured]:
    """The measures over every draw, duplicates included, as the model draws them.

    Draws whose label is unknown, or that have no label yet, are left out; for the self-test those of problems without own tests, too, and
    for agreement the only draw of a problem.
    A text that gave no value agrees with its own copies alone.
    """
    probabilities: dict[str, list[tuple[str, float, bool]]] = {}
    agreement: list[tuple[str, int, int, bool]] = []
    self_test: list[tuple[str, int, int, bool]] = []
    for problem, of_problem in groupby(found, attrgetter("problem")):
        labelled = [(unit, labels[unit.id]) for unit in of_problem if unit.id in labels]
        kept = [(unit, label, label.outputs or label.id) for unit, label in labelled if label.tests_pass is not None]
        draws, alike = sum(unit.draws for unit, _, _ in kept), Counter[str]()
        for unit, _, outputs in kept:
            alike[outputs] += unit.draws
        for unit, label, outputs in kept:
            right = bool(label.tests_pass)
            for name, value in ((name, each[name]) for each in unit.measures for name in PROBABILITIES.keys() & each.keys()):
                probabilities.setdefault(name, []).append((problem, value, right))
            if draws > 1:
                agreement += [(problem, alike[outputs], draws, right)] * unit.draws
            if unit.own_tests and label.own_right is not None:
                self_test += [(problem, label.own_right, unit.own_tests, right)] * unit.draws
    shares = [_shares(name, rows) for name, rows in (("agreement", agreement), ("self-test", self_test)) if rows]
    return [*(of_measure(name, probabilities[name]) for name in PROBABILITIES if name in probabilities), *shares]


def _shares(name: str, rows: Sequence[tuple[str, int, int, bool]]) -> Measured:
    of, k, m, right = zip(*rows, strict=True)
    return of_shares(name, np.array(k), np.array(m), np.array(right), numbered(of))
