"""Several runs on pairs side by side: what each model says, and paired differences at the same pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....calibration.report.cells import Cell, CellTable, Row, text_of
from ....calibration.report.study_report import Section, StudyContent
from ...asked_model import names_in_forms
from ...counterfeit.shares import mean_cell
from ...errors import StudyError
from ...progress import counted
from ...run import Run
from ...study_page import again_of, write_comparison
from .judgements import KEYS, Judgement, by_way, recall, two_classes
from .pair import GLOBAL, KINDS
from .tables import CLASSES

_CLASSES = {"equivalent pairs": True, "other pairs": False}


@dataclass(frozen=True, slots=True)
class Asked:
    """A run: who was asked, and what was said."""

    name: str
    judgements: Sequence[Judgement]


def compare(runs: Sequence[Run], judged: Sequence[Sequence[Judgement]], out: Path, *, as_json: bool) -> None:
    """Write report/ into `out`; on stdout its files, or one JSON document with all figures. judged: what was said in each run.

    Raises StudyError for a run without an answer, or runs without a common question.
    """
    names = names_in_forms([run.question() for run in runs])
    # models of one name are told apart by their runs' folders
    told = [f"{name} ({run.folder.name})" if names.count(name) > 1 else name for name, run in zip(names, runs, strict=True)]
    asked = [Asked(name, said) for name, said in zip(told, judged, strict=True)]
    if silent := next((run.folder for run, each in zip(runs, asked, strict=True) if not each.judgements), None):
        raise StudyError(f"{silent} has no answer about a pair: run its step answers first")
    write_comparison(out, content_of(asked, again_of(runs)), [run.folder for run in runs], as_json=as_json)


def content_of(asked: Sequence[Asked], command: str) -> StudyContent:
    """The page. Raises StudyError where no two runs have a common question."""
    differences = differences_table(asked)
    if not differences.rows:
        raise StudyError("no question is in two of these runs: ask the models about one file of pairs, with --data RUN/pairs.jsonl")
    best = max((cell for cell in _balanced(asked)), key=lambda cell: cell.value or 0.0, default=None)
    said = f"The best of them is right {text_of(best)} of the time about one rewrite, balanced, where half is chance." if best else "–"
    return StudyContent(
        title="Pairs of programs: models side by side",
        summary=(
            f"{counted(len(asked), 'model')} were asked whether two programs do the same.",
            said,
            "Differences are of the same pairs, asked in the same order.",
        ),
        facts=("95 % intervals: problems alone are independent.",),
        sections=(
            Section("Each model", (kinds_by_model(asked), classes_by_model(asked))),
            Section("The same pairs", (differences,)),
        ),
        command=command,
    )


def kinds_by_model(asked: Sequence[Asked]) -> CellTable:
    """Recall of each kind, one column a model."""
    rows = []
    for way, key in KEYS.items():
        for kind in KINDS:
            of_each = [[each for each in run.judgements if (each.way, each.pair.kind) == (way, kind)] for run in asked]
            if any(of_each):
                cells = (recall(f"M/{key}/{kind}/{n}", found, why="not asked") for n, found in enumerate(of_each, 1))
                rows.append(Row((way, kind), tuple(cells)))
    return CellTable("M", "Recall by kind of pair", ("how", "pairs"), tuple(run.name for run in asked), tuple(rows))


def classes_by_model(asked: Sequence[Asked]) -> CellTable:
    """Balanced accuracy, one column a model."""
    rows = []
    for way, key in KEYS.items():
        for number, (name, kinds) in enumerate(CLASSES.items()):
            of_each = [[each for each in run.judgements if each.way == way and each.pair.kind in kinds] for run in asked]
            if any(of_each):
                cells = (two_classes(f"MC/{key}/{number}/{n}", found)[2] for n, found in enumerate(of_each, 1))
                rows.append(Row((way, name), tuple(cells)))
    return CellTable("MC", "Balanced accuracy", ("how", "pairs"), tuple(run.name for run in asked), tuple(rows))


def differences_table(asked: Sequence[Asked]) -> CellTable:
    """Each further run minus the first, at the questions that both have."""
    first, rows = asked[0], []
    for number, run in enumerate(asked[1:], 1):
        for way, key in KEYS.items():
            both = list(_both(run, first, way))
            for place, (name, equivalent) in enumerate(_CLASSES.items()):
                for group, drawn in (("rewrites", False), ("drawn programs", True)):
                    of_it = [
                        (a, b) for a, b in both if a.pair.equivalent == equivalent and (a.pair.kind in GLOBAL) == drawn and not _same(a)
                    ]
                    if of_it:
                        values, problems = [a.credit - b.credit for a, b in of_it], [a.pair.problem for a, _ in of_it]
                        cell = mean_cell(f"MD/{number}/{key}/{place}/{int(drawn)}", values, problems)
                        rows.append(Row((f"{run.name} minus {first.name}", way, f"{name}, {group}"), (cell,)))
    return CellTable("MD", "Paired differences of recall", ("models", "how", "pairs"), ("recall",), tuple(rows))


def _same(judgement: Judgement) -> bool:
    return judgement.pair.kind == "identity"


def _balanced(asked: Sequence[Asked]) -> Iterator[Cell]:
    for run in asked:
        for found in by_way(run.judgements).values():
            cell = two_classes("", [each for each in found if each.pair.kind in CLASSES["one rewrite"]])[2]
            if cell.value is not None:
                yield cell


def _both(run: Asked, first: Asked, way: str) -> Iterator[tuple[Judgement, Judgement]]:
    before = {_key(each): each for each in first.judgements if each.way == way}
    for each in run.judgements:
        if each.way == way and (other := before.get(_key(each))) is not None:
            yield each, other


def _key(judgement: Judgement) -> tuple[str, str, str]:
    pair = judgement.pair
    return (*pair.programs(judgement.order), pair.kind)
