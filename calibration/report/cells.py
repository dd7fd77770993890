"""Cells: the printed numbers of a study, each with its interval and what a paper prints there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from string import ascii_lowercase
from typing import Any, Literal

from ..metrics.intervals import Interval
from .blocks import Block, Bullets, Table

NOT_RUN = "not run"
MarkKind = Literal["refuted", "not comparable", "lower bound", "upper bound", "inconsistent"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What is known against a paper's number. note: for people."""

    kind: MarkKind
    note: str


@dataclass(frozen=True, slots=True)
class PaperValue:
    """A number as a paper prints it. of: the model it is about. where: its place, such as T5/GPT-3.5/p_tot/DyPyBench/skill."""

    value: float
    of: str
    where: str
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed number.

    id: unique in a report. value, low, high: with the 95 % interval, None where there is none. n, groups: samples, and what is taken as
    independent of them (`grouped_by`). noise_floor: of an error that is never 0. paper: what is printed there. why: why there is no value.
    percent: a share that is printed as a percentage. sign: a difference, printed with its sign, and one of shares in points.
    """

    id: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    groups: int = 0
    grouped_by: str = "project"
    noise_floor: float | None = None
    paper: tuple[PaperValue, ...] = ()
    why: str = ""
    percent: bool = False
    sign: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A row: what it is about, one text per head of the table, and one cell per column."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class CellTable:
    """A table of cells. heads: over the names of its rows. columns: over their cells. notes: below it."""

    id: str
    title: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def cells(self) -> Iterator[Cell]:
        """All its cells, row by row."""
        for row in self.rows:
            yield from row.cells


def blocks_of(table: CellTable) -> list[Block]:
    """The table as blocks: behind each column whose cells a paper prints too, a column of its numbers, and below them its marks."""
    letters = _letters(table)
    models = tuple(dict.fromkeys(each.of for cell in table.cells() for each in cell.paper))
    printed = [any(row.cells[column].paper for row in table.rows) for column in range(len(table.columns))]
    columns = [*table.heads]
    for name, is_printed in zip(table.columns, printed, strict=True):
        columns += [name, "paper"] if is_printed else [name]
    rows = []
    for row in table.rows:
        texts = list(row.names)
        for cell, is_printed in zip(row.cells, printed, strict=True):
            texts += [text_of(cell), _of_paper(cell, models, letters)] if is_printed else [text_of(cell)]
        rows.append((*texts, _counts(row.cells)))
    align = "l" * len(table.heads) + "r" * (len(columns) - len(table.heads) + 1)
    order = (f"paper: {', '.join(models)}{', in this order' if len(models) > 1 else ''}",) if models else ()
    notes = (*order, *(f"{letter}: {mark.kind}: {mark.note}" for mark, letter in letters.items()), *table.notes)
    return [Table(table.title, (*columns, "n"), align, tuple(rows)), *([Bullets(notes)] if notes else [])]


def text_of(cell: Cell) -> str:
    """The cell's number with its interval or noise floor; the reason where there is none."""
    if cell.value is None:
        return cell.why or NOT_RUN
    value, unit = _number(cell.value, cell), "" if not cell.percent else " points" if cell.sign else " %"
    if cell.noise_floor is not None:
        return f"{value}{unit}, floor {_number(cell.noise_floor, cell)}{unit}"
    if cell.low is None or cell.high is None:
        return f"{value}{unit}"
    return f"{value}{unit} ({_number(cell.low, cell)} to {_number(cell.high, cell)})"


def with_interval(cell_id: str, found: Interval | None, n: int, groups: int, by: str, **more: Any) -> Cell:
    """A cell of an interval; without one it says that the number is not defined. more: other fields of the cell."""
    if found is None:
        return Cell(cell_id, n=n, groups=groups, grouped_by=by, **{"why": "not defined", **more})
    return Cell(cell_id, found.value, found.low, found.high, n, groups, by, **more)


def json_of(cell: Cell) -> dict[str, Any]:
    """The cell as in figures.json."""
    fields = asdict(cell)
    for name in ("why", "paper", "percent", "sign"):
        del fields[name]
    paper = [{**asdict(each), "marks": [asdict(mark) for mark in each.marks]} for each in cell.paper]
    return {**fields, "why": cell.why or (NOT_RUN if cell.value is None else ""), "paper": paper}


def _number(value: float, cell: Cell) -> str:
    sign = "+" if cell.sign else ""
    return f"{100 * value:{sign}z.1f}" if cell.percent else f"{value:{sign}z.3f}"


def _of_paper(cell: Cell, models: Sequence[str], letters: dict[Mark, str]) -> str:
    """The paper's numbers of a cell, model by model; marks that all of them have stand once, behind the last."""
    found = {each.of: each for each in cell.paper}
    if not found:
        return ""
    marks = {each.of: "".join(f" [{letters[mark]}]" for mark in each.marks) for each in cell.paper}
    shared = set(marks.values()) if len(set(marks.values())) == 1 else set()
    texts = [f"{_plain(found[model].value, cell)}{'' if shared else marks[model]}" if model in found else "–" for model in models]
    return ", ".join(texts) + "".join(shared)


def _plain(value: float, cell: Cell) -> str:
    return f"{100 * value:z.1f} %" if cell.percent else f"{value:z.2f}"


def _letters(table: CellTable) -> dict[Mark, str]:
    marks = dict.fromkeys(mark for cell in table.cells() for each in cell.paper for mark in each.marks)
    return dict(zip(marks, ascii_lowercase, strict=False))


def _counts(cells: Sequence[Cell]) -> str:
    """The samples and groups of a row's cells, each once."""
    counted = dict.fromkeys((cell.n, cell.groups, cell.grouped_by) for cell in cells if cell.n)
    return "; ".join(f"{n:,}" if by == "sample" else f"{n:,} of {groups:,} {by}{'' if groups == 1 else 's'}" for n, groups, by in counted)
