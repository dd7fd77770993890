"""Recorded answers to functions, labelled here: every distinct program is run, and the measures of it are judged (`draws`).

The items of a run are the distinct texts, each with the number of answers that have it, so that a page can be made from the run alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from ....analysis.sandbox.isolation.best_level import best_level
from ....calibration.bands import EVENT_WORDS
from ....calibration.metrics.groups import mean_share
from ....calibration.report.blocks import Paragraph, Table
from ....calibration.report.cells import Cell, CellTable, Row, with_interval
from ....calibration.report.study_report import Section, StudyContent
from ....calibration.samples import Event
from ...calibration.recorded.draws import MAX_RESTARTS
from ...errors import UsageError
from ...paper_tables.forecasts import paper
from ...progress import counted
from ...recorded.source import AnswerFile, question_of, sources_of
from ...run import AskedQuestion, Run, Step
from ...sets.problem import Problem
from ...sets.problems import countable_problems
from ...study import Study, StudyOptions, Work, carry_out
from ...study_page import again, page_of, the_paper
from .draws import Labelled, Unit, measured, own_tests_of, program_of, start, units
from .scaling import Measured, Scores, all_scores

PASS_AT = (1, 5, 10, 100)
_BY = "problem"
_SCORES = (
    "As it is: the measure itself is taken for the probability. Scaled: Platt's map of the measure's log odds. Random folds are the "
    "paper's; by problem, no map judges an answer to a problem of which it has seen one. Skill: 1 is perfect, 0 is what always saying the "
    "base rate gets. ECE: ten bins of equal width; its floor is what a perfect forecaster would get. The calibration error is free of that "
    "noise. Intervals are 95 %, with whole problems alone independent."
)
# How the sandbox tells of a program that doesn't parse.
_UNREADABLE = ("SyntaxError", "IndentationError", "TabError")
_WAYS = {"raw": "as it is", "random folds": "scaled, random folds", "by problem": "scaled, by problem"}


@dataclass(frozen=True, slots=True)
class Stream:
    """The answers of one file as they came. name: of the set. drawn, right: of each problem its labelled answers, and the right ones."""

    name: str
    drawn: Sequence[int]
    right: Sequence[int]


@dataclass(frozen=True, slots=True)
class Judged:
    """What a run found. counts: rows for people. measured: by file, the measures of its answers. left_out: for people."""

    event: Event
    streams: Sequence[Stream]
    counts: Table
    measured: Sequence[tuple[str, Measured]]
    left_out: tuple[str, ...]


def content_of(run: Run, question: AskedQuestion, judged: Judged) -> StudyContent:
    """The page."""
    found = [(name, one) for name, measured in judged.measured if (one := _scores(measured, question["seed"]))]
    few = tuple(f"{name}: {measured.name} of one problem, of which no score has an interval." for name, measured in judged.measured
                if len(set(measured.problem.tolist())) < 2)  # fmt: skip
    model, limit = question["model_name"], question.get("limit")
    return StudyContent(
        title=f"Recorded answers: {model} on {question['set']}",
        summary=_summary(judged, question, found),
        facts=(
            f"the answers of {model} were recorded by others; no model was asked",
            f"set: {question['set']}" + (f", its first {limit} problems" if limit else ""),
            f"event: {EVENT_WORDS[judged.event]}",
            f"seed of the folds: {question['seed']}",
            the_paper(paper(), "; its models and measures are others"),
        ),
        sections=(
            Section("The answers", (judged.counts, _rates(judged))),
            Section("A measure as a probability", (Paragraph(_SCORES), _table(found))),
        ),
        left_out=(*judged.left_out, *few),
        sources=sources_of(question),
        command=again(run),
    )


def _scores(measured: Measured, seed: int) -> list[Scores]:
    """None of answers to one problem."""
    return all_scores(measured, seed) if len(set(measured.problem.tolist())) > 1 else []


def _summary(judged: Judged, question: Mapping[str, Any], found: Sequence[tuple[str, Sequence[Scores]]]) -> tuple[str, str, str]:
    first = judged.streams[0]
    answers, right, problems = sum(first.drawn), sum(first.right), len(first.drawn)
    share = f", and {right / answers:.1%} are right ({EVENT_WORDS[judged.event]})" if answers else ""
    of = f"{problems:,} of {counted(question['problems'], 'problem')}" if "problems" in question else counted(problems, "problem")
    labelled = f"{counted(answers, 'recorded answer')} with a label to {of} of {question['set']}"
    opening = f"{first.name} has {labelled}{share}."
    if not judged.measured:
        why = "No labelled answer has log-probabilities or a score, and no problem has two, so no measure tells which are right."
        return opening, why, "No score was computed."
    if not found:
        return opening, "They are too few to say how well a measure tells which are right.", "No score was computed."
    whole = [scores for _, scores in found if all(one.intervals.skill for one in scores)]
    if not whole:
        return opening, "Those with a measure are all right, or all wrong, so there is nothing to tell apart.", "No skill was computed."
    raw, _, scaled = whole[0]
    skill, after = raw.intervals.skill, scaled.intervals.skill
    assert skill is not None
    assert after is not None
    worse = "worse than" if skill.high < 0 else "better than" if skill.low > 0 else "not shown to be better than"
    gain = "better than" if after.low > 0 else "worse than" if after.high < 0 else "not shown to be better than"
    return (
        opening,
        f"Taken for the probability that an answer is right, the measure {raw.measure} says {raw.said:.1%} on average, which is {worse} "
        f"always saying the base rate (skill {skill.value:z.2f}, where 0 is the base rate and 1 is perfect).",
        f"Scaled on some problems and judged on others it is {gain} the base rate: skill {after.value:z.2f} ({after.low:z.2f} to "
        f"{after.high:z.2f}), and off by {scaled.ece:.3f} on average, where chance alone would give {scaled.ece_floor:.3f}.",
    )


def _rates(judged: Judged) -> CellTable:
    """The share of problems that one of k answers gets right."""
    rows = tuple(Row((stream.name,), tuple(_pass_at(stream, k) for k in PASS_AT)) for stream in judged.streams)
    notes = ("pass@k is without bias (Chen et al. 2021, eq. 1), over the problems with at least k labelled answers.",)
    title = "How often one of k answers is right"
    return CellTable("R", title, ("answers",), tuple(f"pass@{k}" for k in PASS_AT), rows, notes)


def _pass_at(stream: Stream, k: int) -> Cell:
    rates = [1 - math.comb(n - c, k) / math.comb(n, k) for n, c in zip(stream.drawn, stream.right, strict=True) if n >= k]
    place, n = f"R/{stream.name}/pass_at_{k}", sum(number for number in stream.drawn if number >= k)
    if not rates:
        return Cell(place, why=f"fewer than {k} answers", percent=True)
    if len(rates) == 1:
        return Cell(place, rates[0], n=n, groups=1, grouped_by=_BY, percent=True)
    return with_interval(place, mean_share(rates, np.arange(len(rates))), n, len(rates), _BY, percent=True)


def _table(found: Sequence[tuple[str, Sequence[Scores]]]) -> CellTable:
    rows = tuple(Row((name, one.measure, _WAYS[one.way]), tuple(_cells(name, one))) for name, scores in found for one in scores)
    columns = ("said", "Brier", "skill", "ECE", "calibration error", "AUC")
    return CellTable("S", "Scores", ("answers", "measure", "how"), columns, rows)


def _cells(name: str, one: Scores) -> Iterator[Cell]:
    place, counts, found = f"S/{name}/{one.measure}/{one.way.replace(' ', '_')}", (one.n, one.problems, _BY), one.intervals
    n = {"n": one.n, "groups": one.problems, "grouped_by": _BY}
    yield Cell(f"{place}/said", one.said, percent=True, **n)  # type: ignore[arg-type]
    yield with_interval(f"{place}/brier", found.brier, *counts)
    yield with_interval(f"{place}/skill", found.skill, *counts)
    yield Cell(f"{place}/ece", one.ece, noise_floor=one.ece_floor, **n)  # type: ignore[arg-type]
    yield with_interval(f"{place}/error", found.calibration_error, *counts)
    yield with_interval(f"{place}/auc", found.auc, *counts)


LABELS = Step("labels", "text", Labelled)
# A text is run on the benchmark's inputs and on the model's own tests, each with a limit; a worker that takes so long hangs.
MAX_TEXT_S = 900.0
_NEEDED = ("set", "items")


def _content(run: Run) -> StudyContent:
    found = run.items(Unit)
    labels = {record["id"]: Labelled(**record) for record in run.records(LABELS).read()}
    return content_of(run, run.question(_NEEDED), _judged(run, found, labels))


def as_suggestion(
    of: str, name: str, problem: str, text: str, measures: Mapping[str, float], labels: Mapping[str, bool | None]
) -> dict[str, Any]:
    """An answer as a study of suggestions has it, so that it makes a sample. of: the set, which is the sample's task."""
    generation = {"id": name, "task": of, "text": text, "inserted": text, "truth": "", "measures": measures, "labels": labels}
    return {
        "id": name,
        "project": problem,
        "file": problem,
        "function": "",
        "line": 1,
        "generations": [{**generation, "stopped_by": "end"}],
    }


