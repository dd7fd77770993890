"""The tables of round trips: the paper's columns beside ours, by project, by length, and the correlations, its Table 2's, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ...calibration.metrics.correlations import MIN_PAIRS, Correlations, correlations
from ...calibration.metrics.intervals import Interval
from ...calibration.report.cells import Cell, CellTable, PaperValue, Row, with_interval
from ..study_page import Paper, paper_of
from .scores import Mean, Scored, by_group, longer_by, mean_of

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


SIM_WORDS = {"tests_pass": "passes tests", "exact": "exact match", "bleu": "BLEU", "rouge": "ROUGE-L"}
COLUMNS: Mapping[str, tuple[str, bool]] = {
    "pass_at_1": ("pass@1", False),
    "rtc": ("RTC", False),
    "lift": ("lift", True),
    "baseline": ("baseline", False),
    "any": ("any of {n}", False),
}
BOTH = ((True, "all"), (False, "without copies"))
_WITHOUT_COPIES = (
    "Without copies: round trips whose description recites the code, which tell how well a model copies, are left out; so are items that "
    "have no other."
)
_NAMED = (
    "r is Pearson's, rho Spearman's and tau Kendall's correlation, each with its 95 % interval from Fisher's z, as if the pairs were "
    "independent of each other."
)


def number_of(column: str, sim: str, *, copies: bool) -> Callable[[Scored], float | None]:
    """The number of an item that a column is the mean of; all columns are of the items that have such round trips."""
    numbers: dict[str, Callable[[Scored], float | None]] = {
        "pass_at_1": lambda item: item.pass_at_1(sim),
        "rtc": lambda item: item.rtc(sim, copies=copies),
        "lift": lambda item: item.lift(sim, copies=copies),
        "baseline": lambda item: item.without(sim),
        "any": lambda item: item.any_of(sim, copies=copies),
    }
    number = numbers[column]
    return lambda item: None if item.rtc(sim, copies=copies) is None else number(item)


def cell_of(place: str, mean: Mean, by: str, *, sign: bool = False, paper_values: tuple[PaperValue, ...] = ()) -> Cell:
    """A mean as a cell, in percent; without an interval where one group has all. sign: a difference of shares, at most 1 either way."""
    if mean.value is None or mean.found is None:
        why = "" if mean.value is not None else "no label"
        return Cell(place, mean.value, n=mean.n, groups=mean.groups, grouped_by=by, paper=paper_values, why=why, percent=True, sign=sign)
    found = Interval(mean.found.value, max(-1.0, mean.found.low), min(1.0, mean.found.high))
    return with_interval(place, found, mean.n, mean.groups, by, percent=True, sign=sign, paper=paper_values)


def column_cell(place: str, items: Sequence[Scored], column: str, sim: str, by: str, *, copies: bool = True, by_item: bool = False) -> Cell:
    """The mean of a column of items."""
    sign = COLUMNS[column][1]
    return cell_of(place, mean_of(items, number_of(column, sim, copies=copies), share=not sign, by_item=by_item), by, sign=sign)


def main_table(items: Sequence[Scored], sims: Sequence[str], forward: int, by: str, benchmark: str | None) -> CellTable:
    """Table 2: each similarity with and without copies. benchmark: the paper's, whose numbers stand beside ours."""
    shown = [name for name in COLUMNS if name != "pass_at_1" or any(item.direct for item in items)]
    rows = []
    for sim in sims:
        for copies, called in BOTH:
            place, is_printed = f"T2/{sim}/{called.replace(' ', '_')}", sim == "tests_pass" and copies
            cells = [column_cell(f"{place}/{column}", items, column, sim, by, copies=copies) for column in shown]
            if is_printed:
                cells = [replace(cell, paper=_of_paper(benchmark, column)) for cell, column in zip(cells, shown, strict=True)]
            rows.append(Row((SIM_WORDS[sim], called), tuple(cells)))
    columns = tuple(COLUMNS[name][0].format(n=forward) for name in shown)
    return CellTable("T2", "Round trips", ("judged by", "round trips"), columns, tuple(rows), (_WITHOUT_COPIES,))


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


