"""What a run says of the calibrators that an editor would use for its suggestions: the figures of `assay calibrate validate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...calibration.bands import EVENT_WORDS
from ...calibration.held_out import FoldsError, folds_path, load_folds
from ...calibration.registry import Purpose, choose, load_registry
from ...calibration.samples import Event, Sample
from ...calibration.validation.calibration_study import ARMS, figures
from ...calibration.validation.figures import Figure
from ...calibration.validation.held_out import BY_OWN_MAP, NotHeldOut, held_out
from ...calibration.validation.words import title_of
from ..errors import StudyError
from ..paper_tables.columns import Setting, first_choices
from ..progress import to_stderr

EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")


def figures_of(question: Mapping[str, Any], samples: Mapping[Setting, Sequence[Sample]]) -> Iterator[Figure]:
    """The figures of each calibrator of this machine that is for a task of the run, its events and its model, on the first choices alone.

    A calibrator of first choices says nothing of further alternatives. One without folds is left out: it may have been fitted to these very
    projects. Raises StudyError for a value that a measure can't have.
    """
    registry, samples = load_registry(), first_choices(samples)
    for task in dict.fromkeys(setting.task for setting in samples):
        plain = samples.get(Setting(task), ())
        arms = {arm: samples.get(Setting(task, arm), ()) for arm in ARMS}
        for event in EVENTS:
            entry = choose(registry, Purpose(question["model"], question["prompt"], event, task, "python"))
            if entry is None or not any(sample.labels.get(event) is not None for sample in plain):
                continue
            kept = folds_path(entry.calibrator, entry.path)
            try:
                source = held_out(entry.calibrator, plain, load_folds(kept) if kept.is_file() else None)
                if source.how == BY_OWN_MAP:
                    to_stderr(
                        f"{entry.path} is not validated: it has no folds, so nobody can tell which of these projects it was fitted to "
                        "(assay calibrate fit --keep-folds)"
                    )
                    continue
                for figure in figures(entry.calibrator, plain, arms, source):
                    yield replace(figure, id=f"{task}, {EVENT_WORDS[event]}: {figure.id}, {title_of(figure)}")
            except (NotHeldOut, FoldsError) as error:
                to_stderr(f"the calibrator {entry.path} is not validated: {error}")
            except ValueError as error:
                raise StudyError(f"samples of the task {task}: {error}") from None
