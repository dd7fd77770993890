"""Samples in, calibrator out: a map fitted on all of them, and evidence from maps fitted without the group that they are judged on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from .calibrator import Calibrator, FittedOn, Grouping, PlattMap, Status
from .evidence import Evidence, evidence_of
from .maps.platt import Platt, between_group_sd, clustered_covariance, fit_platt
from .measures import MEASURES, Floats, enter
from .metrics.intervals import RESAMPLES
from .samples import EVENTS, Sample, samples_sha256

DEFAULT_FEATURES = ("total_logprob",)
LEAST_SAMPLES = 25
LEAST_OF_A_CLASS = 5
LEAST_GROUPS = 5
LEAST_SPREAD = 0.02
_LEAVE_ONE_OUT_UP_TO = 30
_FOLDS = 10

_GROUP_OF: dict[Grouping, Callable[[Sample], object]] = {
    "project": lambda sample: sample.project,
    "file": lambda sample: (sample.project, sample.file),
    "sample": lambda sample: sample.id,
}


class FitError(ValueError):
    """Samples that no calibrator can be fitted to; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """Held-out results of one project.

    skill: 1 - Brier score / Brier score of always saying the base rate of all the samples; None where all labels everywhere are equal.
    """

    project: str
    n: int
    positives: int
    base_rate: float
    mean_probability: float
    brier: float
    skill: float | None


@dataclass(frozen=True, slots=True)
class Fit:
    """A calibrator with what it was judged by.

    held_out: (n,) probabilities, each from a map fitted without the sample's group; labels: (n,); both in the order of the samples with a
    known label. unknown: how many samples had none. notes: what a reader must know of how groups were made, for people.
    """

    calibrator: Calibrator
    held_out: Floats
    labels: NDArray[np.bool_]
    by_project: tuple[ProjectRow, ...]
    unknown: int
    notes: tuple[str, ...]


def fit(
    samples: Sequence[Sample],
    event: str,
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    groups: Grouping = "project",
    resamples: int = RESAMPLES,
    seed: int = 0,
    date: datetime | None = None,
) -> Fit:
    """Fit a calibrator for an event; its evidence is held out by group, its map fitted on all samples with a known label.

    Up to 30 groups each one is left out in turn, above that in 10 folds of about equal size. With fewer than 5 projects (or fewer than the
    map has parameters, and one) files are the groups, with too few files the samples; a note says so. date: of the fit, now by default.

    Raises FitError where samples of several models, prompts or tasks are mixed, an event or a measure is unknown, a measure is missing, or
    fewer than two samples have a label.
    """
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    _check(samples, known, event, features)
    x = np.column_stack([_entered(name, known) for name in features])
    y = np.array([sample.labels[event] for sample in known], dtype=np.bool_)
    grouped_by, index, notes = _group(known, groups, max(LEAST_GROUPS, len(features) + 2))
    fold = _folds(index, seed)
    held_out = _held_out(x, y, fold)
    platt = fit_platt(x, y)
    p = _bounded(platt.probability(x), len(y))
    evidence = evidence_of(held_out, y, index, resamples, seed)
    status, reason = _status(features, y, platt, p, evidence)
    if unknown := len(samples) - len(known):
        notes = (*notes, f"{unknown} of {len(samples)} samples have no known label for {event} and were left out")
    first = known[0]
    calibrator = Calibrator(
        event=event,
        task=first.task,
        features=tuple(features),
        ranges=tuple((min(s.measures[f] for s in known), max(s.measures[f] for s in known)) for f in features),
        map=_map(platt, x, y, p, index, grouped_by),
        fitted_on=FittedOn(
            model=first.model,
            model_name=first.model_name,
            prompt=first.prompt,
            languages=tuple(sorted({s.language for s in known})),
            n=len(y),
            positives=int(y.sum()),
            grouped_by=grouped_by,
            groups=evidence.groups,
            date=(date or datetime.now(UTC)).isoformat(timespec="seconds"),
            samples_sha256=samples_sha256(known),
        ),
        status=status,
        reason=reason,
        evidence=evidence,
    )
    return Fit(calibrator, held_out, y, _by_project(known, held_out, y), unknown, notes)


def _check(samples: Sequence[Sample], known: Sequence[Sample], event: str, features: Sequence[str]) -> None:
    if event not in EVENTS:
        raise FitError(f"unknown event {event!r}, known are {', '.join(EVENTS)}")
    if unknown := [name for name in features if name not in MEASURES]:
        raise FitError(f"unknown measure {', '.join(unknown)}, known are {', '.join(MEASURES)}")
    if not features or len(set(features)) < len(features):
        raise FitError("name at least one measure, and each only once")
    if len(known) < 2:
        raise FitError(f"{len(known)} of {len(samples)} samples have a label for {event}; at least two are needed")
    for what, values in (
        ("models", {f"{s.model} {s.model_name}".strip() for s in known}),
        ("prompts", {s.prompt for s in known}),
        ("tasks", {s.task for s in known}),
    ):
        if len(values) > 1:
            raise FitError(f"samples of {len(values)} {what} are mixed ({', '.join(sorted(values))}); fit a calibrator for each")
    for name in features:
        if without := [s.id for s in known if name not in s.measures]:
            raise FitError(f"{len(without)} of {len(known)} samples have no measure {name}, the first is {without[0]}")


