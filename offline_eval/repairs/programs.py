"""Repairs of published bugs of one line: of QuixBugs (Python, Lin et al. 2017) and of Defects4J (Java, Just et al. 2014).

    fail       what a test says of the wrong program
    propose    what the editor proposes at the wrong line
    label      what the tests say of each distinct program
    search     all that was proposed, tested in its order until the tests pass
    loop       beside it, mutation and test without a model

QuixBugs' programs are judged by the tests that come with them. Of Defects4J only the lines of the patch are there, so an exact match alone
is judged. Bugs that are a line that is missing, or more than one line, are left out. A program has no project, so the memory is at most of
its own text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from ...analysis.python.lines import Gap
from ...analysis.sandbox.isolation.best_level import best_level
from ...analysis.sandbox.isolation.limits import Limits
from ...analysis.sandbox.judging.python import PythonSandbox
from ...analysis.sandbox.judging.result import ProgramOutcome
from ...inference.project_memory.memory import Memory
from ...suggestion.memory.scope import Scope
from ...suggestion.repair.asking import Asking as OfRepairs
from ...suggestion.repair.request import Failure, request_for
from ..asked_line import Asking, OpenModel
from ..model import StudyModel, model_of
from ..progress import counted
from ..run import Run, Step
from ..sets.judging import InSandbox, Label, Text
from ..sets.lines import FileWithGap
from ..sets.problem import Problem
from ..sets.problems import problems
from ..sets.suites import Unjudged
from ..study import Making, Results, Study, StudyOptions, Work, all_of, carry_out
from .candidates import (
    LOOPED,
    MAX_TRIED,
    SEARCHED,
    Attempt,
    Proposed,
    Trial,
    answer_of,
    best,
    distinct,
    proposed,
    question_of_repairs,
    repaired,
    require_scores,
    tried,
)
from .report import attempt_of, write_report

# Each of the right programs takes a small part of this, and many of the wrong ones come to no end.
LIMITS = Limits(cpu_s=2)
PROPOSED = Step("proposed", "program", Proposed)
FAILURES, LABELS = Step("failures", "program", Label), Step("labels", "text", Label)


@dataclass(frozen=True, slots=True)
class Wrong:
    """A program with its bug. why: what a test says of it; empty where there is none."""

    problem: Problem
    why: str = ""

    @property
    def id(self) -> str:
        """The program's."""
        return self.problem.id


def wrong_text(problem: Problem) -> str:
    """The program with its bug."""
    return f"{problem.prompt}{problem.wrong}\n{problem.suffix}"


def right_text(problem: Problem) -> str:
    """The program as it should be."""
    return f"{problem.prompt}{problem.truth}\n{problem.suffix}"


def fail(sandbox: PythonSandbox, problem: Problem) -> dict[str, Any]:
    """The label of a program with its bug. Raises Unjudged where the machine failed."""
    passes, why = _passes(sandbox, problem, wrong_text(problem))
    return {"id": problem.id, "tests_pass": passes, "why": why}


def propose(asked: OpenModel[None], program: Wrong) -> dict[str, Any]:
    """The record of a program. Raises ModelError."""
    problem = program.problem

    def remember(before: str, after: str) -> Memory | None:
        return asked.memory.at(FileWithGap(before + after, Gap(len(before), len(before)), "line", asked.settings))

    wrong, line = wrong_text(problem), problem.prompt.count("\n")
    request = request_for(
        OfRepairs(asked.model, asked.settings, remember=remember), wrong, line, line + 1,
        language=problem.language, asker=asked.asker, failure=Failure(message=program.why) if program.why else None,
    )  # fmt: skip
    return dict(proposed(request, wrong, right_text(problem), problem.id))


def label(sandbox: PythonSandbox, judged: Text) -> dict[str, Any]:
    """The label of a program. Raises Unjudged where the machine failed."""
    passes, why = _passes(sandbox, judged.problem, judged.text)
    return {"id": judged.id, "tests_pass": passes, "why": why}


def try_all(sandbox: PythonSandbox, trial: Trial[Problem]) -> dict[str, Any]:
    """The record of a bug; a program's tests count as one. Raises Unjudged where the machine failed."""
    problem = trial.bug
    texts = trial.texts(wrong_text(problem), problem.prompt.count("\n") + 1)
    found = tried(texts, right_text(problem), lambda text: (_passes(sandbox, problem, text)[0], 1))
    return {"id": problem.id, **found}


def _passes(sandbox: PythonSandbox, problem: Problem, text: str) -> tuple[bool | None, str]:
    """What the tests say of a program, and why. Raises Unjudged where the machine failed."""
    said = sandbox.check(text, problem.test, problem.entry_point, limits=LIMITS)
    if said.outcome is ProgramOutcome.INFRASTRUCTURE:
        raise Unjudged(said.reason)
    return said.label, "" if said.label else f"{said.outcome}: {said.reason}" if said.reason else str(said.outcome)


LANGUAGES = {"quixbugs": "python", "defects4j": "java"}
# The sandbox ends a program long before; a worker that takes so long for one hangs.
_MAX_TEXT_S, _MAX_PROGRAM_S = 600.0, 3600.0