def _answers(run: Run) -> list[Any]:
    """Each draw with log-probabilities, as a suggestion of its problem."""
    of, passes = run.question(_NEEDED)["set"], run.by_id(LABELS, "tests_pass")
    return [
        as_suggestion(of, f"{unit.id}:{draw}", unit.problem, unit.text, measures, {"tests_pass": passes.get(unit.id)})
        for unit in run.items(Unit)
        for draw, measures in enumerate(unit.measures)
        if measures
    ]


STUDY = Study("recorded", (LABELS,), _NEEDED, page_of(_content), answers=_answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(StudyOptions):
    """What the user wants. files: with the model's programs and, perhaps, its tests. limit: the first so many problems."""

    set: str
    data: Path
    files: Sequence[AnswerFile]


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


def find(options: Options) -> Found:
    """Read set and answers. Raises SetError, RecordedError and UsageError."""
    chosen = countable_problems(options.set, options.data, options.limit)
    files = options.files
    draws, tests = ([file for file in files if file.has(step)] for step in ("draw", "test"))
    if unused := [str(file.path) for file in files if file not in draws and file not in tests]:
        raise UsageError(f"{', '.join(unused)}: neither programs (step draw) nor tests (step test) are in it")
    if len(draws) != 1 or len(tests) > 1:
        raise UsageError(f"a run is about one file of programs, and one of tests at most: {len(draws)} and {len(tests)} were named")
    own = own_tests_of(tests[0].answers if tests else None, chosen)
    found = list(units(draws[0].answers, chosen, own))
    if not found:
        raise UsageError(f"{draws[0].path} has no answers to any of {counted(len(chosen), 'problem')} of {options.set}")
    drawn = sum(step == "draw" for _, step, _ in draws[0].answers.answers)
    return Found(chosen, draws[0], tests[0] if tests else None, found, drawn - sum(unit.draws for unit in found))


def run_recorded(options: Options) -> Run:
    """Run, or resume, the study. Raises as `label`."""
    return label(STUDY, options, lambda unit, _: asdict(unit))


def label(study: Study, options: Options, item_of: Callable[[Unit, Problem], dict[str, Any]]) -> Run:
    """Run, or resume, a study of recorded programs. Raises UsageError, RunError, StudyError, NoIsolation and OSError.

    item_of: what the run keeps of a text and its problem.
    """
    found = find(options)
    by_id = {problem.id: problem for problem in found.problems}
    items = [item_of(unit, by_id[unit.problem]) for unit in found.units]
    question = {**question_of(study.name, options.set, found.files, options), "problems": len(found.problems), "unasked": found.unasked}
    draws = counted(sum(unit.draws for unit in found.units), "answer")
    told = f"{draws} to {counted(len(found.problems), 'problem')}, {counted(len(found.units), 'distinct text')}"
    isolation, first = best_level(), found.units[0]
    begin = partial(start, options.set, options.data, found.tests.path if found.tests else None, isolation)
    work = Work(LABELS, found.units, begin, options.pool, wanted=len(found.units), max_item_s=MAX_TEXT_S)
    plan = {
        "isolation": str(isolation),
        "most_programs_run": len(found.units) * (2 + MAX_RESTARTS if found.tests else 1),
        "generations": 0,
        "example": program_of(by_id[first.problem], first),
    }
    return carry_out(study, options, question, items, lambda _: [lambda: work], told, plan=lambda: plan)


def _judged(run: Run, found: Sequence[Unit], labels: dict[str, Labelled]) -> Judged:
    question = run.question(_NEEDED)
    name = sources_of(question)[0].name
    known = {unit.id: labels[unit.id].tests_pass for unit in found if unit.id in labels and labels[unit.id].tests_pass is not None}
    by_problem = [list(group) for _, group in groupby(found, attrgetter("problem"))]
    drawn = [sum(unit.draws for unit in group if unit.id in known) for group in by_problem]
    right = [sum(unit.draws for unit in group if known.get(unit.id)) for group in by_problem]
    draws = sum(unit.draws for unit in found)
    differ = sum(unit.fails if known[unit.id] else unit.passes for unit in found if unit.id in known)
    unreadable = sum(unit.draws for unit in found if unit.id in labels and labels[unit.id].why.startswith(_UNREADABLE))
    unmeasured = sum(unit.draws - sum(map(bool, unit.measures)) for unit in found) if any(unit.measures for unit in found) else 0
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
        *((("labels of the file that differ", differ),) if any(unit.passes or unit.fails for unit in found) else ()),
    )
    return Judged(
        event="tests_pass",
        streams=(Stream(name, drawn, right),),
        counts=Table("The stream of answers as the model gave them", ("what", "number"), "lr", tuple((what, f"{n:,}") for what, n in rows)),
        measured=[(name, each) for each in measured(found, labels)],
        left_out=tuple(
            _left_out(question, len(by_problem), draws - sum(drawn), unreadable, len(by_problem) - len(tested) if tested else 0, unmeasured)
        ),
    )


