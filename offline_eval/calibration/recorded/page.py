"""The page of a run of recorded answers: how often they are right, and how good a measure of them is as a probability."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....calibration.bands import EVENT_WORDS
from ....calibration.metrics.groups import mean_share
from ....calibration.report.blocks import Paragraph, Table
from ....calibration.report.cells import Cell, CellTable, Row, with_interval
from ....calibration.report.study_report import Section, StudyContent
from ....calibration.samples import Event
from ...paper_tables.paper import paper
from ...run import AskedQuestion, Run
from ...study_page import again, the_paper, write_page
from .scaling import Measured, Scores, all_scores
from .source import sources_of

PASS_AT = (1, 5, 10, 100)
_BY = "problem"
_SCORES = (
    "As it is: the measure itself is taken for the probability. Scaled: Platt's map of the measure's log odds. Random folds are the "
    "paper's; by problem, no map judges an answer to a problem of which it has seen one. Skill: 1 is perfect, 0 is what always saying the "
    "base rate gets. ECE: ten bins of equal width; its floor is what a perfect forecaster would get. The calibration error is free of that "
    "noise. Intervals are 95 %, with whole problems alone independent."
)
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


def write_judged(run: Run, judged: Judged, needed: Sequence[str], *, as_json: bool) -> None:
    """Write report/; on stdout its files, or one JSON document. needed: as of the study's question."""
    write_page(run.folder, content_of(run, run.question(needed), judged), as_json=as_json)


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
    opening = f"{first.name} has {answers:,} recorded answers with a label to {problems:,} problems of {question['set']}{share}."
    if not found:
        return opening, "They are too few to say how well a measure tells which are right.", "No score was computed."
    raw, _, scaled = found[0][1]
    if raw.intervals.skill is None or scaled.intervals.skill is None:
        return opening, "All of them are right, or all wrong, so there is nothing to tell apart.", "No score was computed."
    skill = raw.intervals.skill
    worse = "worse than" if skill.high < 0 else "better than" if skill.low > 0 else "not shown to be better than"
    after = scaled.intervals.skill
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
