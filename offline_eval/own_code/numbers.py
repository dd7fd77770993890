"""The calibrators that come of a run on own code, when there are samples enough for them, and the files that they are kept in."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ...calibration.calibrator import Calibrator, save
from ...calibration.confidence import confidence
from ...calibration.data_folder import data_folder
from ...calibration.effective_status import effective_status
from ...calibration.fitting.fit import DEFAULT_FEATURES, FitError, fit
from ...calibration.fitting.shrinkage import Level
from ...calibration.guards import GIVING
from ...calibration.held_out import remove_folds
from ...calibration.language_names import names_of_languages
from ...calibration.measures.registry import MEASURES
from ...calibration.metrics.intervals import Interval
from ...calibration.registry import Purpose, Registry
from ...calibration.samples import Sample
from ...calibration.validation import table
from ..asked_line import EVENT

# Asking ends where the map was moved from one for any model and half of all ranges are at most so wide, from at least so many lines.
NARROW, MIN_TO_NARROW = 0.3, 40
# Else it ends where the held-out skill of every task is known to within this, either way. The shipped calibrators know theirs to within
# 0.04, from 3,500 lines; a tenth of that many tells whether there is skill and roughly how much, and costs minutes instead of an hour.
ENOUGH_WITHIN = 0.1
# An interval of fewer may be narrow by chance.
MIN_TO_END = 120
# How many languages are in the name of a file.
_MAX_NAMED = 3


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
        return self.file is not None and self.calibrator is not None and self.calibrator.status in GIVING


def is_enough(samples: Mapping[str, Sequence[Sample]], tasks: Sequence[str], languages: Collection[str], registry: Registry) -> bool:
    """Whether the numbers of each task are known well enough in each of these languages to stop asking."""
    return all(
        _is_known([sample for sample in samples.get(task, ()) if sample.language == language], common_of(registry, task, language))
        for task in tasks
        for language in languages
    )


def common_of(registry: Registry, task: str, language: str) -> Calibrator | None:
    """The calibrator for any model, from which a map for this one is moved; None where there is none."""
    for entry in registry.usable(Purpose("", "", EVENT, task, language)):
        if entry.calibrator.fitted_on.alternatives == 1 and effective_status(entry, language).has_numbers:
            return entry.calibrator
    return None


def well_known(samples: Mapping[str, Sequence[Sample]], tasks: Sequence[str]) -> frozenset[str]:
    """The languages that have samples enough of each task to be judged."""
    counts = [Counter(sample.language for sample in samples.get(task, ())) for task in tasks]
    return frozenset(language for language in counts[0] if all(count[language] >= MIN_TO_END for count in counts))


def _is_known(samples: Sequence[Sample], common: Calibrator | None) -> bool:
    if common is not None:
        moved = _moved(common, samples) if len(samples) >= MIN_TO_NARROW else None
        if moved is not None:
            return moved.status == "informative" and median_width(moved, samples) <= NARROW
    if len(samples) < MIN_TO_END:
        return False
    try:
        skill = fit(samples, EVENT, DEFAULT_FEATURES, kind="platt").calibrator.evidence.skill
    except FitError:
        return False
    return skill is not None and half_width(skill) <= ENOUGH_WITHIN


def median_width(calibrator: Calibrator, samples: Sequence[Sample]) -> float:
    """The median width of the 95 % ranges that a calibrator gives; 1 where it gives none."""
    found = [confidence(calibrator, sample.measures, {"language": sample.language}) for sample in samples]
    return median([each.high - each.low for each in found if each.low is not None and each.high is not None] or [1.0])


def half_width(interval: Interval) -> float:
    """Of what lies within an interval nothing is further from its middle."""
    return (interval.high - interval.low) / 2


def fitted(samples: Mapping[str, Sequence[Sample]], tasks: Sequence[str], registry: Registry) -> list[Made]:
    """A calibrator of each task for code of any project: held out by project, and by language where there are several.

    It leaves out the languages in which another calibrator of the registry stays in use, unless these are all.
    """
    return [made for task in tasks for made in _of_task(task, samples.get(task, ()), registry)]


def _of_task(task: str, samples: Sequence[Sample], registry: Registry) -> Iterator[Made]:
    """One for each map for any model that covers some of the languages, moved to these, and one for all others together."""
    labelled = [sample for sample in samples if sample.labels.get(EVENT) is not None]
    of: dict[str, Calibrator | None] = {name: common_of(registry, task, name) for name in {sample.language for sample in labelled}}
    commons = {common.id: common for common in of.values() if common is not None}
    for name, common in commons.items():
        near = [sample for sample in labelled if (its := of[sample.language]) is not None and its.id == name]
        yield _fitted(task, near, registry, common)
    rest = [sample for sample in labelled if of[sample.language] is None]
    if rest or not commons:
        yield _fitted(task, rest, registry)


def _fitted(task: str, labelled: Sequence[Sample], registry: Registry, common: Calibrator | None = None) -> Made:
    made = _fitted_to(task, labelled, common)
    if made.calibrator is None:
        return made
    better = better_ones(made.calibrator, registry)
    if not better or len(better) == len(made.calibrator.fitted_on.languages):
        return made
    rest = _fitted_to(task, [sample for sample in labelled if sample.language not in better], common)
    kept = "; ".join(f"in {names_of_languages((language,))} {why}" for language, why in better.items())
    return replace(rest, why=f"{rest.why}; {kept}")


def _moved(common: Calibrator, labelled: Sequence[Sample]) -> Calibrator | None:
    """The map for any model, moved to the suggestions of this one that have its measures; None where too few have."""
    having = [sample for sample in labelled if sample.measures.keys() >= set(common.features)]
    with suppress(FitError):
        return fit(having, EVENT, adapt_from=common).calibrator
    return None


def _fitted_to(task: str, labelled: Sequence[Sample], common: Calibrator | None) -> Made:
    if common is not None and (moved := _moved(common, labelled)) is not None:
        return Made(task, moved, moved.reason)
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

    One that can't tell whether there is skill is not written. Nor is one where others, shipped or of the user, are known better in each of
    its languages.
    """
    return [_written(one, registry) for one in made]


