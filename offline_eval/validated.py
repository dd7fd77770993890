"""What a run says of a calibrator that an editor on this machine would use: the figures of `assay calibrate validate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..calibration.bands import EVENT_WORDS
from ..calibration.calibrator import Calibrator
from ..calibration.fitting.checks import FitError
from ..calibration.fitting.fit import fit
from ..calibration.fitting.folds import MIN_GROUPS
from ..calibration.held_out import FoldsError, folds_path, load_folds
from ..calibration.measures.registry import MEASURES
from ..calibration.registry import Purpose, Registry, choose
from ..calibration.samples import Event
from ..calibration.validation.figures import Figure
from ..calibration.validation.held_out import BY_OWN_MAP, HeldOut, NotHeldOut, held_out
from ..calibration.validation.inputs import Inputs
from ..calibration.validation.words import title_of
from .errors import StudyError
from .progress import to_stderr

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
