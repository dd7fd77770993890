"""Recorded answers to functions, labelled here: every distinct program is run, and two measures of it are judged (`draws`).

The items of a run are the distinct texts, each with the number of answers that have it, so that a page can be made from the run alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ....calibration.report.blocks import Table
from ...errors import UsageError
from ...pool.choice import Pool
from ...progress import counted, to_stderr
from ...run import Run
from ...sets.problem import Problem
from ...sets.problems import problems
from ...study import Results, Step, Study, Work, conduct
from .draws import Labelled, Unit, measured, own_tests_of, start, units
from .page import Judged, Stream, write_judged
from .source import AnswerFile, question_of, read, sources_of

LABELS = Step("labels", "text", Labelled)
# A text is run on the benchmark's inputs and on the model's own tests, each with a limit; a worker that takes so long hangs.
MAX_TEXT_S = 900.0
_NEEDED = ("set", "items")


def _report(run: Run, results: Results, *, as_json: bool) -> None:  # noqa: ARG001
    """A page, and its summary on stderr."""
    found = run.items(Unit)
    labels = {record["id"]: Labelled(**record) for record in run.records(LABELS).read()}
    write_judged(run, _judged(run, found, labels), _NEEDED, as_json=as_json)


STUDY = Study("recorded", (LABELS,), _NEEDED, _report)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants. files: with the model's programs and, perhaps, its tests. limit: the first so many problems."""

    out: Path
    set: str
    data: Path
    files: Sequence[Path]
    limit: int | None = None
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What the files hold of a set. unasked: answers to other problems. tests: the file of the model's own tests."""

    problems: Sequence[Problem]
    draws: AnswerFile
    tests: AnswerFile | None
    units: Sequence[Unit]
    unasked: int

    @property
    def files(self) -> list[AnswerFile]:
        """Those of its answers."""
        return [self.draws, *([self.tests] if self.tests else [])]


def find(asked: Asked) -> Found:
    """Read set and answers. Raises SetError, RecordedError and UsageError."""
    chosen = problems(asked.set, asked.data, asked.limit)
    for problem in chosen:
        try:
            _ = problem.counting_test
        except ValueError as error:
            raise UsageError(f"{asked.data}: {error}; name HumanEvalPlus.jsonl.gz or MbppPlus.jsonl.gz as --data") from None
    files = read(asked.files)
    draws, tests = ([file for file in files if file.has(step)] for step in ("draw", "test"))
    if unused := [str(file.path) for file in files if file not in draws and file not in tests]:
        raise UsageError(f"{', '.join(unused)}: neither programs (step draw) nor tests (step test) are in it")
    if len(draws) != 1 or len(tests) > 1:
        raise UsageError(
            f"a run is about one file of programs, and one of tests at most: {len(draws)} and {len(tests)} were named with --recorded"
        )
    own = own_tests_of(tests[0].answers if tests else None, chosen)
    found = list(units(draws[0].answers, chosen, own))
    if not found:
        raise UsageError(f"{draws[0].path} has no answers to any of {counted(len(chosen), 'problem')} of {asked.set}")
    drawn = sum(step == "draw" for _, step, _ in draws[0].answers.answers)
    return Found(chosen, draws[0], tests[0] if tests else None, found, drawn - sum(unit.draws for unit in found))


def run_recorded(asked: Asked) -> Run:
    """Run, or resume, the study. Raises as `label`."""
    return label(STUDY, asked, lambda unit, _: asdict(unit))


def label(study: Study, asked: Asked, item_of: Callable[[Unit, Problem], dict[str, Any]]) -> Run:
    """Run, or resume, a study of recorded programs. Raises UsageError, RunError, StudyError, NoIsolation and OSError.

    item_of: what the run keeps of a text and its problem.
    """
    found = find(asked)
    by_id = {problem.id: problem for problem in found.problems}
    lines = [json.dumps(item_of(unit, by_id[unit.problem])).encode() + b"\n" for unit in found.units]
    question = question_of(study.name, asked.set, found.files, asked.seed, asked.limit, lines)
    run = Run.begin(asked.out, {**question, "problems": len(found.problems), "unasked": found.unasked})
    run.keep_items(lines)
    draws = sum(unit.draws for unit in found.units)
    to_stderr(f"{counted(draws, 'answer')} to {counted(len(found.problems), 'problem')}, {counted(len(found.units), 'distinct text')}")
    begin = partial(start, asked.set, asked.data, found.tests.path if found.tests else None, best_level())
    work = Work(LABELS, found.units, begin, asked.pool, wanted=len(found.units), max_item_s=MAX_TEXT_S)
    conduct(study, run, [lambda: work], as_json=asked.as_json)
    return run


def _judged(run: Run, found: Sequence[Unit], labels: dict[str, Labelled]) -> Judged:
    question = run.question(_NEEDED)
    name = sources_of(question)[0].name
    known = {unit.id: labels[unit.id].tests_pass for unit in found if unit.id in labels and labels[unit.id].tests_pass is not None}
    by_problem = [list(group) for _, group in groupby(found, attrgetter("problem"))]
    drawn = [sum(unit.draws for unit in group if unit.id in known) for group in by_problem]
    right = [sum(unit.draws for unit in group if known.get(unit.id)) for group in by_problem]
    draws = sum(unit.draws for unit in found)
    tested = {unit.problem: unit.own_tests for unit in found if unit.own_tests}
    rows = (
        ("problems", question["problems"]),
        ("answers", draws),
        ("distinct texts", len(found)),
        ("answers with a label", sum(drawn)),
        ("of these right", sum(right)),
        ("problems with right and wrong answers", sum(0 < c < n for n, c in zip(drawn, right, strict=True))),
        ("problems without a right answer", sum(n > 0 == c for n, c in zip(drawn, right, strict=True))),
        ("the model's own tests", sum(tested.values())),
    )
    return Judged(
        event="tests_pass",
        streams=(Stream(name, drawn, right),),
        counts=Table("The stream of answers as the model gave them", ("what", "number"), "lr", tuple((what, f"{n:,}") for what, n in rows)),
        measured=[(name, each) for each in measured(found, labels)],
        left_out=tuple(_left_out(question, len(by_problem), draws - sum(drawn), len(by_problem) - len(tested))),
    )


def _left_out(question: dict[str, Any], answered: int, unlabelled: int, untested: int) -> list[str]:
    said = [
        (question["problems"] - answered, "problem without a recorded answer", "problems without a recorded answer"),
        (question["unasked"], "recorded answer to another problem", "recorded answers to other problems"),
        (unlabelled, "answer without a label: not run yet, or the test can't decide", "answers without a label: not run yet, or undecided"),
        (untested, "problem without a test of the model's own", "problems without a test of the model's own: no self-test there"),
    ]
    return [f"{n:,} {one if n == 1 else many}." for n, one, many in said if n]
