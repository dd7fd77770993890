"""Recorded answers whose labels are known: CRUXEval's, whose literals are compared, and any with labels in their file. No step is needed.

Of CRUXEval the measure is the share of ten answers that the most frequent one has, and whether that is right. Nothing that a model wrote is
executed. The items of a run are the ballots, or the answers with their measures and labels, so that a page can be made from the run alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np

from ....calibration.report.blocks import Table
from ....calibration.report.study_report import StudyContent
from ....calibration.samples import Event
from ...errors import UsageError
from ...paper_tables.tables import STUDIED
from ...progress import counted
from ...recorded.answers import Recorded
from ...recorded.source import AnswerFile, question_of
from ...run import Run
from ...sets.problem import Problem, literal
from ...sets.problems import problems
from ...study import Study, StudyOptions, carry_out
from ...study_page import page_of
from .scaling import PROBABILITIES, Measured, of_measure, of_shares
from .study import Judged, Stream, as_suggestion, content_of, lacking, without_measure


@dataclass(frozen=True, slots=True)
class Ballot:
    """The answers to one problem.

    votes: of the most frequent answer, of `drawn`. right: whether the first recorded of the most frequent is; right_answers: of all.
    tied: how many answers have as many votes, itself included; right_among_tied: whether the right one is among them.
    unparsed: answers that are no literal. relabelled: answers that the recorded evaluation, which executed them, labels otherwise.
    """

    problem: str
    drawn: int
    votes: int
    right: bool
    right_answers: int
    tied: int
    right_among_tied: bool
    unparsed: int
    relabelled: int


def ballots_of(recorded: Recorded, problems: Sequence[Problem]) -> Iterator[Ballot]:
    """The ballot of each problem, in their order. Raises UsageError where one has no answers or another number of them."""
    drawn = len(recorded.of(problems[0].id, "execute")) if problems else 0
    if not drawn:
        raise UsageError(f"{recorded.name} has no answers to {problems[0].id if problems else 'anything'}")
    for problem in problems:
        answers = recorded.of(problem.id, "execute")
        if len(answers) != drawn:
            raise UsageError(f"{recorded.name} has {len(answers)} answers to {problem.id} and {drawn} to others")
        wanted = literal(problem.truth)
        if wanted is None:
            raise UsageError(f"the recorded output of {problem.id} is no literal: {problem.truth}")
        values = [literal(answer.text) for answer in answers]
        happened = [value == wanted for value in values]
        # what can't be parsed is an answer of its own, by its text, and never right; of a tie the earliest recorded answer wins
        given = Counter(("text", answer.text.strip()) if value is None else value for value, answer in zip(values, answers, strict=True))
        most = max(given.values())
        foremost = [value for value, number in given.items() if number == most]
        yield Ballot(
            problem=problem.id,
            drawn=drawn,
            votes=most,
            right=foremost[0] == wanted,
            right_answers=sum(happened),
            tied=len(foremost),
            right_among_tied=wanted in foremost,
            unparsed=values.count(None),
            relabelled=sum(answer.labels.get("tests_pass") is (not told) for answer, told in zip(answers, happened, strict=True)),
        )


def vote_share(ballots: Sequence[Ballot]) -> Measured:
    """The majority's share of the answers to each problem, and whether its answer is right."""
    votes, drawn, right = (np.array([getattr(ballot, name) for ballot in ballots]) for name in ("votes", "drawn", "right"))
    return of_shares("vote share", votes, drawn, right, np.arange(len(ballots)))


Measure = Literal["vote share", "of each answer"]
_NEEDED = ("set", "items", "measure", "event")


class AnswerItem(TypedDict):
    """An answer with a label. file: the name of the answers that it is in. measures: none where nothing says how sure the model was."""

    file: str
    id: str
    item: str
    text: str
    measures: dict[str, float]
    right: bool


class BallotItem(TypedDict):
    """The answers of a file to one problem."""

    file: str
    ballot: Ballot


AnyOfFile = TypeVar("AnyOfFile", AnswerItem, BallotItem)


def _content(run: Run) -> StudyContent:
    question = run.question(_NEEDED)
    if question["measure"] == "vote share":
        judged = _votes(_by_file(run.items(BallotItem)))
    else:
        judged = _scores(_by_file(run.items(AnswerItem)), question)
    return content_of(run, question, judged)


def _answers(run: Run) -> list[Any]:
    """Each answer with a measure, as a suggestion of its problem."""
    question = run.question(_NEEDED)
    items = run.items(AnswerItem) if question["measure"] != "vote share" else ()
    return [
        as_suggestion(question["set"], item["id"], item["item"], item["text"], item["measures"], {question["event"]: item["right"]})
        for item in items
        if item["measures"]
    ]


