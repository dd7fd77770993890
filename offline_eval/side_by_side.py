"""Runs of several models on the same items, side by side: each model's means, and differences item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..calibration.report.blocks import Paragraph
from ..calibration.report.cells import Cell, CellTable, Row
from ..calibration.report.study_report import Section
from .chains.scores import apart, mean_of
from .run import Run
from .study_page import named_apart

_PAIRED = (
    "Only what both have a number of is compared, item by item. Differences are of the second minus the first, with 95 % intervals by {by}."
)


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a run. id: of what it is about, the same in every run. place, names: of its row, in the ids of cells and for people.

    group: what alone is independent. sign: a difference of shares.
    """

    id: str
    group: str
    place: str
    names: tuple[str, ...]
    value: float
    sign: bool = False


Numbers = Sequence[Number]


def _mean(place: str, numbers: Numbers, values: Sequence[float], by: str, *, sign: bool, by_place: bool = False) -> Cell:
    return mean_of(
        place, values, [each.group for each in numbers], by, sign=sign, places=[each.place for each in numbers] if by_place else ()
    )


def models_table(heads: tuple[str, ...], runs: Mapping[str, Numbers], by: str, id: str = "M") -> CellTable:
    """The means of each model, a column for each."""
    rows: dict[str, Number] = {number.place: number for numbers in runs.values() for number in numbers}
    parted = {name: apart(numbers, lambda each: each.place) for name, numbers in runs.items()}
    cells = {
        place: tuple(
            _mean(f"{id}/{name}/{place}", found, [each.value for each in found], by, sign=first.sign)
            for name, of_run in parted.items()
            for found in [of_run.get(place, [])]
        )
        for place, first in rows.items()
    }
    return CellTable(id, "Each model", heads, tuple(runs), tuple(Row(first.names, cells[place]) for place, first in rows.items()))


def paired_table(
    id: str, title: str, heads: tuple[str, ...], first: tuple[str, Numbers], other: tuple[str, Numbers], by: str, *, mean: str = ""
) -> CellTable:
    """Two runs and their difference, at what both have a number of. mean: what the mean over the rows is called, where that is wanted."""
    known = {(each.place, each.id): each for each in first[1]}
    pairs = [(known[each.place, each.id], each) for each in other[1] if (each.place, each.id) in known]
    rows = [
        Row(found[0][1].names, _pair(f"{id}/{place}", found, (first[0], other[0]), by))
        for place, found in apart(pairs, lambda pair: pair[1].place).items()
    ]
    if mean and pairs:
        names = (mean, *[""] * (len(heads) - 1))
        rows.append(Row(names, _pair(f"{id}/mean", pairs, (first[0], other[0]), by, by_place=True)))
    return CellTable(id, title, heads, (first[0], other[0], f"{other[0]} minus {first[0]}"), tuple(rows))


def _pair(
    place: str, pairs: Sequence[tuple[Number, Number]], names: tuple[str, str], by: str, *, by_place: bool = False
) -> tuple[Cell, ...]:
    numbers, sign = [other for _, other in pairs], pairs[0][1].sign
    values = {
        names[0]: ([one.value for one, _ in pairs], sign),
        names[1]: ([other.value for _, other in pairs], sign),
        "difference": ([other.value - one.value for one, other in pairs], True),
    }
    return tuple(_mean(f"{place}/{name}", numbers, of, by, sign=signed, by_place=by_place) for name, (of, signed) in values.items())


def models_section(heads: tuple[str, ...], runs: Mapping[str, Numbers], by: str, mean: str = "") -> Section:
    """Each model, and each beside the first. mean: as of `paired_table`."""
    (first, before), *others = runs.items()
    tables = [
        paired_table(f"P/{name}", f"{name} beside {first}, paired", heads, (first, before), (name, numbers), by, mean=mean)
        for name, numbers in others
    ]
    return Section("Models", (Paragraph(_PAIRED.format(by=by)), models_table(heads, runs, by), *tables))


def by_model(runs: Sequence[Run]) -> dict[str, Run]:
    """The runs by the names of their models."""
    return dict(zip(named_apart([run.question() for run in runs]), runs, strict=True))
