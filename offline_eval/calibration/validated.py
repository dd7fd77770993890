"""What a run says of the calibrators that an editor would use for its suggestions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...calibration.registry import load_registry
from ...calibration.samples import Event, Sample
from ...calibration.validation.calibration_study import ARMS, figures
from ...calibration.validation.figures import Figure
from ...calibration.validation.inputs import Inputs
from ..paper_tables.columns import Setting, first_choices
from ..validated import figures_of_task

EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")


def figures_of(question: Mapping[str, Any], samples: Mapping[Setting, Sequence[Sample]]) -> Iterator[Figure]:
    """The figures of each calibrator of this machine for a task of the run, its events and its model, on the first choices in Python
    alone, which such a calibrator is looked up for.

    A calibrator of first choices says nothing of further alternatives. Raises StudyError for a value that a measure can't have.
    """
    registry, samples = load_registry(), first_choices(samples)
    samples = {setting: [sample for sample in found if sample.language == "python"] for setting, found in samples.items()}
    for task in dict.fromkeys(setting.task for setting in samples):
        inputs = Inputs(samples.get(Setting(task), ()), {arm: samples.get(Setting(task, arm), ()) for arm in ARMS})
        for event in EVENTS:
            yield from figures_of_task(registry, question, task, event, inputs, figures)
