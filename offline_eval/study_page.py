"""The page of a run: written where plots can be drawn, summed up for people, and told of on stdout. And what many pages say alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..calibration.report.cells import Cell, CellTable, json_of
from ..calibration.report.study_report import Section, StudyContent, write_study_report
from .asked_model import names_in_forms
from .papers import Paper
from .progress import counted, to_stderr
from .run import Run, differences

if TYPE_CHECKING:
    from .study import Report, Results


def write_page(folder: Path, content: StudyContent, *, samples: Sequence[Path] = (), as_json: bool) -> None:
    """Write report/ into a folder, its summary on stderr; on stdout the files, those of samples first, or one JSON document."""
    files = _written(folder, content)
    document = {"run": str(folder), "samples": list(map(str, samples)), "report": list(map(str, files))}
    _tell(document, (*samples, *files), as_json=as_json)


def page_of(content: Callable[[Run], StudyContent]) -> Report:
    """A report that is a page made of the run alone."""

    def report(run: Run, results: Results, *, as_json: bool) -> None:  # noqa: ARG001
        write_page(run.folder, content(run), as_json=as_json)

    return report


def named_apart(questions: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of several runs' models, those of one name with a number."""
    names = names_in_forms(questions)
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]


def apart(questions: Sequence[Mapping[str, Any]], *besides: str) -> str:
    """In what two questions differ besides their models and what else may differ, for people."""
    own = {"model", "model_name", "prompt", "form", *besides}
    return "; ".join(differences(*({name: value for name, value in each.items() if name not in own} for each in questions)))


def write_comparison(out: Path, content: StudyContent, runs: Sequence[Path], *, as_json: bool) -> None:
    """Write report/ on several runs into a folder; on stdout its files, or one JSON document with all figures."""
    files = _written(out, content)
    figures = [json_of(cell) for table in content.tables() for cell in table.cells()]
    document = {"runs": list(map(str, runs)), "report": list(map(str, files)), "figures": figures}
    _tell(document, files, as_json=as_json)


def _written(folder: Path, content: StudyContent) -> tuple[Path, ...]:
    for sentence in content.summary:
        to_stderr(sentence)
    return write_study_report(folder, content)


def _tell(document: Mapping[str, Any], files: Sequence[Path], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(document))
    else:
        for path in files:
            print(path)


def again(run: Run) -> str:
    """What makes the report again. Not the whole path: a report is sent to others, and the same run elsewhere has the same report."""
    return f"assay eval report {run.folder.resolve().name}"


def again_of(runs: Sequence[Run]) -> str:
    """What makes the comparison again."""
    return f"assay eval report {' '.join(str(run.folder) for run in runs)}"


def facts_of(question: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """What was asked, for people."""
    said = ((name, question.get(name)) for name in names)
    return tuple(
        f"{name.replace('_', ' ')}: {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in said
        if value is not None
    )


def the_paper(paper: Paper, but: str = "") -> str:
    """Which paper it is. but: what is other there."""
    return f"the paper: {paper.title}, {paper.source}{but}"


def lost_items(count: int, unit: str = "item", what: str = "without an answer") -> Iterator[str]:
    """How many got no record, if any did."""
    if count:
        yield f"{counted(count, unit)} {what}: the model or the machine failed there, and the same command asks again."


def cells_of(sections: Sequence[Section]) -> dict[str, Cell]:
    """All cells of the tables, by their ids."""
    return cells_in([part for section in sections for part in section.parts if isinstance(part, CellTable)])


def cells_in(tables: Sequence[CellTable]) -> dict[str, Cell]:
    """All cells of these tables, by their ids."""
    return {cell.id: cell for table in tables for cell in table.cells()}
