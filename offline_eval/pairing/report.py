"""Which comparison of runs is made; and the report on two runs of the same items: differences, a table by project and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...calibration.bands import LIKELY, NO_EVIDENCE
from ...calibration.report.blocks import Block
from ...calibration.report.cells import Cell, CellTable, text_of
from ...calibration.report.paper_claims import Rule
from ...calibration.report.plots import Picture, panel, svg
from ...calibration.report.study_report import Section, StudyContent
from ..errors import UsageError
from ..paper_tables.forecasts import samples_by_setting
from ..progress import counted
from ..registry import study_of
from ..run import RUN, Run, differences
from ..study_page import write_comparison
from .paired import PairingError, Pairs, paired_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What two questions may differ in, and still be about the same items.
_OF_MODELS = {"model", "model_name", "prompt", "prompt_block", "prompt_sampled", "mends", "judge"}
_DIFFERS = (Rule("above 0", above=0.0), Rule("below 0", below=0.0))


def report_pair(run_a: Path, run_b: Path, out: Path, *, as_json: bool) -> None:
    """Compare two runs and write report/ into `out`; on stdout the files, or one JSON document with all figures.

    Raises RunError for what is no run, SampleError for damaged samples, PairingError for runs of other
    items.
    """
    questions = [Run.opened(folder).question() for folder in (run_a, run_b)]
    same_items = _check_questions((run_a, run_b), questions)
    samples = [samples_by_setting(folder) for folder in (run_a, run_b)]
    names = _names(questions)
    pairs = paired_runs(samples[0], samples[1], same_items=same_items, names=names, seed=int(questions[0]["seed"]))
    write_comparison(out, pair_content(pairs, names, f"assay eval report {run_a} {run_b}"), (run_a, run_b), as_json=as_json)


def pair_content(pairs: Pairs, names: tuple[str, str], command: str) -> StudyContent:
    """The page on two runs."""
    summary, *by_group = pairs.tables
    drawn: tuple[Block, ...] = tuple(_picture(summary, names))
    return StudyContent(
        title=f"{names[0]} and {names[1]} on the same items",
        summary=_sentences(summary, names),
        facts=("Differences are paired: a place that is hard for one is hard for the other. 95 % intervals: jackknife over projects.",),
        sections=(Section("Differences", (*drawn, summary)), *((Section("By project", tuple(by_group)),) if by_group else ())),
        left_out=pairs.left_out,
        command=command,
    )


def _check_questions(folders: Sequence[Path], questions: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the items are known to be the same. Raises PairingError where they are known to be others."""
    a, b = questions
    hashes = a.get("items"), b.get("items")
    if a["study"] == b["study"] and (None in hashes or hashes[0] == hashes[1]):
        return None not in hashes
    apart = [{name: value for name, value in question.items() if name not in _OF_MODELS} for question in questions]
    raise PairingError(
        f"{folders[0]} and {folders[1]} are not of the same items ({'; '.join(differences(*apart))}): runs are compared that differ "
        f"only in their model. Make one again with the options of the other, which are in its {RUN}"
    )