STUDY = Study("recorded_labelled", (), _NEEDED, page_of(_content), answers=_answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(StudyOptions):
    """What the user wants.

    data: the problems of CRUXEval; None: the measures and labels that the files have. limit: the first so many problems.
    """

    set: str
    data: Path | None = None
    files: Sequence[AnswerFile]


@dataclass(frozen=True, slots=True)
class Found:
    """What the files hold. items: by file, as items.jsonl has them. unlabelled: answers without a label, which are left out."""

    files: Sequence[AnswerFile]
    measure: Measure
    event: Event
    items: Sequence[dict[str, Any]]
    unlabelled: int = 0


def find(options: Options) -> Found:
    """The items of the files. Raises SetError and UsageError."""
    files = options.files
    if twice := [name for name, count in Counter(file.answers.name for file in files).items() if count > 1]:
        raise UsageError(f"two files are named {twice[0]}: a run tells them apart by that")
    if options.data is not None:
        chosen = problems(options.set, options.data, options.limit)
        ballots = [{"file": file.answers.name, "ballot": asdict(ballot)} for file in files for ballot in ballots_of(file.answers, chosen)]
        return Found(files, "vote share", "tests_pass", ballots)
    event = _event(files)
    items = [item for file in files for item in _items(file.answers, event, options.limit)]
    labelled = [item for item in items if item["right"] is not None]
    for file in files:
        _check(file, [item for item in labelled if item["file"] == file.answers.name], event)
    return Found(files, "of each answer", event, labelled, len(items) - len(labelled))


def _check(file: AnswerFile, items: Sequence[Mapping[str, Any]], event: Event) -> None:
    """Raises UsageError where a file can't say how well a measure tells right answers from wrong ones."""
    name = file.answers.name
    how = "name the benchmark's file with --data (HumanEval, MBPP, CRUXEval), and the programs are run"
    if not items:
        raise UsageError(f"no answer of {name} has a label ({event}): {how}")
    measured = [item for item in items if item["measures"]]
    if not measured:
        raise UsageError(f"no answer of {name} has log-probabilities or a score, so nothing says how sure the model was. With several "
                         f"answers to a problem, {how}: how many of them agree is a measure, too")  # fmt: skip
    if not any(len({item["right"] for item in measured if name in item["measures"]}) == 2 for name in PROBABILITIES):
        raise UsageError(f"{name} has {len(measured)} answers with a measure and a label {event}: both right and wrong ones are needed")


def run_labelled(options: Options) -> Run:
    """Make the page of answers whose labels are known. Raises UsageError, RunError and OSError."""
    found = find(options)
    more = {"measure": found.measure, "event": found.event, "unlabelled": found.unlabelled}
    told = f"{counted(len(found.items), 'item')} of {counted(len(found.files), 'file')}"
    question = question_of(STUDY.name, options.set, found.files, options) | more
    plan = {"generations": 0, "example": found.items[0]}
    return carry_out(STUDY, options, question, found.items, lambda _: [], told, plan=lambda: plan)


def _event(files: Sequence[AnswerFile]) -> Event:
    """The event that the labels are of: passing tests where any answer has that label."""
    there = {name for file in files for each in file.answers.answers.values() for name, label in each.labels.items() if label is not None}
    return next((event for event in STUDIED if event in there), STUDIED[0])


def _items(recorded: Recorded, event: Event, limit: int | None) -> Iterator[dict[str, Any]]:
    wanted = set(recorded.items()[:limit])
    # a file may have the model's judgements beside its programs: these are one thing, and those another
    draws = any(answer.step == "draw" and recorded.measures_of(answer) for answer in recorded.answers.values())
    for answer in recorded.answers.values():
        if answer.item in wanted and (answer.step == "draw" or not draws):
            about = {"file": recorded.name, "id": f"{recorded.name}:{':'.join(map(str, answer.key))}", "item": answer.item}
            yield {**about, "text": answer.text, "measures": recorded.measures_of(answer), "right": answer.labels.get(event)}


def _by_file(items: Sequence[AnyOfFile]) -> list[tuple[str, list[AnyOfFile]]]:
    return [(name, list(found)) for name, found in groupby(items, itemgetter("file"))]


def _scores(by_file: Sequence[tuple[str, Sequence[AnswerItem]]], question: Mapping[str, Any]) -> Judged:
    streams, measured, event, unlabelled = [], list[tuple[str, Measured]](), question["event"], question["unlabelled"]
    for name, items in by_file:
        drawn, right = Counter(item["item"] for item in items), Counter(item["item"] for item in items if item["right"])
        streams.append(Stream(name, list(drawn.values()), [right[item] for item in drawn]))
        for measure in PROBABILITIES:
            told = [(item["item"], item["measures"][measure], item["right"]) for item in items if measure in item["measures"]]
            measured += [(name, of_measure(measure, told))] if told else []
    rows = tuple((s.name, f"{len(s.drawn):,}", f"{sum(s.drawn):,}", f"{sum(s.right):,}") for s in streams)
    return Judged(
        event=event,
        streams=streams,
        counts=Table("Answers with a label", ("answers", "problems", "answers", "right"), "lrrr", rows),
        measured=measured,
        left_out=(
            *((f"{counted(unlabelled, 'answer')} without a label.",) if unlabelled else ()),
            *without_measure(sum(not item["measures"] for _, items in by_file for item in items)),
            *lacking(question),
        ),
    )


def _votes(by_file: Sequence[tuple[str, Sequence[BallotItem]]]) -> Judged:
    found = [(name, [item["ballot"] for item in items]) for name, items in by_file]
    columns = ("answers", "functions", "answers", "no literal", "other label when executed", "majority right", "ties", "right by lot")
    return Judged(
        event="tests_pass",
        streams=[Stream(name, [each.drawn for each in ballots], [each.right_answers for each in ballots]) for name, ballots in found],
        counts=Table("The answers, and the most frequent one of each function", columns, "lrrrrrrr", tuple(_counts(*of) for of in found)),
        measured=[(name, vote_share(ballots)) for name, ballots in found],
        left_out=(),
    )


def _counts(name: str, ballots: Sequence[Ballot]) -> tuple[str, ...]:
    sums = (sum(getattr(ballot, of) for ballot in ballots) for of in ("drawn", "unparsed", "relabelled"))
    return (
        name,
        *(f"{count:,}" for count in (len(ballots), *sums)),
        f"{fmean(ballot.right for ballot in ballots):.1%}",
        str(sum(ballot.tied > 1 for ballot in ballots)),
        f"{fmean(ballot.right_among_tied / ballot.tied for ballot in ballots):.1%}",
    )
