"""Several runs side by side: generator by evaluator, and differences on the same programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....calibration.report.blocks import Block, Table
from ....calibration.report.cells import Cell, CellTable, Row, text_of
from ....calibration.report.study_report import Section, StudyContent
from ...asked_model import names_in_forms
from ...errors import StudyError
from ...progress import counted
from ...run import Run
from ...shares import mean_cell
from ...study_page import again_of, cells_of, write_comparison
from ..paper import paper
from .asking import JUDGE, JUDGE_REASONING
from .derived import judgements_of
from .judgements import Judgement, by_way
from .pages import sections_of_set, set_of
from .programs import Program

# What is shown: a title, the cell of a run, and the paper's figure.
_SHOWN = (
    ("judging with reasoning", "J/thought/strict/balanced_accuracy"),
    ("judging without reasoning", "J/vote/strict/balanced_accuracy"),
    ("judging by p(Correct)", "J/probability/strict/balanced_accuracy"),
    ("execution", "EM/all"),
    ("repair", "R/repairs"),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A run: whose programs were asked about, of whom, what came of it, and each judgement. programs: problem and text of each."""

    generator: str
    evaluator: str
    benchmark: str
    programs: frozenset[tuple[str, str]]
    cells: dict[str, Cell]
    judgements: Sequence[Judgement]


def compare(runs: Sequence[Run], out: Path, *, as_json: bool) -> None:
    """Write report/ into `out`; on stdout its files, or one JSON document with all figures.

    Raises StudyError for runs without a judged program.
    """
    names = names_in_forms([run.question() for run in runs])
    found = _told_apart([_loaded(run, name) for run, name in zip(runs, names, strict=True)])
    if not any(run.cells for run in found):
        raise StudyError(f"no run of {len(found)} has an answer about a program: run the steps judge, execute or repair first")
    write_comparison(out, heatmap_content(found, again_of(runs)), [run.folder for run in runs], as_json=as_json)


def heatmap_content(runs: Sequence[Compared], command: str) -> StudyContent:
    """The page on several runs."""
    generators = list(dict.fromkeys(run.generator for run in runs))
    evaluators = list(dict.fromkeys(run.evaluator for run in runs))
    parts: list[Block | CellTable] = []
    for title, place in _SHOWN:
        found = {(run.generator, run.evaluator): cell for run in runs if (cell := run.cells.get(place)) and cell.value is not None}
        if found:
            rows = tuple(
                Row((generator,), tuple(_placed(found.get((generator, each)), f"H/{place}/{generator}/{each}") for each in evaluators))
                for generator in generators
            )
            title = f"{title.capitalize()}: generator (row), evaluator (column)"
            parts.append(CellTable(f"H/{place}", title, ("programs of",), tuple(evaluators), rows))
    sections = [Section("Generators and evaluators (figures 8, 12 and 16)", (*parts, *_of_paper({run.benchmark for run in runs})))]
    if differences := _differences(runs):
        sections.append(Section("The same programs", (differences,)))
    accuracies = [cell for run in runs for place, cell in run.cells.items() if place.endswith("/strict/balanced_accuracy")]
    best = max(accuracies, key=lambda cell: cell.value or 0.0, default=None)
    said = f"The best judge among them is right {text_of(best)} of the time, where 50 % is chance." if best else "None judged programs."
    return StudyContent(
        title="Counterfeits: generators and evaluators",
        summary=(
            f"The programs of {counted(len(generators), 'generator')} were judged, executed or repaired by "
            f"{counted(len(evaluators), 'model')}.",
            said,
            "Runs on the same programs are compared pair by pair." if differences else "No two runs are about the same programs.",
        ),
        facts=("95 % intervals: problems alone are independent.",),
        sections=tuple(sections),
        command=command,
    )


def _told_apart(runs: Sequence[Compared]) -> list[Compared]:
    """The runs, of several benchmarks each with its name, and the second and further ones of one generator and evaluator with a number."""
    found: list[Compared] = []
    if len({run.benchmark for run in runs}) > 1:
        runs = [replace(run, generator=f"{run.generator} on {run.benchmark}") for run in runs]
    for run in runs:
        before = sum(other.generator == run.generator and other.evaluator.partition(" (run ")[0] == run.evaluator for other in found)
        found.append(replace(run, evaluator=f"{run.evaluator} (run {before + 1})") if before else run)
    return found


def _placed(cell: Cell | None, place: str) -> Cell:
    return Cell(place, percent=True) if cell is None else replace(cell, id=place, paper=())


def _differences(runs: Sequence[Compared]) -> CellTable | None:
    """Accuracy of each later run minus that of the first with the same programs, judged in the same way.

    Programs are the same by their texts: two models' draws for a problem have the same ids, and the same problems.
    """
    rows = []
    for number, run in enumerate(runs):
        first = next(other for other in runs if other.programs == run.programs)
        if first is run or not run.programs:
            continue
        mine, theirs = (by_way(each.judgements) for each in (run, first))
        for way in mine:
            before = {_key(each.program): each for each in theirs.get(way, ())}
            both = [(each, before[_key(each.program)]) for each in mine[way] if _key(each.program) in before]
            if not both:
                continue
            values = [a.credit() - b.credit() for a, b in both]
            cell = mean_cell(f"HD/{number}/{way.replace(' ', '_')}", values, [a.program.problem for a, _ in both])
            rows.append(Row((f"{run.evaluator} minus {first.evaluator}", way), (cell,)))
    if not rows:
        return None
    return CellTable("HD", "Paired differences in judging", ("models", "how"), ("accuracy",), tuple(rows))


def _key(program: Program) -> tuple[str, str]:
    return program.problem, program.text


def _of_paper(benchmarks: set[str]) -> list[Table]:
    """The paper's own cells, as numbers in percent."""
    tables = []
    for benchmark in sorted(benchmarks):
        judging = {name: of for name, of in paper()["Fig13"].items() if name.startswith(f"{benchmark}/")}
        tables += _table(f"The paper's judging, {benchmark} (figure 13)", judging, lambda of: {
            judge: f"{100 * (correct + incorrect) / (2 * of['n']):.0f}" for judge, (incorrect, correct) in of["judges"].items()
        })  # fmt: skip
        executing = {name: of for name, of in paper()["Fig16"].items() if name.startswith(f"{benchmark}/")}
        tables += _table(f"The paper's execution, {benchmark} (figure 16)", executing, _executing)
    return tables


def _executing(numbers: Sequence[int]) -> dict[str, str]:
    return dict(zip(paper()["Fig16"]["models"], map(str, numbers), strict=True))


def _table(title: str, rows: dict[str, Any], cells: Callable[[Any], dict[str, str]]) -> list[Table]:
    if not rows:
        return []
    found = {name.partition("/")[2]: cells(of) for name, of in rows.items()}
    columns = list(dict.fromkeys(model for of in found.values() for model in of))
    lines = tuple((f"programs of {name}", *(of.get(model, "–") for model in columns)) for name, of in found.items())
    return [Table(title, ("%", *columns), "l" + "r" * len(columns), lines)]


def _loaded(run: Run, name: str) -> Compared:
    made = set_of(run)
    judgements = judgements_of(made.programs, run.records(JUDGE).read(), run.records(JUDGE_REASONING).read())
    cells = cells_of(sections_of_set(run, made))
    return Compared(made.generator, name, made.benchmark, frozenset(map(_key, made.programs)), cells, judgements)
