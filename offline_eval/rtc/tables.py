"""The tables of round trips: the paper's columns beside ours, by project, by length, and the correlations, its Table 2's, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from ...calibration.fitting.folds import numbered
from ...calibration.metrics.correlations import MIN_PAIRS, Correlations, correlations
from ...calibration.metrics.groups import difference
from ...calibration.report.cells import Cell, CellTable, PaperValue, Row, with_interval
from ..chains.scores import EXACT, UNREADABLE, Column, Scored, apart, cells_of_row, row_of
from ..shares import mean_cell
from ..side_by_side import Number
from ..study_page import Paper, paper_of
from .items import Item

Trips = Sequence[Scored[Item]]
BENCHMARKS = ("HumanEval", "ARCADE")


def paper() -> Paper:
    """The paper."""
    return paper_of(__package__, "allamanis2024")


def models(benchmark: str) -> tuple[str, ...]:
    """The models of Table 2, in its order."""
    return tuple(paper()["T2"]["cells"][benchmark])


def paper_column(benchmark: str, name: str) -> list[float]:
    """A column of Table 2, by model. Raises KeyError where it has none."""
    return [paper().cells[f"T2/{benchmark}/{model}/{name}"].value for model in models(benchmark)]


def table_2(benchmark: str) -> Correlations:
    """The correlations of pass@1 and RTC over the models of Table 2."""
    return correlations(paper_column(benchmark, "pass_at_1"), paper_column(benchmark, "rtc"))


SIM_WORDS = {"tests_pass": "passes tests", EXACT: "exact match", "bleu": "BLEU", "rouge": "ROUGE-L"}
BOTH = ((True, "all"), (False, "without copies"))
_WITHOUT_COPIES = (
    "Without copies: round trips whose description recites the code, which tell how well a model copies, are left out; so are items that "
    "have no other."
)
_NAMED = (
    "r is Pearson's, rho Spearman's and tau Kendall's correlation, each with its 95 % interval from Fisher's z, as if the pairs were "
    "independent of each other."
)


def sim_of(name: str) -> str:
    """What the round trips of a set are judged by."""
    return EXACT if name == "edits" else "tests_pass"


def rtc_of(item: Scored[Item], sim: str, *, copies: bool = True) -> float | None:
    """The share of an item's round trips after which the code is as before."""
    return item.mean("description", sim, copies=copies)


def is_documented(items: Trips) -> bool:
    """Whether code was written from docstrings as well, which is pass@1; else the baseline is."""
    return any("direct" in item.answers for item in items)


def columns_of(sim: str, names: Sequence[str], *, copies: bool = True, forward: int = 0, end: str = "") -> list[Column]:
    """These columns, all of the items that have such round trips. forward: descriptions of an item. end: of their titles."""

    def of(arm: str, item: Scored[Item]) -> float | None:
        return None if rtc_of(item, sim, copies=copies) is None else item.mean(arm, sim)

    found = (
        Column("pass_at_1", "pass@1", lambda item: of("direct", item)),
        Column("rtc", "RTC", lambda item: rtc_of(item, sim, copies=copies)),
        Column("lift", "lift", lambda item: item.lift("description", "baseline", sim, copies=copies), sign=True),
        Column("baseline", "baseline", lambda item: of("baseline", item)),
        Column("any", f"any of {forward}", lambda item: item.any_of("description", sim, copies=copies)),
    )
    place = "" if copies else "_without_copies"
    return [replace(each, name=f"{each.name}{place if end else ''}", title=f"{each.title}{end}") for each in found if each.name in names]


def plain_columns(sim: str, names: Sequence[str]) -> list[Column]:
    """These columns, and two of them without copies."""
    return [*columns_of(sim, names), *columns_of(sim, ("rtc", "lift"), copies=False, end=" without copies")]


def main_table(items: Trips, sims: Sequence[str], forward: int, by: str, benchmark: str | None) -> CellTable:
    """Table 2: each similarity with and without copies. benchmark: the paper's, whose numbers stand beside ours."""
    shown = (*(("pass_at_1",) if is_documented(items) else ()), "rtc", "lift", "baseline", "any")
    rows, columns = [], columns_of(sims[0], shown, forward=forward)
    for sim in sims:
        for copies, called in BOTH:
            place, printed = f"T2/{sim}/{called.replace(' ', '_')}", benchmark if sim == "tests_pass" and copies else None
            found = columns_of(sim, shown, copies=copies)
            rows.append(row_of((SIM_WORDS[sim], called), place, items, found, by, paper=partial(_of_paper, printed)))
    return CellTable(
        "T2", "Round trips", ("judged by", "round trips"), tuple(each.title for each in columns), tuple(rows), (_WITHOUT_COPIES,)
    )


