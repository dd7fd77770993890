"""The figures K1 to K8 of the calibration study: is a calibrator's probability skilful, true, and the same elsewhere?

K1, K2 and K3 are about the probabilities themselves. K4 compares them with the model's own, K5 with another event. K6 looks at each
project, K7 at other inputs, K8 at measures that ask the model again. All are held out (`held_out`), with intervals by group.

Each figure is a pure function of held-out probabilities and labels; `figures` finds the samples for all.

References: Spiess et al. (2024).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..calibrator import Calibrator
from ..fitting.folds import Grouping, grouped
from ..guards import MIN_SPREAD
from ..measures.registry import MEASURES, raw_probability
from ..metrics.groups import mean, skill_gain
from ..metrics.intervals import Interval, intervals, rate_interval, student_t
from ..metrics.null_tests import kuiper_by_group
from ..samples import EVENTS as EVERY_EVENT
from ..samples import Sample
from .figures import Figure, figure, not_applicable, not_run, only_with_skill, with_note, without_claim
from .held_out import HeldOut, NotHeldOut, Source
from .inputs import Inputs

STUDY = "calibration"
# The studies whose runs these figures are of: both record samples of the same kind.
RUNS_OF = (STUDY, "repository")
EVENTS = EVERY_EVENT
# The inputs beside the plain one, which is what the editor shows the model.
ARMS: Mapping[str, str] = {"no_docstring": "without the docstring", "no_suffix": "without the text after the cursor"}
STREAMS: Mapping[str, str] = {}
FACT = None

MAX_ERROR = 0.05
# Below it a p-value is told.
TELLING = 0.01
_CLAIMS = {
    "K1": "> 0",
    "K2": f"<= {MAX_ERROR}",
    "K3": "> 0.5",
    "K4": "not below 0",
    "K5": "",
    "K5.mixed": "",
    "K6": "reaches 0.95",
    "K7": f"within ±{MAX_ERROR}",
    "K8": "> 0",
}
_EVENTS = ("exact_match", "tests_pass")
# A map of many samples beside one of few would say which has more samples.
_AMONG_THEMSELVES = "both maps cross-fitted to these samples"


@dataclass(frozen=True, slots=True)
class Judged:
    """Held-out probabilities p (n,) of samples with labels y (n,), in groups (n,) numbered from 0. by: what a group is."""

    p: Floats
    y: NDArray[np.bool_]
    groups: NDArray[np.intp]
    by: str = "project"

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.groups.max()) + 1 if len(self.groups) else 0

    def figure(self, id: str, interval: Interval | None, note: str = "") -> Figure:
        """A figure of all these samples."""
        return figure(id, interval, len(self.y), self.count, self.by, _CLAIMS[id.partition(".")[0] if id not in _CLAIMS else id], note)


def figures(calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> tuple[Figure, ...]:
    """All figures of a calibrator. Samples without a label for its event, or without a number, are left out.

    They have claims on projects that no fit has seen, and are numbers alone where they are cross-validation.
    """
    found = _figures(calibrator, inputs, source)
    return found if source.validates else tuple(map(without_claim, found))


def _figures(calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> tuple[Figure, ...]:
    by = calibrator.fitted_on.grouped_by
    plain, kept = judged_of(inputs.plain, calibrator.event, calibrator.features, source, by)
    if not len(plain.y):
        why = f"no sample has a label for {calibrator.event} and a number"
        return tuple(not_run(id, _CLAIMS[id], why, by) for id in ("K1", "K2", "K3", "K4", "K5", "K6", "K8"))
    k1, k2, k3 = whole(plain)
    has_skill = k1.reading == "holds"
    first = with_note(source.how, k1, k2, k3, _gain_over_raw(plain, kept))
    k6 = only_with_skill(transfer(plain, calibrator.between_group_sd, calibrator.fitted_on.groups), has_skill)
    k7 = (_of_arm(arm, calibrator, kept, inputs.others.get(arm, ()), source, by) for arm in ARMS)
    return (
        *first,
        *_of_events(kept, calibrator, source, by),
        *with_note(source.how, k6, *k7),
        *with_note(_AMONG_THEMSELVES, _of_reflective(calibrator, kept, source.cross_fitted, by)),
    )


def whole(judged: Judged) -> tuple[Figure, Figure, Figure]:
    """K1, K2 and K3: skill, calibration, and that probabilities do not collapse into one."""
    if judged.count < 2:
        return judged.figure("K1", None), judged.figure("K2", None), judged.figure("K3", None)
    found = intervals(judged.p, judged.y, judged.groups)
    k1 = judged.figure("K1", found.skill)
    p_value = kuiper_by_group(judged.p, judged.y, judged.groups).p_value
    refutes = ", which refutes calibration" if p_value < TELLING else ""
    k2 = judged.figure("K2", found.calibration_error, f"Kuiper's test by {judged.by}: p = {p_value:.2g}{refutes}")
    low, high = np.quantile(judged.p, [0.05, 0.95])
    spread, said = float(high - low), f"90 % of the probabilities are between {low:.3f} and {high:.3f}"
    k3 = judged.figure("K3", found.auc, said)
    if spread < MIN_SPREAD:
        claim = f"> {MIN_SPREAD}"
        k3 = figure("K3", Interval(spread, spread, spread), len(judged.y), judged.count, judged.by, claim, f"{said}: nearly one number")
    return k1, only_with_skill(k2, k1.reading == "holds"), k3


def gain_over_raw(judged: Judged, raw: Floats) -> Figure:
    """K4: the skill of the probabilities minus that of the model's own, raw (n,)."""
    found = skill_gain(raw, judged.y, judged.p, judged.y, judged.groups) if judged.count > 1 else None
    return judged.figure("K4", found, "skill after the map minus that of the raw p_tot")


