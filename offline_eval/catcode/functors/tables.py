"""The tables of translation and reproduction: the paper's cells beside ours, how answers end, and what descriptions are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Literal

from ....calibration.report.cells import Cell, CellTable, Row
from ...rtc.problems.scores import Mean, mean_of
from ...rtc.problems.tables import cell_of
from .items import ARMS, Arm, Kind, Told, told_of
from .labelling import ENDINGS, Ending
from .paper import paper
from .placing.registry import NAMES
from .scores import Number, Scored, by_place, ended_as, mean_of_places

BY = "problem"
ENDING_WORDS: Mapping[Ending, str] = {
    "passes": "passes",
    "wrong": "wrong",
    "crash": "crash",
    "time": "time",
    "does_not_compile": "does not compile",
    "unreadable": "no code in the answer",
}
ARM_WORDS: Mapping[Arm, str] = {
    "translation": "translated",
    "named": "described with names",
    "unnamed": "described without names",
    "header": "header alone",
    "completion": "completed",
}
SET_WORDS: Mapping[str, str] = {"humaneval": "HumanEval", "mbxp": "MBXP", "mathqa": "MathQA"}
_READ_OFF = (
    "The paper's numbers of this table are bars of Figure 5, read off to half a point. It has one answer to each problem, and no intervals."
)
_LEAK = (
    "With names, a description gives the name of the function, its arguments and types, as in the paper, and no header is shown. Without, "
    "the function has a neutral name in the code that is described and in the header that is shown, and in Python no types. The header "
    "alone, with its own name, tells how much the name gives away; the lift is what a description adds to that."
)
_COPIES = "Without copies: answers from descriptions that recite the code, which tell how well a model copies, are left out."
_ENDINGS = (
    "Crash: an exception, or the process ended. Wrong: a test's comparison failed. Time: more than the sandbox allows. The paper's Tables "
    "5 and 7 are pictures of error types without numbers."
)


def set_word(name: str) -> str:
    """A data set for people."""
    return SET_WORDS.get(name, name)


def languages_of(item: Scored) -> str:
    """Its languages for people."""
    return NAMES[item.target] if item.source in (None, item.target) else f"{NAMES[item.source]} to {NAMES[item.target]}"


def translation_table(items: Sequence[Scored]) -> CellTable:
    """Table 4: pass@1 of each data set and pair of languages, and their mean."""
    rows = []
    for place, found in by_place(items).items():
        printed = paper().values(f"T4/{found[0].set}/*/{found[0].target}") if found[0].source == "java" else ()
        mean = mean_of(found, ended_as("translation"))
        rows.append(Row((set_word(found[0].set), languages_of(found[0])), (cell_of(f"T4/{place}", mean, BY, paper_values=printed),)))
    mean = mean_of_places(items, ended_as("translation"))
    rows.append(Row(("mean", "of the rows above"), (cell_of("T4/mean", mean, BY, paper_values=paper().values("T4/mean/*/all")),)))
    return CellTable("T4", "Translation", ("data", "languages"), ("pass@1",), tuple(rows), (_READ_OFF,))


def reproduction_table(items: Sequence[Scored]) -> CellTable:
    """Table 6: pass@1 of what is written again from a description, with and without names and copies, and of the header alone."""
    rows = [
        Row((set_word(found[0].set), languages_of(found[0])), _reproduced(f"T6/{place}", found, found[0].set, found[0].target))
        for place, found in by_place(items).items()
    ]
    for language in dict.fromkeys(item.target for item in items):
        of_language = [item for item in items if item.target == language]
        rows.append(Row(("mean of the sets", NAMES[language]), _reproduced(f"T6/mean/{language}", of_language, "mean", language)))
    columns = ("with names", "without copies", "without names", "without copies ", "header alone", "lift with names", "names minus none")
    return CellTable("T6", "Explained and reproduced", ("data", "language"), columns, tuple(rows), (_LEAK, _COPIES, _READ_OFF))


def _reproduced(place: str, items: Sequence[Scored], name: str, language: str) -> tuple[Cell, ...]:
    wanted: dict[str, tuple[Number, bool]] = {
        "named": (ended_as("named"), False),
        "named_without_copies": (lambda item: item.pass_at_1("named", copies=False), False),
        "unnamed": (ended_as("unnamed"), False),
        "unnamed_without_copies": (lambda item: item.pass_at_1("unnamed", copies=False), False),
        "header": (ended_as("header"), False),
        "lift": (lambda item: item.lift("named", "header"), True),
        "names": (lambda item: item.lift("named", "unnamed"), True),
    }
    cells = []
    for column, (number, sign) in wanted.items():
        mean = mean_of_places(items, number) if name == "mean" else mean_of(items, number, share=not sign)
        printed = paper().values(f"T6/{name}/*/{language}") if column == "named" else ()
        cells.append(cell_of(f"{place}/{column}", mean, BY, sign=sign, paper_values=printed))
    return tuple(cells)


def completion_table(items: Sequence[Scored]) -> CellTable:
    """pass@1 of recorded completions."""
    rows = [
        Row(
            (set_word(found[0].set), languages_of(found[0])),
            (cell_of(f"D/{place}", mean_of(found, ended_as("completion")), BY),),
        )
        for place, found in by_place(items).items()
    ]
    return CellTable("D", "Completions", ("data", "language"), ("pass@1",), tuple(rows))


def ending_table(items: Sequence[Scored], kind: Kind) -> CellTable:
    """What Tables 5 and 7 show: the share of each ending."""
    rows = []
    for place, found in by_place(items).items():
        for arm in ARMS[kind]:
            if any(item.answers.get(arm) for item in found):
                cells = tuple(cell_of(f"E/{place}/{arm}/{ending}", mean_of(found, ended_as(arm, ending)), BY) for ending in ENDINGS)
                rows.append(Row((set_word(found[0].set), languages_of(found[0]), ARM_WORDS[arm]), cells))
    columns = tuple(ENDING_WORDS[ending] for ending in ENDINGS)
    return CellTable("E", "How answers end", ("data", "languages", "code"), columns, tuple(rows), (_ENDINGS,))


def description_table(items: Sequence[Scored]) -> CellTable:
    """What the descriptions are."""
    rows = []
    for told in told_of("explain"):
        cells = (
            cell_of(f"N/{told}/copies", mean_of(items, partial(_of_descriptions, "copies", told)), BY),
            cell_of(f"N/{told}/unreadable", mean_of(items, partial(_of_descriptions, "unreadable", told)), BY),
        )
        rows.append(Row((ARM_WORDS[told],), cells))
    return CellTable("N", "The descriptions", ("programs",), ("recite the code", "can't be read"), tuple(rows))


def _of_descriptions(what: Literal["copies", "unreadable"], told: Told, item: Scored) -> float | None:
    count = item.descriptions.get(told, 0)
    return getattr(item, what)[told] / count if count else None


def unreadable_of(items: Sequence[Scored]) -> Mean:
    """The share of answers without code in them."""

    def share(item: Scored) -> float | None:
        found = [each.ending == "unreadable" for answers in item.answers.values() for each in answers]
        return fmean(found) if found else None

    return mean_of(items, share)