def _of_paper(benchmark: str | None, column: str) -> tuple[PaperValue, ...]:
    """The paper's numbers of a column; its baseline is RTC without the lift."""
    if benchmark is None:
        return ()
    if column != "baseline":
        return tuple(paper().cells[place] for model in models(benchmark) if (place := f"T2/{benchmark}/{model}/{column}") in paper().cells)
    of_rtc, of_lift = (paper_column(benchmark, name) for name in ("rtc", "lift"))
    return tuple(
        PaperValue(rtc - lift, model, f"T2/{benchmark}/{model}/rtc minus lift")
        for model, rtc, lift in zip(models(benchmark), of_rtc, of_lift, strict=True)
    )


def edit_table(items: Trips, by: str) -> CellTable:
    """Table 3, the half of it that needs no human's words."""
    printed = {"exact/rtc": "exact", "exact/lift": "lift", "bleu/rtc": "bleu", "rouge/rtc": "rouge"}

    def columns(*, copies: bool) -> list[Column]:
        of_sims = [(sim, column) for sim in (EXACT, "bleu", "rouge") for column in columns_of(sim, ("rtc", "lift"), copies=copies)]
        return [replace(column, name=f"{sim}/{column.name}", title=f"{SIM_WORDS[sim]}, {column.title}") for sim, column in of_sims]

    def of_paper(column: str) -> tuple[PaperValue, ...]:
        return tuple(value for place, value in paper().cells.items() if place.split("/")[0::2] == ["T3", printed.get(column)])

    rows = [
        row_of((called,), f"T3/{called.replace(' ', '_')}", items, columns(copies=copies), by, **({"paper": of_paper} if copies else {}))
        for copies, called in BOTH
    ]
    notes = (
        "BLEU is sacrebleu's of one text, ROUGE-L the F1 of rouge-score. Both are high where nothing was done: most of the text stays.",
        "The paper's edits are code reviews in nine languages, with a human's words; ours are commits of Python, without.",
    )
    return CellTable("T3", "Edits", ("round trips",), tuple(each.title for each in columns(copies=True)), tuple(rows), notes)


def group_table(items: Trips, sim: str) -> CellTable:
    """Figures 2 and 5 as a table: each project."""
    columns = plain_columns(sim, ("rtc", "lift", "baseline"))
    rows = tuple(row_of((name,), f"F2/{name}", found, columns, "item") for name, found in by_group(items).items())
    titles = tuple(f"{each.title} = pass@1" if each.name == "baseline" else each.title for each in columns)
    return CellTable("F2", "By project", ("project",), titles, rows, ("Intervals by item: they are of the project alone.",))


def by_group(items: Trips) -> dict[str, list[Scored[Item]]]:
    """The items of each group, by name."""
    return apart(sorted(items, key=lambda each: each.item.group), lambda each: each.item.group)


def length_table(items: Trips, sim: str, by: str) -> CellTable:
    """Figure 6: how long the code is that came back."""
    rows = []
    for copies, called in BOTH:
        known = [
            (len(each.item.described), bool(came), each.item.group)
            for each in items
            if (came := each.any_of("description", sim, copies=copies)) is not None
        ]
        rows.append(Row((called,), tuple(_lengths(f"F6/{called.replace(' ', '_')}", known, by, printed=copies))))
    columns = ("came back at least once", "never came back", "never minus at least once")
    notes = ("In the paper of what Gemini Nano 2 was asked about, regions of other projects.",)
    return CellTable("F6", "Mean characters of the code", ("round trips",), columns, tuple(rows), notes)


def _lengths(place: str, known: Sequence[tuple[int, bool, str]], by: str, *, printed: bool) -> Iterator[Cell]:
    """known: length, whether it came back, and group of each item."""
    sides = {"rebuilt": True, "not_rebuilt": False}
    for name, wanted in sides.items():
        side = [(float(size), group) for size, came, group in known if came is wanted]
        cell = mean_cell(f"{place}/{name}", [size for size, _ in side], [group for _, group in side], by=by, percent=False)
        yield replace(cell, sign=False, paper=(paper().cells[f"F6/{name}"],) if printed else ())
    sizes, back = [float(size) for size, *_ in known], [came for _, came, _ in known]
    groups = [group for *_, group in known]
    found = difference(sizes, np.logical_not(back), numbered(groups)) if any(back) and not all(back) else None
    yield with_interval(f"{place}/difference", found, len(known), len(set(groups)), by, sign=True, why="" if found else "none")


