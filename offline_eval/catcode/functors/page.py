"""The page of a run of translations, reproductions or recorded completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....calibration.report.blocks import Block, Paragraph
from ....calibration.report.cells import Cell, CellTable, text_of
from ....calibration.report.paper_claims import PaperClaim
from ....calibration.report.study_report import Section, StudyContent, counted_claims
from ...asked_model import how_asked
from ...calibration.recorded.source import sources_of
from ...progress import counted
from ...rtc.problems.scores import Mean, mean_of
from ...rtc.problems.tables import cell_of
from ...run import Run
from ...study_page import again, cells_in, facts_of, lost_items, the_paper
from .asking import ANSWERS, DESCRIPTIONS
from .claims import claims_of
from .examples import examples
from .items import ARMS, Arm, Item, Kind
from .labelling import ENDINGS, LABELS, SOURCES
from .paper import paper
from .pictures import figure_5
from .scores import Scored, ended_as, scored
from .tables import (
    ARM_WORDS,
    ENDING_WORDS,
    completion_table,
    description_table,
    ending_table,
    reproduction_table,
    translation_table,
    unreadable_of,
)

# More than this share of answers without code is told first.
MAX_UNREADABLE = 0.05
_WHAT = (
    "pass@1: the share of answers that pass the tests of their language, in the sandbox; an answer without code counts as a failure. 95 % "
    "intervals, with whole problems alone independent."
)
_ASKED = "Only programs that pass their own tests are asked about: a faithful answer to another one would fail."
_TITLES: Mapping[Kind, str] = {
    "translate": "Translation",
    "explain": "Explanation and reproduction",
    "complete": "Recorded completions",
}
# What the summary tells of.
MAIN_ARM: Mapping[Kind, Arm] = {"translate": "translation", "explain": "named", "complete": "completion"}


def scored_of(run: Run, items: Sequence[Item]) -> list[Scored]:
    """The items of a run with their scores. Raises RunError."""
    return scored(items, *(run.records(step).read() for step in (DESCRIPTIONS, ANSWERS, LABELS)))


def content_of(run: Run, items: Sequence[Item]) -> StudyContent:
    """The page of a run."""
    question = run.question(("set", "items"))
    kind: Kind = question["set"]
    found = scored_of(run, items)
    tables = list(_tables(kind, found))
    read = claims_of(kind, cells_in(tables))
    picture = figure_5(f"pass@1{'' if kind == 'complete' else ' (figure 5)'}: {_TITLES[kind].lower()}", list(_bars(kind, tables[0])))
    described, answers, labels = (run.records(step).read() for step in (DESCRIPTIONS, ANSWERS, LABELS))
    shown = tuple(examples(items, described, answers, labels, int(question["seed"])))
    blocks: tuple[Block | CellTable, ...] = (
        Paragraph(_WHAT if kind == "complete" else f"{_WHAT} {_ASKED}"),
        *tables[:1],
        *([picture] if picture else []),
        *tables[1:],
    )
    return StudyContent(
        title=f"{_TITLES[kind]}: {question['model_name'] or ', '.join(question['recorded'])}",
        summary=_summary(kind, question, found, read),
        facts=tuple(_facts(question)),
        sections=(Section(_TITLES[kind], blocks), *((Section("Answers to look at", shown),) if shown else ())),
        claims=read,
        left_out=tuple(_left_out(run, kind, items, found)),
        sources=sources_of(question) if "recorded" in question else (),
        command=again(run),
    )


def _tables(kind: Kind, found: Sequence[Scored]) -> Iterator[CellTable]:
    match kind:
        case "translate":
            yield translation_table(found)
        case "explain":
            yield reproduction_table(found)
        case "complete":
            yield completion_table(found)
    yield ending_table(found, kind)
    if kind == "explain":
        yield description_table(found)


def _bars(kind: Kind, table: CellTable) -> Iterator[tuple[str, Cell]]:
    """The bars of figure 5: the first column; of a table on languages within one language, also the arms'."""
    for row in table.rows:
        yield ", ".join(row.names), row.cells[0]
        if kind == "explain":
            yield f"{', '.join(row.names)}, {ARM_WORDS['unnamed'].removeprefix('described ')}", row.cells[2]


def _facts(question: Mapping[str, Any]) -> Iterator[str]:
    if "recorded" in question:
        yield "the answers were recorded by others; no model was asked"
    else:
        how = "one greedy answer" if question["draws"] == 1 else f"{question['draws']} answers at temperature 0.2"
        yield f"{how_asked(question)}; {how} to each question"
    yield from facts_of(question, "data", "languages", "targets", "limit", "seed")
    yield the_paper(paper())


def _summary(kind: Kind, question: Mapping[str, Any], found: Sequence[Scored], read: Sequence[PaperClaim]) -> tuple[str, str, str]:
    arm, unreadable = MAIN_ARM[kind], unreadable_of(found)
    main = mean_of(found, ended_as(arm))
    model = question["model_name"] or "the recorded model"
    first = "No answer has a label yet."
    if main.value is not None:
        what = {
            "translate": "translations",
            "explain": "programs, written again from its own descriptions with names,",
            "complete": "completions",
        }
        first = f"Of {main.n:,} {what[kind]} of {model} {text_of(cell_of('', main, ''))} pass their tests."
    if unreadable.value is not None and unreadable.value > MAX_UNREADABLE:
        first = f"{_percent(unreadable)} of the answers have no code in them, and count as failures. {first}"
    return first, _second(kind, found), counted_claims(read) if read else "The paper says nothing of such answers."


def _second(kind: Kind, found: Sequence[Scored]) -> str:
    if kind == "explain":
        unnamed, alone = mean_of(found, ended_as("unnamed")), mean_of(found, ended_as("header"))
        if unnamed.value is not None and alone.value is not None:
            return f"Without names and types {_percent(unnamed)} pass, and from the header alone, without a description, {_percent(alone)}."
    failing = [ending for ending in ENDINGS if ending not in ("passes", "unreadable")]
    shares = [mean_of(found, ended_as(MAIN_ARM[kind], ending)).value or 0.0 for ending in failing]
    words = ", ".join(f"{share:.1%} {ENDING_WORDS[ending]}" for share, ending in zip(shares, failing, strict=True))
    return f"How the others end: {words}."


def _percent(mean: Mean) -> str:
    ends = f" ({mean.found.low:.1%} to {mean.found.high:.1%})" if mean.found else ""
    return f"{mean.value or 0.0:.1%}{ends}"


def _left_out(run: Run, kind: Kind, items: Sequence[Item], found: Sequence[Scored]) -> Iterator[str]:
    yield from lost_items(sum(len(run.lost(step)) for step in (SOURCES, DESCRIPTIONS, ANSWERS, LABELS)), "answer", "or labels lost")
    labels = run.records(SOURCES).read()
    if failing := sum(label["ending"] != "passes" for label in labels):
        yield f"{counted(failing, 'program')} of {len(labels):,} that fail their own tests, or that these can't judge: not asked about."
    waiting = len(items) - len(found)
    if kind == "complete" or not labels:
        failing = 0
    if waiting > 0 and not failing:
        yield f"{counted(waiting, 'item')} without an answer yet."
    arms = ARMS[kind]
    if unlabelled := sum(any(each.ending is None for arm in arms for each in item.answers.get(arm, ())) for item in found):
        yield f"{counted(unlabelled, 'item')} of which an answer has no label."
    yield from run.question().get("left_out", [])