def _entered(name: str, samples: Sequence[Sample]) -> Floats:
    try:
        return enter(name, [s.measures[name] for s in samples])
    except ValueError as error:
        raise FitError(str(error)) from None


def _group(samples: Sequence[Sample], wanted: Grouping, least: int) -> tuple[Grouping, NDArray[np.intp], tuple[str, ...]]:
    """The coarsest grouping, from the wanted one on, that has enough groups: its name, the group of each sample from 0, notes."""
    kinds: list[Grouping] = ["project", "file", "sample"]
    notes: tuple[str, ...] = ()
    for kind in kinds[kinds.index(wanted) :]:
        numbers: dict[object, int] = {}
        index = np.array([numbers.setdefault(_GROUP_OF[kind](s), len(numbers)) for s in samples], dtype=np.intp)
        if len(numbers) >= least or kind == "sample":
            return kind, index, notes
        finer = kinds[kinds.index(kind) + 1]
        counted = f"{len(numbers)} {kind}{'s' if len(numbers) > 1 else ''}"
        notes = (*notes, f"only {counted}: held out and resampled by {finer}; how well it does in another {kind} is not known")
    raise AssertionError("the last grouping always has enough")


def _folds(index: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """Fold of each sample; a group is never parted. The largest groups go first, each into the fold that is smallest so far."""
    sizes = np.bincount(index)
    if len(sizes) <= _LEAVE_ONE_OUT_UP_TO:
        return index
    shuffled = np.random.default_rng(seed).permutation(len(sizes))
    fold_of, filled = np.zeros(len(sizes), dtype=np.intp), np.zeros(_FOLDS)
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    return fold_of[index]


def _held_out(x: Floats, y: NDArray[np.bool_], fold: NDArray[np.intp]) -> Floats:
    p = np.empty(len(y))
    for f in range(int(fold.max()) + 1):
        out = fold == f
        p[out] = _bounded(fit_platt(x[~out], y[~out]).probability(x[out]), int((~out).sum()))
    return p


def _bounded(p: Floats, n: int) -> Floats:
    return np.clip(p, 1 / (n + 2), 1 - 1 / (n + 2))


def _map(platt: Platt, x: Floats, y: NDArray[np.bool_], p: Floats, index: NDArray[np.intp], grouped_by: Grouping) -> PlattMap:
    enough = int(index.max()) + 1 > x.shape[1] + 1
    covariance = clustered_covariance(platt, x, y, index) if enough else platt.covariance
    return PlattMap(
        kind="platt",
        intercept=platt.intercept,
        slopes=tuple(platt.slopes.tolist()),
        covariance=tuple(map(tuple, covariance.tolist())),
        # between single samples an offset can't be told from chance
        between_group_sd=0.0 if grouped_by == "sample" else between_group_sd(p, y, index),
    )


def _status(features: Sequence[str], y: NDArray[np.bool_], platt: Platt, p: Floats, evidence: Evidence) -> tuple[Status, str]:
    positives, negatives = int(y.sum()), int((~y).sum())
    if len(y) < LEAST_SAMPLES or min(positives, negatives) < LEAST_OF_A_CLASS:
        return "insufficient", (
            f"{len(y)} samples, {positives} positive and {negatives} negative; "
            f"at least {LEAST_SAMPLES} with {LEAST_OF_A_CLASS} of each are needed"
        )
    skill = evidence.skill
    if skill is None or skill.low <= 0:
        shown = f"{skill.value:.3f} with interval {skill.low:.3f} to {skill.high:.3f}" if skill else "not defined"
        return "uninformative", f"no skill is shown on held-out data: the skill score is {shown}"
    if len(features) == 1 and (direction := MEASURES[features[0]].direction) and platt.slopes[0] * direction <= 0:
        return "uninformative", f"the slope of {features[0]} is {platt.slopes[0]:.3g}: it points the wrong way"
    low, high = np.quantile(p, [0.05, 0.95])
    if high - low < LEAST_SPREAD:
        return "uninformative", f"the probabilities collapse: 90 % of them are between {low:.3f} and {high:.3f}"
    return "informative", f"the skill score on held-out data is {skill.value:.3f} with interval {skill.low:.3f} to {skill.high:.3f}"


def _by_project(samples: Sequence[Sample], p: Floats, y: NDArray[np.bool_]) -> tuple[ProjectRow, ...]:
    projects, index = np.unique([s.project for s in samples], return_inverse=True)
    sums = [np.bincount(index, column) for column in (np.ones(len(y)), y, p, (p - y) ** 2, (y.mean() - y) ** 2)]
    return tuple(
        ProjectRow(
            project=str(project),
            n=int(n),
            positives=int(positives),
            base_rate=float(positives / n),
            mean_probability=float(said / n),
            brier=float(brier / n),
            skill=float(1 - brier / reference) if reference > 0 else None,
        )
        for project, n, positives, said, brier, reference in zip(projects, *sums, strict=True)
    )
