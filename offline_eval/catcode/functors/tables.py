"""The tables of translations, reproductions and recorded completions, beside the paper's cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean

from ....calibration.report.cells import CellTable, PaperValue, Row
from ...chains.scores import Column, Scored, apart, row_of
from ...side_by_side import Number
from ..paper import paper
from .items import ARMS, ENDINGS, TOLD, Arm, Ending, Item, Kind
from .placing.registry import NAMES

Functors = Sequence[Scored[Item]]
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


def names_of(item: Item) -> tuple[str, str]:
    """Its data set and languages, for people."""
    languages = NAMES[item.target] if item.source in (None, item.target) else f"{NAMES[item.source]} to {NAMES[item.target]}"
    return SET_WORDS.get(item.set, item.set), languages


def by_place(items: Functors) -> dict[str, list[Scored[Item]]]:
    """The items of each set and pair of languages."""
    return apart(items, lambda each: each.item.place)


def passes(arm: Arm, name: str = "", title: str = "pass@1", *, copies: bool = True) -> Column:
    """The share of the answers of an arm that passes."""
    return Column(name, title, lambda item: item.mean(arm, "passes", copies=copies))


def lift(name: str, title: str, baseline: Arm) -> Column:
    """How much more passes from descriptions with names than of another arm."""
    return Column(name, title, lambda item: item.lift("named", baseline, "passes"), sign=True)


def _of_paper(place: str, column: str) -> tuple[PaperValue, ...]:
    return paper().values(place) if column in ("", "named") else ()


def translation_table(items: Functors) -> CellTable:
    """Table 4: pass@1 of each data set and pair of languages, and their mean."""
    column, rows = (passes("translation"),), []
    for place, found in by_place(items).items():
        first = found[0].item
        printed = partial(_of_paper, f"T4/{first.set}/*/{first.target}" if first.source == "java" else "")
        rows.append(row_of(names_of(first), f"T4/{place}", found, column, BY, paper=printed))
    names = ("mean", "of the rows above")
    rows.append(row_of(names, "T4/mean", items, column, BY, paper=partial(_of_paper, "T4/mean/*/all"), by_place=True))
    return CellTable("T4", "Translation", ("data", "languages"), ("pass@1",), tuple(rows), (_READ_OFF,))


REPRODUCTION = (
    passes("named", "named", "with names"),
    passes("named", "named_without_copies", "without copies", copies=False),
    passes("unnamed", "unnamed", "without names"),
    passes("unnamed", "unnamed_without_copies", "without copies ", copies=False),
    passes("header", "header", "header alone"),
    lift("lift", "lift with names", "header"),
    lift("names", "names minus none", "unnamed"),
)


def reproduction_table(items: Functors) -> CellTable:
    """Table 6: pass@1 of what is written again from a description, with and without names and copies, and of the header alone."""

    def row(names: tuple[str, str], place: str, found: Functors, printed: str, *, by_place: bool = False) -> Row:
        paper = partial(_of_paper, f"T6/{printed}/*/{found[0].item.target}")
        return row_of(names, f"T6/{place}", found, REPRODUCTION, BY, paper=paper, by_place=by_place)

    rows = [row(names_of(found[0].item), place, found, found[0].item.set) for place, found in by_place(items).items()]
    for language, found in apart(items, lambda each: each.item.target).items():
        rows.append(row(("mean of the sets", NAMES[language]), f"mean/{language}", found, "mean", by_place=True))
    columns = tuple(column.title for column in REPRODUCTION)
    return CellTable("T6", "Explained and reproduced", ("data", "language"), columns, tuple(rows), (_LEAK, _COPIES, _READ_OFF))


def completion_table(items: Functors) -> CellTable:
    """pass@1 of recorded completions."""
    rows = [row_of(names_of(found[0].item), f"D/{place}", found, (passes("completion"),), BY) for place, found in by_place(items).items()]
    return CellTable("D", "Completions", ("data", "language"), ("pass@1",), tuple(rows))


def endings_of(arm: Arm) -> tuple[Column, ...]:
    """The share of each ending."""
    return tuple(Column(ending, ENDING_WORDS[ending], lambda item, e=ending: item.mean(arm, e)) for ending in ENDINGS)  # type: ignore[misc]


def ending_table(items: Functors, kind: Kind) -> CellTable:
    """What Tables 5 and 7 show: the share of each ending."""
    rows = [
        row_of((*names_of(found[0].item), ARM_WORDS[arm]), f"E/{place}/{arm}", found, endings_of(arm), BY)
        for place, found in by_place(items).items()
        for arm in ARMS[kind]
        if any(each.answers.get(arm) for each in found)
    ]
    columns = tuple(ENDING_WORDS[ending] for ending in ENDINGS)
    return CellTable("E", "How answers end", ("data", "languages", "code"), columns, tuple(rows), (_ENDINGS,))


def description_table(items: Functors) -> CellTable:
    """What the descriptions are."""

    def columns(told: Arm) -> tuple[Column, ...]:
        return (
            Column("copies", "recite the code", lambda item: item.share_of(told, "copies")),
            Column("unreadable", "can't be read", lambda item: item.share_of(told, "unreadable")),
        )

    rows = [row_of((ARM_WORDS[told],), f"N/{told}", items, columns(told), BY) for told in TOLD]
    return CellTable("N", "The descriptions", ("programs",), tuple(each.title for each in columns("named")), tuple(rows))


def numbers_of(items: Functors, kind: Kind) -> list[Number]:
    """pass@1 of each program, to stand side by side with other models."""
    return [
        Number(each.item.id, each.item.group, f"{each.item.place}/{arm}", (*names_of(each.item), ARM_WORDS[arm]), value)
        for arm in ARMS[kind]
        for each in items
        if (value := each.mean(arm, "passes")) is not None
    ]


def functor_numbers(items: Functors, arm: Arm) -> list[Number]:
    """pass@1 of each problem and language that its code is in: of translations into other languages the mean, or of reproductions."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for each in items:
        if (passed := each.mean(arm, "passes")) is not None:
            found.setdefault((each.item.group, each.item.set, each.item.source or each.item.target), []).append(passed)
    return [
        Number(f"{group}:{language}", group, f"{name}/{language}", (SET_WORDS.get(name, name), NAMES[language]), fmean(values))
        for (group, name, language), values in found.items()
    ]