def _written(made: Made, registry: Registry) -> Made:
    calibrator = made.calibrator
    if calibrator is None or calibrator.status == "insufficient":
        return made
    better = better_ones(calibrator, registry)
    if len(better) == len(calibrator.fitted_on.languages):
        return Made(made.task, calibrator, "; ".join(dict.fromkeys(better.values())))
    path = file_of(calibrator)
    path.parent.mkdir(parents=True, exist_ok=True)
    replaced = _replaced(calibrator, registry)
    for older in (path, *replaced):
        remove_folds(older)
        table.remove(older)
    save(calibrator, path)
    for older in replaced:
        older.unlink(missing_ok=True)
    return Made(made.task, calibrator, made.why, path)


def _replaced(calibrator: Calibrator, registry: Registry) -> list[Path]:
    """Other files of earlier runs that this calibrator takes the place of: for the same, in some of its languages."""
    of = {entry.path: entry.calibrator for entry in registry.entries}
    return [
        path
        for path, other in of.items()
        if path == file_of(other)
        and _for(other) == _for(calibrator)
        and set(other.fitted_on.languages) < set(calibrator.fitted_on.languages)
        and all(n_in(other, language) <= n_in(calibrator, language) for language in other.fitted_on.languages)
    ]


def n_in(calibrator: Calibrator, language: str) -> int:
    """How many of its samples are in a language."""
    return next((each.n for each in calibrator.by_language if each.name == language), calibrator.fitted_on.n)


def better_ones(calibrator: Calibrator, registry: Registry) -> dict[str, str]:
    """By language, why another calibrator for the same stays in use: its skill there is known to within less."""
    skills = {each.name: each.skill for each in calibrator.by_language}
    found = {
        name: _better(calibrator, name, skills.get(name, calibrator.evidence.skill), registry) for name in calibrator.fitted_on.languages
    }
    return {name: why for name, why in found.items() if why}


def _better(calibrator: Calibrator, language: str, skill: Interval | None, registry: Registry) -> str:
    made = calibrator.fitted_on
    for entry in registry.usable(Purpose(made.model, made.prompt, calibrator.event, calibrator.task, language, kin=made.kin)):
        other = entry.calibrator
        if (
            entry.origin == "project"
            or other.fitted_on.alternatives > 1
            or not (entry.kin or effective_status(entry, language).status == "informative")
        ):
            continue
        if entry.path == file_of(other) and n_in(other, language) <= n_in(calibrator, language):
            continue  # of this run, when it had asked less
        known = next((each.skill for each in other.by_language if each.name == language), other.evidence.skill)
        if known and (skill is None or half_width(known) <= half_width(skill)):
            whose = "the shipped calibrator" if entry.origin == "shipped" else f"your calibrator {entry.path.name}"
            whose += " of another quantisation" if entry.kin else ""
            return f"{whose} stays in use: it was fitted to {other.fitted_on.n:,} suggestions"
    return ""


def file_of(calibrator: Calibrator) -> Path:
    """Where a calibrator for code of any project is kept: one file for each event, task, model, prompt and choice of languages."""
    languages = calibrator.fitted_on.languages
    named = "-".join(languages)
    if len(languages) > _MAX_NAMED:
        named = f"{len(languages)}-languages-{hashlib.sha256(named.encode()).hexdigest()[:4]}"
    return data_folder() / "calibrators" / f"{_for(calibrator)}-{named}.json"


def _for(calibrator: Calibrator) -> str:
    made = calibrator.fitted_on
    return f"{calibrator.event}-{calibrator.task}-{made.model[:8]}-{made.prompt[:4]}"