def edit_table(items: Sequence[Scored], by: str) -> CellTable:
    """Table 3, the half of it that needs no human's words."""
    printed = {("exact", "rtc"): "exact", ("exact", "lift"): "lift", ("bleu", "rtc"): "bleu", ("rouge", "rtc"): "rouge"}
    shown = [(sim, column) for sim in ("exact", "bleu", "rouge") for column in ("rtc", "lift")]
    rows = []
    for copies, called in BOTH:
        cells = []
        for sim, column in shown:
            name = printed.get((sim, column)) if copies else None
            values = tuple(value for place, value in paper().cells.items() if name and place.split("/")[0::2] == ["T3", name])
            place = f"T3/{called.replace(' ', '_')}/{sim}/{column}"
            cells.append(replace(column_cell(place, items, column, sim, by, copies=copies), paper=values))
        rows.append(Row((called,), tuple(cells)))
    columns = tuple(f"{SIM_WORDS[sim]}{', lift' if column == 'lift' else ''}" for sim, column in shown)
    notes = (
        "BLEU is sacrebleu's of one text, ROUGE-L the F1 of rouge-score. Both are high where nothing was done: most of the text stays.",
        "The paper's edits are code reviews in nine languages, with a human's words; ours are commits of Python, without.",
    )
    return CellTable("T3", "Edits", ("round trips",), columns, tuple(rows), notes)


def _row(place: str, name: str, items: Sequence[Scored], shown: Sequence[str], sim: str, by: str, *, by_item: bool = False) -> Row:
    """The columns of some items, and two of them without copies."""
    cells = [column_cell(f"{place}/{name}/{column}", items, column, sim, by, by_item=by_item) for column in shown]
    for column in ("rtc", "lift"):
        place_of = f"{place}/{name}/{column}_without_copies"
        cells.append(column_cell(place_of, items, column, sim, by, copies=False, by_item=by_item))
    return Row((name,), tuple(cells))


def group_table(items: Sequence[Scored], sim: str) -> CellTable:
    """Figures 2 and 5 as a table: each project."""
    shown = ("rtc", "lift", "baseline")
    rows = tuple(_row("F2", name, found, shown, sim, "item", by_item=True) for name, found in by_group(items).items())
    columns = ("RTC", "lift", "baseline = pass@1", "RTC without copies", "lift without copies")
    return CellTable("F2", "By project", ("project",), columns, rows, ("Intervals by item: they are of the project alone.",))


def length_table(items: Sequence[Scored], sim: str, by: str) -> CellTable:
    """Figure 6: how long the code is that came back."""
    rows = []
    for copies, called in BOTH:
        cells = []
        for name, mean in zip(("rebuilt", "not_rebuilt", "difference"), longer_by(items, sim, copies=copies), strict=True):
            printed = (paper().cells[f"F6/{name}"],) if copies and name != "difference" else ()
            why = "" if mean.value is not None else "none"
            more = {"why": why, "paper": printed, "sign": name == "difference"}
            found = mean.found if mean.value is not None else None
            place = f"F6/{called.replace(' ', '_')}/{name}"
            if found is None:
                cells.append(Cell(place, mean.value, n=mean.n, groups=mean.groups, grouped_by=by, why=why, paper=printed))
            else:
                cells.append(with_interval(place, found, mean.n, mean.groups, by, **more))
        rows.append(Row((called,), tuple(cells)))
    columns = ("came back at least once", "never came back", "never minus at least once")
    notes = ("In the paper of what Gemini Nano 2 was asked about, regions of other projects.",)
    return CellTable("F6", "Mean characters of the code", ("round trips",), columns, tuple(rows), notes)


def count_table(items: Sequence[Scored], by: str, unreadable: Mean) -> CellTable:
    """What the answers were: copies, and those that could not be read."""
    copies = mean_of(items, lambda item: item.copies / item.descriptions if item.descriptions else None)
    cells = (cell_of("N/copies", copies, by), cell_of("N/unreadable", unreadable, by))
    return CellTable("N", "The answers", ("share",), ("descriptions that copy the code", "unreadable answers"), (Row(("of all",), cells),))


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


