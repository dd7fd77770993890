"""The calibrators that come of a run on own code, when there are samples enough for them, and the files that they are kept in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...calibration.calibrator import Calibrator, save
from ...calibration.data_folder import data_folder
from ...calibration.fitting.fit import DEFAULT_FEATURES, FitError, fit
from ...calibration.fitting.shrinkage import Level
from ...calibration.held_out import remove_folds
from ...calibration.measures.registry import MEASURES
from ...calibration.metrics.intervals import Interval
from ...calibration.registry import Entry, Purpose, Registry
from ...calibration.samples import Sample
from ...calibration.standing import standing_of
from ...calibration.validation import table
from ..calibration.draw import EVENT

# Asking ends where the held-out skill of every task is known to within this, either way. The shipped calibrators know theirs to within
# 0.04, from 3,500 lines; a tenth of that many tells whether there is skill and roughly how much, and costs minutes instead of an hour.
ENOUGH_WITHIN = 0.1
# An interval of fewer may be narrow by chance.
MIN_TO_END = 120


@dataclass(frozen=True, slots=True)
class Made:
    """What was fitted for a task. calibrator: None where there is none; why: the reason, or what is said of it. file: where it is kept."""

    task: str
    calibrator: Calibrator | None
    why: str
    file: Path | None = None

    @property
    def has_number(self) -> bool:
        """Whether suggestions of the task get a number from it."""
        return self.file is not None and self.calibrator is not None and self.calibrator.status == "informative"


def is_enough(samples: Mapping[str, Sequence[Sample]], tasks: Sequence[str]) -> bool:
    """Whether the skill of each task is known well enough to stop asking."""
    return all(_is_known(samples.get(task, ())) for task in tasks)


def _is_known(samples: Sequence[Sample]) -> bool:
    if len(samples) < MIN_TO_END:
        return False
    try:
        skill = fit(samples, EVENT, DEFAULT_FEATURES, kind="platt").calibrator.evidence.skill
    except FitError:
        return False
    return skill is not None and half_width(skill) <= ENOUGH_WITHIN


def half_width(interval: Interval) -> float:
    """Of what lies within an interval nothing is further from its middle."""
    return (interval.high - interval.low) / 2


def fitted(samples: Mapping[str, Sequence[Sample]], tasks: Sequence[str]) -> list[Made]:
    """A calibrator of each task for code of any project: held out by project, and by language where there are several."""
    return [_fitted(task, samples.get(task, ())) for task in tasks]


def _fitted(task: str, samples: Sequence[Sample]) -> Made:
    labelled = [sample for sample in samples if sample.labels.get(EVENT) is not None]
    free = [name for name, measure in MEASURES.items() if measure.cost == 0 and all(name in sample.measures for sample in labelled)]
    levels: tuple[Level, ...] = ("language",) if len({sample.language for sample in labelled}) > 1 else ()
    try:
        calibrator = fit(labelled, EVENT, free or DEFAULT_FEATURES, levels=levels, allow_insufficient=True).calibrator
    except FitError as error:
        return Made(task, None, str(error) if labelled else "no suggestion to learn from")
    few = calibrator.status == "insufficient"
    return Made(task, calibrator, f"too few to tell: {_skill_of(calibrator)}" if few else calibrator.reason)


def _skill_of(calibrator: Calibrator) -> str:
    reasons = {guard.name: guard.reason for guard in calibrator.guards if not guard.passed}
    return next((reasons[name] for name in ("one_class", "too_few", "skill") if name in reasons), calibrator.reason)


def written(made: Sequence[Made], registry: Registry) -> list[Made]:
    """Write the calibrators into the user's folder, where a running server finds them. Raises OSError.

    One that can't tell whether there is skill is not written. Nor is one beside a calibrator, shipped or of the user, whose skill is known
    better.
    """
    return [_written(one, registry) for one in made]


def _written(made: Made, registry: Registry) -> Made:
    calibrator = made.calibrator
    if calibrator is None or calibrator.status == "insufficient":
        return made
    if better := _better(calibrator, registry):
        return Made(made.task, calibrator, f"{better}. What was found here: {made.why}")
    path = file_of(calibrator)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_folds(path)
    table.remove(path)
    save(calibrator, path)
    return Made(made.task, calibrator, made.why, path)


def _better(calibrator: Calibrator, registry: Registry) -> str:
    """Why another calibrator for the same stays in use, or ""."""
    skill = calibrator.evidence.skill
    for entry in _others(calibrator, registry):
        known = entry.calibrator.evidence.skill
        if known and (skill is None or half_width(known) <= half_width(skill)):
            whose = "the shipped calibrator" if entry.origin == "shipped" else f"your calibrator {entry.path.name}"
            return f"{whose} stays in use: it was fitted to {entry.calibrator.fitted_on.n:,} suggestions"
    return ""


def _others(calibrator: Calibrator, registry: Registry) -> list[Entry]:
    made = calibrator.fitted_on
    found = [
        entry
        for language in made.languages
        for entry in registry.usable(Purpose(made.model, made.prompt, calibrator.event, calibrator.task, language))
    ]
    return [
        entry
        for entry in found
        if entry.origin in ("shipped", "user") and entry.calibrator.fitted_on.alternatives == 1 and standing_of(entry).has_numbers
    ]


def file_of(calibrator: Calibrator) -> Path:
    """Where a calibrator for code of any project is kept: one file for each event, task, model and prompt."""
    made = calibrator.fitted_on
    return data_folder() / "calibrators" / f"{calibrator.event}-{calibrator.task}-{made.model[:8]}-{made.prompt[:4]}.json"