def of_events(exact: Judged, tests: Judged) -> Figure:
    """K5: the skill for exact_match minus that for tests_pass on the same samples."""
    gain = skill_gain(tests.p, tests.y, exact.p, exact.y, exact.groups) if exact.count > 1 else None
    return exact.figure("K5", gain, "skill for exact_match minus that for tests_pass")


def of_mixed_up_events(exact: Floats, tests: Judged) -> Figure:
    """K5.mixed: how far exact (n,), probabilities of exact_match, are off for tests_pass on the same samples."""
    offset = mean(exact - tests.y, tests.groups) if tests.count > 1 else None
    return tests.figure("K5.mixed", offset, "mean P(exact_match) minus the share that passes its tests")


def transfer(judged: Judged, between_group_sd: float, fitted_groups: int) -> Figure:
    """K6: the share of groups whose offset, mean p - mean y, lies within what chance and the stated spread between groups allow.

    The allowed offset is that of the range on the screen: log odds ± t √(1 / I + τ²), with I = Σ p (1 - p) of the group. So 95 % of
    groups are expected within it. The note has the median of the groups' skill scores, each against the base rate of all samples.
    """
    sizes = np.bincount(judged.groups)
    information = np.bincount(judged.groups, judged.p * (1 - judged.p))
    offset = np.bincount(judged.groups, judged.p - judged.y)
    allowed = student_t(max(1, fitted_groups - 2)) * np.sqrt(information + (between_group_sd * information) ** 2)
    inside = np.abs(offset) <= allowed
    squares = np.bincount(judged.groups, (judged.p - judged.y) ** 2)
    reference = np.bincount(judged.groups, (judged.y.mean() - judged.y) ** 2)
    skills = 1 - squares[reference > 0] / reference[reference > 0]
    median = f"median skill of a {judged.by} {np.median(skills):.2f}; " if len(skills) else ""
    note = f"{median}mean offset {np.mean(np.abs(offset / sizes)):.3f}"
    count = len(sizes)
    return figure("K6", rate_interval(inside, np.arange(count)), count, count, judged.by, _CLAIMS["K6"], note)


def of_input(id: str, plain: Judged, arm: Judged) -> Figure:
    """K7: how far the offset, mean p - mean y, moves where the model is shown something else at the same places.

    plain, arm: the same places in the same order. Holds only where there is skill on the other input.
    """
    if arm.count < 2:
        return arm.figure(id, None)
    moved = mean((arm.p - arm.y) - (plain.p - plain.y), arm.groups)
    skill = intervals(arm.p, arm.y, arm.groups, resamples=2).skill
    note = f"; skill there {skill.value:.2f}" if skill else ""
    found = arm.figure(id, moved, f"offset there {np.mean(arm.p - arm.y):+.3f}, beside {np.mean(plain.p - plain.y):+.3f}{note}")
    return only_with_skill(found, skill is not None and skill.low > 0)


