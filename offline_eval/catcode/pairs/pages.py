"""The page of a run on pairs: which tables and pictures it has, and its first sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....calibration.report.blocks import Block
from ....calibration.report.cells import Cell, CellTable, text_of
from ....calibration.report.study_report import Section
from ...counterfeit.pictures import bars
from ...counterfeit.problems.pages import MAX_UNREADABLE
from ...progress import counted
from .judgements import KEYS, Judgement, by_way
from .made import kinds_made, refusals_table, rules_made, size_table
from .pair import CodePair
from .tables import (
    average_table,
    classes_table,
    data_table,
    distance_table,
    kinds_table,
    lean_table,
    order_table,
    rules_table,
    unreadable_table,
    worst_table,
)


def made_section(pairs: Sequence[CodePair], records: Sequence[Mapping[str, Any]]) -> Section:
    """What was made, or read from a file. records: of the step that made them."""
    parts: list[Block | CellTable] = [*size_table(pairs, records), kinds_made(pairs), rules_made(pairs)]
    if any(record["refusals"] for record in records):
        parts.append(refusals_table(records))
    return Section("The pairs", tuple(parts))


def judged_section(judgements: Sequence[Judgement]) -> Section:
    """What was said of them."""
    kinds = kinds_table(judgements)
    way = next(iter(by_way(judgements)))
    shown = [(row.names[1], row.cells[0]) for row in kinds.rows if row.names[0] == way]
    parts: tuple[Block | CellTable, ...] = (
        kinds,
        bars("kinds", f"Recall by kind of pair, {way}", [label for label, _ in shown], [cell for _, cell in shown], 0.5),
        classes_table(judgements),
        average_table(judgements),
        lean_table(judgements),
        rules_table(judgements),
        worst_table(judgements),
        distance_table(judgements),
        data_table(judgements),
        order_table(judgements),
        unreadable_table(judgements),
    )
    return Section("Identification", parts)


def summary_of(pairs: Sequence[CodePair], cells: Mapping[str, Cell], name: str) -> tuple[str, str, str]:
    """The first three sentences. name: of who was asked."""
    sets = ", ".join(dict.fromkeys(pair.data for pair in pairs))
    opening = f"{counted(len(pairs), 'pair')} of programs ({sets or 'none'}), each confirmed by running both on the tests."
    unreadable = cells.get("U/all/here")
    if unreadable is not None and (unreadable.value or 0.0) > MAX_UNREADABLE:
        opening = f"Many answers are neither True nor False ({text_of(unreadable)}), and count as wrong. {opening}"
    return opening, *_sentences(cells, name)


def _sentences(cells: Mapping[str, Cell], name: str) -> tuple[str, str]:
    key = next((key for key in KEYS.values() if f"K/{key}/1-eq" in cells), None)
    if key is None:
        return "No model has been asked about them yet.", "A file of them, pairs.jsonl, is in the run's folder: name it with --data."
    eq, neq, balanced = (cells[f"C/{key}/local/{part}"] for part in ("eq", "neq", "balanced"))
    second = f"One rewrite that keeps what a program does is seen by {name} {_said(eq)}, and one that changes it {_said(neq)}"
    second += f": balanced {_said(balanced)}, where half is chance." if balanced.value is not None else "."
    drawn, same = cells[f"C/{key}/global/balanced"], cells[f"K/{key}/identity"]
    third = f"A program and itself are called the same {_said(same)}."
    if drawn.value is not None:
        third += f" Of right and wrong programs for one problem, balanced {_said(drawn)}."
    return second, third


def _said(cell: Cell) -> str:
    return text_of(cell) if cell.value is not None else "(no such pair)"