class Program(TypedDict):
    """A line of items.jsonl."""

    id: str
    name: str
    line: int
    tested: bool


def _answers(run: Run) -> list[Any]:
    """The repairs of each program that have a score, with what the tests said."""
    made, labels, language = run.by_id(PROPOSED), run.by_id(LABELS), LANGUAGES[run.question()["set"]]
    return [
        answer_of(each["id"], _about(each) | {"language": language}, made[each["id"]], labels if each["tested"] else None)
        for each in run.items(Program)
        if each["id"] in made
    ]


def _report(run: Run, results: Results, *, as_json: bool) -> None:
    """A page, and a summary on stderr."""
    lost = STUDY.lost(run)
    write_report(run, results, list(attempts_of(run)), lost, by="program", as_json=as_json)


STUDY = Study("repairs_programs", (FAILURES, PROPOSED, LABELS, SEARCHED, LOOPED), ("set",), _report, answers=_answers)


def attempts_of(run: Run) -> Iterator[Attempt]:
    """Each program that something was proposed for."""
    made, labels, searched, looped = (run.by_id(step) for step in (PROPOSED, LABELS, SEARCHED, LOOPED))
    name_of_set = run.question()["set"]
    for each in run.items(Program):
        if (name := each["id"]) in made:
            bug = {"source": name_of_set, "kind": name_of_set, "changed": (), "known": 0}
            yield attempt_of(name, each["name"], bug, made[name], labels if each["tested"] else None, searched.get(name), looped.get(name))


def _about(program: Program) -> dict[str, Any]:
    return {"project": program["name"], "file": program["id"], "function": program["name"], "line": program["line"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(StudyOptions):
    """What the user wants. set, data: one of `sets.problems`. limit: the first so many programs. The rest as of the study of lines."""

    set: str
    data: Path
    memory: Scope = "file"

    def problems(self) -> list[Problem]:
        """The programs. Raises SetError."""
        return problems(self.set, self.data, self.limit)

    def model(self) -> StudyModel:
        """The model. Raises as `require_scores` and `model_of`."""
        return require_scores(model_of(self.choice, ("line",), memory="off" if self.memory == "off" else "file"))


def run_programs(options: Options) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, ModelError and OSError."""
    found, model = options.problems(), options.model()
    question = {**model.question(STUDY.name), **question_of_repairs(model), "set": options.set, "seed": options.seed, **options.limited}
    told = counted(len(found), "program")
    return carry_out(
        STUDY, options, question, map(_item, found), lambda run: _works(options, run, model, found), told, plan=lambda: _plan(found)
    )


def _plan(found: Sequence[Problem]) -> dict[str, Any]:
    """What a dry run says."""
    tested = sum(bool(problem.test) for problem in found)
    return {"tested_programs": tested, "isolation": str(best_level()), "most_mutants_tested": tested * MAX_TRIED}


def _item(problem: Problem) -> dict[str, str | int | bool]:
    text = "\0".join((problem.prompt, problem.suffix, problem.truth, problem.wrong, problem.test))
    digest = hashlib.sha256(text.encode()).hexdigest()
    line = problem.prompt.count("\n") + 1
    return {"id": problem.id, "name": problem.group, "line": line, "tested": bool(problem.test), "sha256": digest}


def _works(options: Options, run: Run, model: StudyModel, found: Sequence[Problem]) -> dict[str, Making]:
    pool, sandbox, with_tests = options.pool, partial(InSandbox, best_level()), [problem for problem in found if problem.test]

    def proposing() -> Work[Any]:
        why = run.by_id(FAILURES, "why")
        programs = [Wrong(problem, why.get(problem.id, "")) for problem in found]
        return all_of(PROPOSED, programs, Asking(model, None, propose, in_chat=True), pool, waits=options.waits)

    works: dict[str, Making] = {"propose": proposing}
    if with_tests:
        works = {"fail": lambda: all_of(FAILURES, with_tests, sandbox(fail), pool, max_item_s=_MAX_TEXT_S), **works}
        works |= {
            "label": lambda: all_of(LABELS, _texts(with_tests, run.by_id(PROPOSED)), sandbox(label), pool, max_item_s=_MAX_TEXT_S),
            "search": lambda: all_of(SEARCHED, _searched(with_tests, run), sandbox(try_all), pool, max_item_s=_MAX_PROGRAM_S),
            "loop": lambda: all_of(LOOPED, map(Trial, with_tests), sandbox(try_all), pool, max_item_s=_MAX_PROGRAM_S),
        }
    return works


def _texts(found: Sequence[Problem], made: Mapping[str, Any]) -> Iterator[Text]:
    """Each distinct program that tests are to judge."""
    for problem in found:
        for each in distinct(best(made[problem.id]["candidates"]) if problem.id in made else []):
            yield Text(each["text_id"], problem, repaired(wrong_text(problem), each))


def _searched(found: Sequence[Problem], run: Run) -> Iterator[Trial[Problem]]:
    """Each program with all that was proposed there."""
    made = run.by_id(PROPOSED)
    return (Trial(problem, made[problem.id]["candidates"]) for problem in found if problem.id in made)