def _left_out(question: dict[str, Any], answered: int, unlabelled: int, unreadable: int, untested: int, unmeasured: int) -> list[str]:
    said = [
        (question["problems"] - answered, "problem without a recorded answer", "problems without a recorded answer"),
        (question["unasked"], "recorded answer to another problem", "recorded answers to other problems"),
        (unlabelled, "answer without a label: not run yet, or the test can't decide", "answers without a label: not run yet, or undecided"),
        (unreadable, "answer that Python can't parse, among the wrong ones", "answers that Python can't parse, among the wrong ones"),
        (untested, "problem without a test of the model's own", "problems without a test of the model's own: no self-test there"),
    ]
    return [*(f"{n:,} {one if n == 1 else many}." for n, one, many in said if n), *without_measure(unmeasured), *lacking(question)]


def without_measure(answers: int) -> Iterator[str]:
    """How many answers no measure is of, for people."""
    if answers:
        yield f"{counted(answers, 'answer')} without log-probabilities of the program, or a score: among the answers, but in no score."


def lacking(question: Mapping[str, Any]) -> Iterator[str]:
    """What the files lack, for people."""
    if failed := question.get("failed"):
        yield f"{counted(failed, 'request')} without an answer, as the file says."
    if unusable := question.get("unusable"):
        yield f"{counted(unusable, 'answer')} of the file with log-probabilities of another text, or that are none: these are not used."