def count_table(items: Trips, by: str) -> CellTable:
    """What the answers were: copies, and those that could not be read."""
    columns = (Column("copies", "descriptions that copy the code", lambda item: item.share_of("description", "copies")), UNREADABLE)
    return CellTable("N", "The answers", ("share",), tuple(each.title for each in columns), (row_of(("of all",), "N", items, columns, by),))


def correlation_cells(
    place: str, found: Correlations, by: str, printed: Mapping[str, tuple[PaperValue, ...]] | None = None
) -> tuple[Cell, ...]:
    """r, rho and tau."""
    cells = []
    for name, interval in (("r", found.r), ("rho", found.rho), ("tau", found.tau)):
        why = f"fewer than {MIN_PAIRS} {by}s" if found.n < MIN_PAIRS else "not defined"
        more = {"paper": (printed or {}).get(name, ()), "why": why if interval is None else ""}
        cells.append(with_interval(f"{place}/{name}", interval, found.n, found.n, by, **more))
    return tuple(cells)


def correlation_table(id: str, title: str, parts: Mapping[str, Trips], sim: str, by: str) -> CellTable:
    """RTC and pass@1 over groups of a run, or over models: that of the docstring, or the baseline where there is none."""
    rows = []
    for copies, called in BOTH:
        pairs = [pair for found in parts.values() if (pair := rtc_and_pass(found, sim, copies=copies))]
        cells = correlation_cells(f"{id}/{called.replace(' ', '_')}", correlations([a for a, _ in pairs], [b for _, b in pairs]), by)
        rows.append(Row((called,), cells))
    return CellTable(id, title, ("round trips",), ("r", "rho", "tau"), tuple(rows), (_NAMED,))


def rtc_and_pass(items: Trips, sim: str, *, copies: bool = True) -> tuple[float, float] | None:
    """pass@1, or the baseline where there is none, and RTC. None where one is not known."""
    columns = columns_of(sim, ("pass_at_1" if is_documented(items) else "baseline", "rtc"), copies=copies)
    found = {column.name: cell.value for column, cell in zip(columns, cells_of_row("", items, columns, ""), strict=True)}
    rtc, (passes, *_) = found.pop("rtc"), tuple(found.values())
    return None if passes is None or rtc is None else (passes, rtc)


def paper_table() -> CellTable:
    """The correlations of the paper's Table 2, computed again."""
    rows = []
    for benchmark in BENCHMARKS:
        # what the paper prints as Spearman's stands where ours does
        printed = {name: (paper().cells[f"text/{text}_{benchmark.lower()}"],) for name, text in (("r", "r"), ("rho", "spearman"))}
        rows.append(Row((benchmark,), correlation_cells(f"C2/{benchmark}", table_2(benchmark), "model", printed)))
    notes = (_NAMED, "What the paper prints as Spearman's correlation is Kendall's tau of its own table.")
    title = "The paper's Table 2, computed again: RTC and pass@1 over models"
    return CellTable("C2", title, ("benchmark",), ("r", "rho", "tau"), tuple(rows), notes)


def between_models(runs: Mapping[str, Trips], sim: str) -> CellTable:
    """RTC over projects or problems, between each two models."""
    rows = []
    for (one, first), (other, second) in combinations(runs.items(), 2):
        means = [
            {name: pair[1] for name, found in by_group(each).items() if (pair := rtc_and_pass(found, sim))} for each in (first, second)
        ]
        both = [name for name in means[0] if name in means[1]]
        found = correlations(*([of[name] for name in both] for of in means))
        rows.append(Row((f"{one} and {other}",), correlation_cells(f"CG/{one}/{other}", found, "group")))
    return CellTable("CG", "RTC over groups, between two models", ("of",), ("r", "rho", "tau"), tuple(rows), (_NAMED,))


def numbers_of(items: Trips, sim: str) -> list[Number]:
    """What stands side by side with other models."""
    return [
        Number(each.item.id, each.item.group, column.name, (column.title,), value, column.sign)
        for column in plain_columns(sim, (*(("pass_at_1",) if is_documented(items) else ()), "rtc", "lift", "baseline"))
        for each in items
        if (value := column.number(each)) is not None
    ]
