"""The page of a run: written where plots can be drawn, summed up for people, and told of on stdout; what many pages say alike: a
paper's numbers, and what the run says of a calibrator that an editor on this machine would use.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..calibration.bands import EVENT_WORDS
from ..calibration.calibrator import Calibrator
from ..calibration.fitting.checks import FitError
from ..calibration.fitting.fit import fit
from ..calibration.fitting.folds import MIN_GROUPS
from ..calibration.held_out import FoldsError, folds_path, load_folds
from ..calibration.measures.registry import MEASURES
from ..calibration.registry import Purpose, Registry, choose
from ..calibration.report.cells import Cell, CellTable, Mark, PaperValue, json_of
from ..calibration.report.study_report import Section, StudyContent, write_study_report
from ..calibration.samples import Event
from ..calibration.validation.figures import Figure
from ..calibration.validation.held_out import BY_OWN_MAP, HeldOut, NotHeldOut, held_out
from ..calibration.validation.inputs import Inputs
from ..calibration.validation.words import title_of
from .asked_model import names_in_forms
from .errors import StudyError
from .progress import counted, to_stderr
from .run import Run, differences

if TYPE_CHECKING:
    from .study import Report, Results

# A paper's numbers are data: a TOML file beside the study of the paper, from which cells print them beside ours.
#
#   title, source    of the paper
#   models           whose numbers they are; of a table of one model, that is its `of`
#   T2, Fig4, …      a table or figure. What is in its `cells` has a place, such as T5/GPT-3.5/p_tot/DyPyBench/skill; unit = "percent" makes
#                    shares of them, and scores = [...] names the numbers of a list, of which the last may be missing
#   marks, mark      what is known against numbers, by patterns of their places: kind and note


# Sentences on what was left out that stand on the screen.
_MAX_TOLD = 4


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper. numbers: the file. cells: by place, shares as shares. marks: each with the patterns of the places that it is about."""

    title: str
    source: str
    models: tuple[str, ...]
    numbers: Mapping[str, Any]
    cells: Mapping[str, PaperValue]
    marks: Sequence[tuple[Sequence[str], Mark]]

    def __getitem__(self, table: str) -> Any:
        """A table or figure. Raises KeyError."""
        return self.numbers[table]

    def values(self, places: str) -> tuple[PaperValue, ...]:
        """The cells of all models that have one. places: that of a cell, with * in the place of its model."""
        found = (places.replace("*", model) for model in self.models)
        return tuple(self.cells[place] for place in found if place in self.cells)

    def marks_of(self, where: str) -> tuple[Mark, ...]:
        """What is known against a number by its place."""
        return _marks_of(self.marks, where)