def reflective_adds(free: Judged, all_measures: Floats, names: Sequence[str]) -> Figure:
    """K8: the skill of all_measures (n,), probabilities that also know what the model says when asked again, minus that without."""
    found = skill_gain(free.p, free.y, all_measures, free.y, free.groups) if free.count > 1 else None
    left_out = "; model selection leaves them out" if np.array_equal(free.p, all_measures) else ""
    return free.figure("K8", found, f"skill with {', '.join(names)} minus that without{left_out}")


def judged_of(
    samples: Sequence[Sample], event: str, features: tuple[str, ...], source: Source, by: Grouping
) -> tuple[Judged, list[Sample]]:
    """The samples with a label and a number, and what is said of them."""
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    p = source(known, event, features) if known else np.empty(0)
    kept = [known[row] for row in np.flatnonzero(~np.isnan(p))]
    y = np.array([sample.labels[event] for sample in kept], dtype=np.bool_)
    groups = grouped(kept, by, least=1)[1] if kept else np.empty(0, dtype=np.intp)
    return Judged(p[~np.isnan(p)], y, groups, by), kept


def _gain_over_raw(plain: Judged, kept: Sequence[Sample]) -> Figure:
    totals = np.array([sample.measures.get("total_logprob", math.nan) for sample in kept])
    if np.isnan(totals).any():
        return not_run("K4", _CLAIMS["K4"], f"{int(np.isnan(totals).sum())} of {len(kept)} samples lack total_logprob", plain.by)
    raw = raw_probability("total_logprob", totals)
    assert raw is not None, "its raw probability is exp"
    return gain_over_raw(plain, raw)


def _of_events(kept: Sequence[Sample], calibrator: Calibrator, source: HeldOut, by: Grouping) -> tuple[Figure, ...]:
    both = [sample for sample in kept if all(sample.labels.get(event) is not None for event in _EVENTS)]
    if not both:
        return (not_run("K5", "", "no sample has labels for both exact_match and tests_pass", by),)
    try:
        exact, tests = (judged_of(both, event, calibrator.features, source.cross_fitted, by)[0] for event in _EVENTS)
    except NotHeldOut as error:
        return (not_run("K5", "", str(error), by),)
    gain = with_note(_AMONG_THEMSELVES, of_events(exact, tests))
    if calibrator.event != "exact_match":
        return (*gain, *with_note("the map for exact_match cross-fitted to these samples", of_mixed_up_events(exact.p, tests)))
    return (*gain, *with_note(source.how, of_mixed_up_events(source.own(both), tests)))


def _of_arm(arm: str, calibrator: Calibrator, kept: Sequence[Sample], samples: Sequence[Sample], source: Source, by: Grouping) -> Figure:
    id = f"K7.{arm}"
    if arm == "no_suffix" and calibrator.task == "line_middle":
        return not_applicable(id, "what follows on the line is part of the task", by)
    if not samples:
        return not_run(id, _CLAIMS["K7"], f"there are no samples {ARMS[arm]}", by)
    row = {sample.id: number for number, sample in enumerate(kept)}
    ordered = sorted((sample for sample in samples if sample.id in row), key=lambda sample: row[sample.id])
    other, judged = judged_of(ordered, calibrator.event, calibrator.features, source, by)
    if not judged:
        return not_run(id, _CLAIMS["K7"], f"no sample {ARMS[arm]} has the id of a plain one, a label and a number", by)
    plain, _ = judged_of([kept[row[sample.id]] for sample in judged], calibrator.event, calibrator.features, source, by)
    return of_input(id, plain, other)


def _of_reflective(calibrator: Calibrator, kept: Sequence[Sample], source: Source, by: Grouping) -> Figure:
    """The more skill of its free measures with those reflective ones that every sample has."""
    free = tuple(name for name in calibrator.features if not MEASURES[name].cost)
    names = [name for name, measure in MEASURES.items() if measure.kind == "reflective" and all(name in sample.measures for sample in kept)]
    if not names or not free:
        return not_run("K8", _CLAIMS["K8"], "the samples have no measures for which the model was asked again", by)
    try:
        plain, more = (judged_of(kept, calibrator.event, measures, source, by)[0] for measures in (free, (*free, *names)))
    except NotHeldOut as error:
        return not_run("K8", _CLAIMS["K8"], str(error), by)
    return reflective_adds(plain, more.p, names)