def _names(questions: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    a, b = (str(question["model_name"] or question["model"]) for question in questions)
    return (a, b) if a != b else (f"{a} (first)", f"{b} (second)")


def _sentences(summary: CellTable, names: tuple[str, str]) -> tuple[str, str, str]:
    """Three sentences from the numbers: how often each is right, what its number is worth, and of how much that is known."""
    cells = {cell.id: cell for cell in summary.cells()}
    rates = [cell for cell in cells.values() if cell.id.endswith("/rate") and cell.value is not None]
    told = [row.names for row in summary.rows if row.cells[-1] in rates]
    if not rates:
        return (
            f"{names[0]} and {names[1]} were asked the same.",
            "Nothing can be compared yet: no sample of both has a label.",
            "More items, or their tests, would tell.",
        )
    first, (task, event, _) = rates[0], told[0]
    a, b = (100 * (cells[f"{first.id}/{side}"].value or 0.0) for side in "ab")
    skill = cells.get(f"{first.id.removesuffix('rate')}total_logprob/project/skill")
    worth = f"the skill score differs by {text_of(skill)}" if skill and skill.value is not None else "what it is worth can't be compared"
    return (
        f"On {first.n:,} places ({task}, {event}) {names[0]} was right {a:.1f} % of the time and {names[1]} {b:.1f} %, a difference of "
        f"{text_of(first)}: {_better(first, names)}.",
        f"Of the probability that goes with these, p_tot scaled by project, {worth}.",
        f"Of {counted(len(rates), 'rate')} that {'was' if len(rates) == 1 else 'were'} compared, "
        f"{sum(map(_decided, rates))} {'differs' if sum(map(_decided, rates)) == 1 else 'differ'} beyond chance.",
    )


def _decided(cell: Cell) -> bool:
    """As a claim is: few groups say too little of others, and where each says the very same none tells how far others may differ."""
    return any(rule.verdict(cell) == "confirmed" for rule in _DIFFERS)


def _better(cell: Cell, names: tuple[str, str]) -> str:
    if not _decided(cell):
        return "not shown to be more than chance"
    return f"{names[1] if (cell.value or 0) > 0 else names[0]} is better, beyond chance"


def _picture(summary: CellTable, names: tuple[str, str]) -> Iterator[Picture]:
    """The differences with their intervals, one below the other. No name that a user chose is in it."""
    wanted = ("rate", "skill of p_tot, scaled by project", "AUC of p_tot, raw")
    rows = [row for row in summary.rows if row.names[2] in wanted and row.cells[-1].value is not None]
    if not rows:
        return
    labels = [f"{row.names[0]}, {row.names[1]}: {row.names[2]}" for row in rows]
    cells = [row.cells[-1] for row in rows]
    height = 0.27 * len(rows)

    def draw(figure: Figure) -> None:
        axes = panel(figure, 3.7, 0.3, 4.0, height)
        value = np.array([cell.value for cell in cells], dtype=np.float64)
        low, high = (np.array([end if end is not None else mid for end, mid in zip(ends, value, strict=True)]) for ends in _ends(cells))
        axes.axvline(0, color=NO_EVIDENCE.colour, linewidth=1, linestyle="dotted")
        axes.errorbar(value, np.arange(len(rows)), xerr=np.stack([value - low, high - value]), fmt="o", color=LIKELY.colour, capsize=3)
        axes.set_yticks(np.arange(len(rows)), labels)
        axes.set(ylim=(len(rows) - 0.5, -0.5), xlabel="second minus first, 95 %")

    title = f"Differences, {names[1]} minus {names[0]}"
    alt = "; ".join(f"{label} {text_of(cell)}" for label, cell in zip(labels, cells, strict=True))
    yield Picture("differences", title, f"{title}: {alt}.", svg(draw, (8.0, height + 0.9)))


def _ends(cells: Sequence[Cell]) -> tuple[list[float | None], list[float | None]]:
    return [cell.low for cell in cells], [cell.high for cell in cells]


def compare(folders: Sequence[Path], out: Path, *, as_json: bool) -> None:
    """Compare runs and write report/ into `out`. Raises UsageError, and what the comparisons raise."""
    if twice := [folder for n, folder in enumerate(folders) if folder.resolve() in {other.resolve() for other in folders[:n]}]:
        raise UsageError(f"{twice[0]} is named twice: name the run of another model on the same items")
    runs = [Run.opened(folder) for folder in folders]
    studies = [study_of(run) for run in runs]
    names = sorted({study.name for study in studies})
    if studies[0].compare and set(names) <= set(studies[0].compared):
        studies[0].compare(runs, out, as_json=as_json)
    elif len(folders) == 2 and not any(study.compare for study in studies):
        report_pair(folders[0], folders[1], out, as_json=as_json)
    elif len(names) > 1:
        raise UsageError(f"runs of {' and '.join(names)} ask different things: name runs of one study")
    else:
        raise UsageError(f"of the study {names[0]} two runs are compared, not {len(folders)}")