@cache
def paper_of(package: str, name: str) -> Paper:
    """The paper of a package with this name, read once."""
    found = tomllib.loads(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    marks: list[tuple[Sequence[str], Mark]] = [((places,), Mark(*each)) for places, each in found.get("marks", {}).items()]
    marks += [(each["of"], Mark(each["kind"], each["note"])) for each in found.get("mark", ())]
    models, cells = tuple(found.get("models", ())), {}
    for table, content in found.items():
        if isinstance(content, dict) and "cells" in content:
            scale, other = 100 if content.get("unit") == "percent" else 1, content.get("of", "the paper")
            for place, value in _leaves(table, content["cells"], content.get("scores", ())):
                cells[place] = PaperValue(value / scale, _model_in(place, models) or other, place, _marks_of(marks, place))
    return Paper(found["title"], found["source"], models, found, cells, marks)


def _model_in(place: str, models: Sequence[str]) -> str:
    return next((part for part in place.split("/") if part in models), "")


def _marks_of(marks: Sequence[tuple[Sequence[str], Mark]], where: str) -> tuple[Mark, ...]:
    return tuple(mark for patterns, mark in marks if any(fnmatchcase(where, pattern) for pattern in patterns))


def _leaves(place: str, tree: Any, scores: Sequence[str]) -> Iterator[tuple[str, float]]:
    """(place, number) below a place. A list has a number for each score."""
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _leaves(f"{place}/{name}", below, scores)
    elif isinstance(tree, list):
        yield from ((f"{place}/{score}", float(value)) for score, value in zip(scores, tree, strict=False))
    else:
        yield place, float(tree)


def write_page(folder: Path, content: StudyContent, *, samples: Sequence[Path] = (), as_json: bool) -> None:
    """Write report/ into a folder, its summary on stderr; on stdout the files, those of samples first, or one JSON document."""
    files = _written(folder, content)
    document = {"run": str(folder), "samples": list(map(str, samples)), "report": list(map(str, files))}
    _tell(document, (*samples, *files), as_json=as_json)


def page_of(content: Callable[[Run], StudyContent]) -> Report:
    """A report that is a page made of the run alone."""

    def report(run: Run, results: Results, *, as_json: bool) -> None:
        write_page(run.folder, content(run), samples=results.paths, as_json=as_json)

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
    for sentence in content.left_out[:_MAX_TOLD]:
        to_stderr(f"note: {sentence}")
    if (more := len(content.left_out) - _MAX_TOLD) > 0:
        to_stderr(f"note: {more} more, at the end of the report")
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


# The function `figures` of a module of calibration/validation.
Figures = Callable[[Calibrator, Inputs, HeldOut], tuple[Figure, ...]]
_FREE = tuple(name for name, measure in MEASURES.items() if not measure.cost and measure.kind in ("intrinsic", "reflective", "baseline"))


def figures_of_task(
    registry: Registry, question: Mapping[str, Any], task: str, event: Event, inputs: Inputs, figures: Figures
) -> Iterator[Figure]:
    """The figures of the calibrator that is for a task of a run, an event and its model; none where there is no such calibrator.

    One without folds is left out: it may have been fitted to these very projects. Raises StudyError for a value that a measure can't have.
    """
    entry = choose(registry, Purpose(question["model"], question["prompt"], event, task, "python"))
    if entry is None or not any(sample.labels.get(event) is not None for sample in inputs.plain):
        return
    kept = folds_path(entry.calibrator, entry.path)
    try:
        source = held_out(entry.calibrator, inputs.plain, load_folds(kept) if kept.is_file() else None)
        if source.how == BY_OWN_MAP:
            to_stderr(
                f"{entry.path} is not validated: it has no folds, so nobody can tell which of these projects it was fitted to "
                "(assay calibrate fit --keep-folds)"
            )
            return
        for figure in figures(entry.calibrator, inputs, source):
            yield titled(figure, task, event)
    except (NotHeldOut, FoldsError) as error:
        to_stderr(f"the calibrator {entry.path} is not validated: {error}")
    except ValueError as error:
        raise StudyError(f"samples of the task {task}: {error}") from None


def figures_of_fitted(event: Event, inputs: Inputs, figures: Figures) -> Iterator[Figure]:
    """The figures of a calibrator of the measures that cost no call, fitted to a run's samples, each judged by a map that has not seen it.

    Of fewer than five projects it would say nothing, and there are none.
    """
    if len({sample.project for sample in inputs.plain if sample.labels.get(event) is not None}) < MIN_GROUPS:
        return
    free = tuple(name for name in _FREE if all(name in each.measures for each in inputs.plain))
    try:
        calibrator = fit(inputs.plain, event, free, resamples=2).calibrator
        yield from figures(calibrator, inputs, held_out(calibrator, inputs.plain))
    except (FitError, NotHeldOut) as error:
        to_stderr(f"no figures for {EVENT_WORDS[event]}: {error}")


def titled(figure: Figure, task: str, event: Event) -> Figure:
    """A figure whose id says what it is, for a page."""
    return replace(figure, id=f"{task}, {EVENT_WORDS[event]}: {figure.id}, {title_of(figure)}")