def within_run(items: Sequence[Scored], sim: str, by: str) -> CellTable:
    """RTC and pass@1, over the groups of a run: that of the docstring, or the baseline where there is none."""
    called = "pass@1" if any(item.direct for item in items) else "baseline = pass@1"
    rows = []
    for copies, which in BOTH:
        pairs = [pair for found in by_group(items).values() if (pair := rtc_and_pass(found, sim, copies=copies))]
        cells = correlation_cells(f"C/{which.replace(' ', '_')}", correlations(*_columns(pairs)), by)
        rows.append(Row((which,), cells))
    return CellTable("C", f"RTC and {called}, over {by}s", ("round trips",), ("r", "rho", "tau"), tuple(rows), (_NAMED,))


def rtc_and_pass(items: Sequence[Scored], sim: str, *, copies: bool = True) -> tuple[float, float] | None:
    """pass@1, or the baseline where there is none, and RTC. None where one is not known."""
    column = "pass_at_1" if any(item.direct for item in items) else "baseline"
    passes = mean_of(items, number_of(column, sim, copies=copies)).value
    rtc = mean_of(items, number_of("rtc", sim, copies=copies)).value
    return None if passes is None or rtc is None else (passes, rtc)


def paper_table() -> CellTable:
    """The correlations of the paper's Table 2, computed again."""
    rows = []
    for benchmark in BENCHMARKS:
        text = {name: paper().cells[f"text/{name}_{benchmark.lower()}"] for name in ("r", "spearman")}
        # where the paper's "Spearman" stands
        rows.append(
            Row(
                (benchmark,),
                correlation_cells(f"C2/{benchmark}", table_2(benchmark), "model", {"r": (text["r"],), "rho": (text["spearman"],)}),
            )
        )
    notes = (_NAMED, "What the paper prints as Spearman's correlation is Kendall's tau of its own table.")
    return CellTable(
        "C2", "The paper's Table 2, computed again: RTC and pass@1 over models", ("benchmark",), ("r", "rho", "tau"), tuple(rows), notes
    )


def models_table(runs: Mapping[str, Sequence[Scored]], sim: str, by: str) -> CellTable:
    """Table 2: a row for each model."""
    shown = [
        name for name in COLUMNS if name != "any" and (name != "pass_at_1" or any(item.direct for items in runs.values() for item in items))
    ]
    rows = tuple(_row("M", name, items, shown, sim, by) for name, items in runs.items())
    columns = (*(COLUMNS[name][0] for name in shown), "RTC without copies", "lift without copies")
    return CellTable("M", "By model", ("model",), columns, rows)


def models_correlations(runs: Mapping[str, Sequence[Scored]], sim: str) -> CellTable:
    """The correlation over models of RTC and pass@1, with and without copies; and over projects of RTC between each two models."""
    rows = []
    for copies, called in BOTH:
        pairs = [pair for items in runs.values() if (pair := rtc_and_pass(items, sim, copies=copies))]
        cells = correlation_cells(f"CM/{called.replace(' ', '_')}", correlations(*_columns(pairs)), "model")
        rows.append(Row((f"RTC and pass@1 over models, {called}",), cells))
    names = list(runs)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            groups = [by_group(runs[name]) for name in (one, other)]
            means = [{name: mean_of(found, number_of("rtc", sim, copies=True)).value for name, found in each.items()} for each in groups]
            both = [(a, b) for name, a in means[0].items() if a is not None and (b := means[1].get(name)) is not None]
            cells = correlation_cells(f"CG/{one}/{other}", correlations(*_columns(both)), "group")
            rows.append(Row((f"RTC of {one} and of {other} over groups",), cells))
    return CellTable("CM", "Correlations", ("of",), ("r", "rho", "tau"), tuple(rows), (_NAMED,))


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [a for a, _ in pairs], [b for _, b in pairs]
