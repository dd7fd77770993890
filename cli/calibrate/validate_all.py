"""`assay calibrate validate --all`: the validation tables of many calibrators, by the runs in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exit_codes import DONE, UsageError
from ..options import registry_for
from ..terminal import print_json, say
from .validation import SAMPLES, document_of, write_table

if TYPE_CHECKING:
    from ...calibration.calibrator import Calibrator
    from ...calibration.validation.studies import StudyFigures
    from ...calibration.validation.table import Validation


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of a study that validates calibrators. question: of its run.toml."""

    folder: Path
    study: StudyFigures
    question: Mapping[str, Any]

    def samples(self, task: str) -> Path:
        """Its samples of a task."""
        return self.folder / SAMPLES / f"{task}.jsonl"

    def says_something_of(self, calibrator: Calibrator) -> bool:
        """True if it has the calibrator's model, event, task and number of alternatives."""
        made = calibrator.fitted_on
        return (
            self.question["model"] == made.model
            and self.question.get("alternatives", 1) == made.alternatives
            and calibrator.event in self.study.EVENTS
            and self.samples(calibrator.task).is_file()
        )


def validate_all(folder: Path, calibrators: Path | None, *, as_json: bool) -> int:
    """Write the table of each calibrator that a run in the folder is about. Raises as `validate.run`."""
    from ...calibration.validation.words import refuted, summary

    runs = list(_runs_in(folder))
    if not runs:
        raise UsageError(f"{folder} has no runs that say something of a calibrator; `assay eval all --out {folder}` makes them")
    documents = []
    for file, calibrator in _calibrators(calibrators):
        of_it = _by_size([run for run in runs if run.says_something_of(calibrator)], calibrator.task)
        if not of_it:
            if any(run.question["model"] == calibrator.fitted_on.model for run in runs):
                say(f"{file.name}: no run in {folder} says something of it")
            continue
        if (made := _written(calibrator, file, of_it)) is None:
            continue
        at, found = made
        documents.append(document_of(at, found))
        say(f"{file.name}: {summary(found)}, by {', '.join(run.folder.name for run in of_it)}; written: {at}")
        for sentence in refuted(found):
            say(f"  refuted: {sentence}")
    if not documents:
        models = ", ".join(sorted({run.question["model"] for run in runs}))
        raise UsageError(f"no calibrator was validated: the runs in {folder} are of the model {models}")
    if as_json:
        print_json({"tables": documents})
    return DONE


def _by_size(runs: Sequence[_Run], task: str) -> list[_Run]:
    """By their samples, fewest first, so that a larger run replaces the figures of a smaller one."""
    return sorted(runs, key=lambda run: run.samples(task).stat().st_size)


def _runs_in(folder: Path) -> Iterator[_Run]:
    """Raises UsageError if it is not a folder, and RunError for a damaged run."""
    from ...calibration.validation.studies import studies
    from ...offline_eval.run import RUN, Run

    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    known = studies()
    for path in sorted(folder.glob(f"*/{RUN}")):
        question = Run.opened(path.parent).question()
        if question["study"] in known:
            yield _Run(path.parent, known[question["study"]], question)


def _calibrators(folder: Path | None) -> Iterator[tuple[Path, Calibrator]]:
    """The calibrators in a folder, or those of this machine and of the project of the current folder. Raises CalibratorError."""
    from ...calibration.calibrator import load
    from ...calibration.project_folder import project_of

    if folder is not None:
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder")
        yield from ((file, load(file)) for file in sorted(folder.glob("*.json")))
        return
    yield from ((entry.path, entry.calibrator) for entry in registry_for(project_of(Path.cwd())).entries)


def _written(calibrator: Calibrator, file: Path, runs: Sequence[_Run]) -> tuple[Path, Validation] | None:
    """The path and the table; None if no run fits. A run that does not fit is reported, and the others still count."""
    found = None
    for run in runs:
        try:
            found = write_table(calibrator, file, [run.folder])
        except UsageError as error:
            say(f"{file.name}: not by {run.folder.name}: {error}")
    return found
