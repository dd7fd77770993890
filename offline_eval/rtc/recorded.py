"""Round trips that were recorded: a program, its description, and the program written from that, each with its label. No model is asked.

The items of a run are the round trips with their labels, so that a page can be made from the run alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...calibration.metrics.groups import difference
from ...calibration.metrics.intervals import Interval, intervals
from ...calibration.report.blocks import Paragraph, Table
from ...calibration.report.cells import Cell, CellTable, Row, text_of, with_interval
from ...calibration.report.paper_claims import Rule, claim_of
from ...calibration.report.study_report import Section, StudyContent, counted_claims
from ..chains.copies import is_copy
from ..errors import UsageError
from ..progress import counted
from ..recorded.source import AnswerFile, question_of, read, sources_of
from ..run import Run
from ..shares import share
from ..study import Study, StudyOptions, carry_out
from ..study_page import again, page_of, the_paper
from .tables import paper

NAME = "rtc_recorded"
_NEEDED = ("set", "items")
_BY = "problem"
_COLUMNS = ("RTC", "pass@1", "passes if equal", "passes if not", "difference", "AUC", "skill")
_WHAT = (
    "RTC: the share of programs whose second version ends alike on every input of the tests, wrong outcomes included; where a file does "
    "not tell outcomes, two that fail count as unlike. pass@1: the share of first versions that pass all tests. AUC and skill: of the "
    "round trip as a forecast of whether the first version passes; the skill is in sample, of two levels that were fitted to these very "
    "programs. 95 % intervals, with problems alone independent."
)
_ABOVE_0 = Rule("above 0", above=0.0)


@dataclass(frozen=True, slots=True)
class RecordedTrip:
    """One round trip. first, second: whether the program passes, and the one from its description. equal: they end alike on every input."""

    file: str
    id: str
    first: bool
    second: bool
    equal: bool
    copied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(StudyOptions):
    """What the user wants. limit: the first so many problems."""

    files: Sequence[Path]


def run_recorded(options: Options) -> Run:
    """Make the page of recorded round trips. Raises RecordedError, UsageError, RunError and OSError."""
    files = read(options.files)
    found = trips_of(files, options.limit)
    there = sum(len(file.answers.items()[: options.limit]) for file in files)
    question = {**question_of(NAME, "recorded", files, options), "unlabelled": there - len({(trip.file, trip.id) for trip in found})}
    told = f"{counted(len(found), 'round trip')} of {counted(len(files), 'file')}"
    return carry_out(STUDY, options, question, found, lambda _: [], told, plan=lambda: {"round_trips": len(found), "generations": 0})


def trips_of(files: Sequence[AnswerFile], limit: int | None) -> list[RecordedTrip]:
    """The round trips whose programs have labels, file by file. Raises UsageError where a file has none."""
    names = [file.answers.name for file in files]
    if len(set(names)) < len(names):
        raise UsageError(f"two files are named {next(name for name in names if names.count(name) > 1)}: a run tells them apart by that")
    found = []
    for file in files:
        here = list(_trips(file, limit))
        if not here:
            raise UsageError(
                f"{file.path} has no round trips: a problem needs answers to the steps draw, describe and rebuild, and the programs labels"
            )
        found += here
    return found


def _trips(file: AnswerFile, limit: int | None) -> Iterator[RecordedTrip]:
    answers = file.answers
    for item in answers.items()[:limit]:
        for first, described, second in zip(*(answers.of(item, step) for step in ("draw", "describe", "rebuild")), strict=False):
            passes, passes_again = first.labels.get("tests_pass"), second.labels.get("tests_pass")
            if passes is None or passes_again is None:
                continue
            # where nothing tells, programs that both pass are equal, and others are not known to be
            equal = bool(second.facts.get("same_outcomes", passes and passes_again))
            yield RecordedTrip(answers.name, item, passes, passes_again, equal, is_copy(described.text, first.text))


def content_of(run: Run) -> StudyContent:
    """The page."""
    question = run.question(_NEEDED)
    found = run.items(RecordedTrip)
    by_file = {name: list(trips) for name, trips in groupby(found, attrgetter("file"))}
    table = CellTable("I", "Recorded round trips", ("answers", "round trips"), _COLUMNS, tuple(_rows(by_file)))
    cells = {cell.id: cell for cell in table.cells()}
    name, trips = next(iter(by_file.items()))
    at = f"I/{name}/all"
    claim = claim_of(
        "follows", "RTC follows correctness, here program by program", "over models, r = .96 (text)", _ABOVE_0,
        [("difference", f"{at}/difference")], cells,
    )  # fmt: skip
    copies = sum(trip.copied for trip in trips)
    unlabelled = question.get("unlabelled", 0)
    return StudyContent(
        title=f"Recorded round trips: {question['model_name']}",
        summary=(
            f"Of {counted(len(trips), 'recorded round trip')} ({name}) {text_of(cells[f'{at}/rtc'])} ended as they began, and "
            f"{text_of(cells[f'{at}/pass_at_1'])} of the programs pass their tests.",
            f"Where they did {text_of(cells[f'{at}/if_equal'])} of the programs pass, elsewhere {text_of(cells[f'{at}/if_not'])}: a "
            f"difference of {text_of(cells[f'{at}/difference'])}. Descriptions that recite the program: {copies:,}.",
            counted_claims([claim]),
        ),
        facts=(
            "the answers were recorded by others; no model was asked",
            the_paper(paper(), "; its models are others"),
        ),
        sections=(Section("Round trips", (Paragraph(_WHAT), table, *(_counts(name, trips) for name, trips in by_file.items()))),),
        claims=(claim,),
        left_out=(
            *((f"{counted(unlabelled, 'problem')} without a whole round trip, or without labels.",) if unlabelled else ()),
            "There is no lift: nothing was recorded without a description.",
        ),
        sources=sources_of(question),
        command=again(run),
    )


def _counts(name: str, trips: Sequence[RecordedTrip]) -> Table:
    counts = {(a, b): sum((trip.first, trip.second) == (a, b) for trip in trips) for a in (True, False) for b in (True, False)}
    rows = tuple(
        (word, *(f"{counts[first, second]:,}" for second in (True, False))) for word, first in (("passes", True), ("fails", False))
    )
    return Table(f"{name}: the first program in rows, the one from its description in columns", ("first", "passes", "fails"), "lrr", rows)


def _rows(by_file: dict[str, list[RecordedTrip]]) -> Iterator[Row]:
    for name, trips in by_file.items():
        for called, kept in (("all", trips), ("without copies", [trip for trip in trips if not trip.copied])):
            yield Row((name, called), tuple(cells_of(f"I/{name}/{called.replace(' ', '_')}", kept)))


def cells_of(place: str, trips: Sequence[RecordedTrip]) -> Iterator[Cell]:
    """The figures of some round trips."""
    ids = [trip.id for trip in trips]
    names, groups = np.unique(ids, return_inverse=True)
    equal, passes = (np.array([getattr(trip, name) for trip in trips], dtype=np.bool_) for name in ("equal", "first"))
    n, count = len(trips), len(names)
    yield share(f"{place}/rtc", [float(trip.equal) for trip in trips], ids, by=_BY)
    yield share(f"{place}/pass_at_1", [float(trip.first) for trip in trips], ids, by=_BY)
    for name, wanted in (("if_equal", True), ("if_not", False)):
        kept = [trip for trip in trips if trip.equal is wanted]
        yield share(f"{place}/{name}", [float(trip.first) for trip in kept], [trip.id for trip in kept], by=_BY)
    yield with_interval(f"{place}/difference", difference(passes, equal, groups), n, count, _BY, percent=True, sign=True)
    auc, skill = _forecast(equal, passes, groups) if count > 1 else (None, None)
    yield with_interval(f"{place}/auc", auc, n, count, _BY)
    yield with_interval(f"{place}/skill", skill, n, count, _BY)


def _forecast(equal: NDArray[np.bool_], passes: NDArray[np.bool_], groups: NDArray[np.intp]) -> tuple[Interval | None, Interval | None]:
    """AUC and skill of the two rates as a forecast. None where one of the two says all, or nothing is to be told apart."""
    if equal.all() or not equal.any() or passes.all() or not passes.any():
        return None, None
    p = np.where(equal, passes[equal].mean(), passes[~equal].mean())
    found = intervals(p.clip(0.001, 0.999), passes, groups, resamples=2)
    return found.auc, found.skill


STUDY = Study(NAME, (), _NEEDED, page_of(content_of))
