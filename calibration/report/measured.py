"""The numbers of a report: how good the held-out probabilities of a fit are, and how good its measure was before calibration."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..calibrator import Calibrator
from ..evidence import Evidence, evidence_of
from ..fitting.fit import Fit, GroupRow
from ..fitting.folds import numbered
from ..measures.registry import raw_probability
from ..metrics.bins import Bin, ece, ece_noise_floor, equal_mass, equal_width, reliability
from ..metrics.corp import Band, Decomposition, Recalibrated, consistency_band, decompose, miscalibration_noise_floor, recalibrated
from ..metrics.intervals import PairedIntervals, paired
from ..metrics.null_tests import NullTest, kuiper_by_group, spiegelhalter_by_group
from ..metrics.scores import inside, skill
from ..metrics.selective import Curve, augrc, excess_aurc, risk_coverage, roc, thinned

HISTOGRAM_BINS = 40
QUANTILES = 5

# A plot is about 350 pixels wide.
_COLUMNS = 350
# The wild bootstrap of Kuiper's test costs by the number of groups, and its size is known for up to so many.
_BLOCKS = 100

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class WithFloor:
    """An error that is never 0 for a finite sample, and what a perfect forecaster with the same probabilities is expected to get."""

    value: float
    noise_floor: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What one set of probabilities is worth for the samples of a fit; name: whose they are, for people.

    infinite_log_loss: 0 was said of something that happened; the evidence's log loss then means nothing. skill_within_projects: against
    the base rate of each sample's own project. kuiper and spiegelhalter take only groups as independent. What is not defined (where all
    labels, or probabilities, are equal) is None.

    Drawn: equal_width, 10 bins; quantiles, 5 bins of equal mass (Spiess et al. 2024); corp and its consistency band; roc and
    risk_coverage, thinned to what a picture shows; histogram, the number of samples in each of 40 bins of equal width.
    """

    name: str
    evidence: Evidence
    infinite_log_loss: bool
    skill_within_projects: float | None
    ece_equal_mass: WithFloor
    decomposition: Decomposition
    miscalibration: WithFloor
    aurc: float
    excess_aurc: float
    augrc: float
    kuiper: NullTest | None
    spiegelhalter: NullTest | None
    equal_width: tuple[Bin, ...]
    quantiles: tuple[Bin, ...]
    corp: Recalibrated
    band: Band
    roc: Curve | None
    risk_coverage: Curve
    histogram: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """All that is reported of a fit: its held-out probabilities (after), the raw ones of its first measure (before), and the rest.

    before and difference (after minus before) are None where the measure is no probability by itself.
    """

    calibrator: Calibrator
    after: Forecast
    before: Forecast | None
    difference: PairedIntervals | None
    by_project: tuple[GroupRow, ...]
    by_language: tuple[GroupRow, ...]
    unknown: int
    notes: tuple[str, ...]


def measured(fitted: Fit) -> Measured:
    """The numbers of a fit: a pure function of it, whatever is random in them has a fixed seed."""
    calibrator, y, groups = fitted.calibrator, fitted.labels, fitted.groups
    projects = groups if calibrator.fitted_on.grouped_by == "project" else numbered([sample.project for sample in fitted.samples])
    first = calibrator.features[0]
    raw = raw_probability(first, np.fromiter((sample.measures[first] for sample in fitted.samples), np.float64, len(y)))
    # numpy sorts and draws without Python's lock, so that a million samples keep two processors busy
    with ThreadPoolExecutor(2) as pool:
        before = pool.submit(_forecast, "before", raw, y, groups, projects) if raw is not None else None
        after = pool.submit(_forecast, "after", fitted.held_out, y, groups, projects, calibrator.evidence)
        difference = pool.submit(paired, inside(raw), fitted.held_out, y, groups) if raw is not None else None
    return Measured(
        calibrator,
        after.result(),
        before.result() if before else None,
        difference.result() if difference else None,
        fitted.by_project,
        fitted.by_language,
        fitted.unknown,
        fitted.notes,
    )


def _forecast(
    name: str, p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], projects: NDArray[np.intp], known: Evidence | None = None
) -> Forecast:
    """known: the evidence, where it was computed before."""
    curve = risk_coverage(p, y)
    parts = decompose(p, y)
    dealt = _dealt(groups)
    return Forecast(
        name=name,
        evidence=known or evidence_of(inside(p), y, groups),
        infinite_log_loss=bool((np.where(y, p, 1 - p) == 0).any()),
        skill_within_projects=_if_defined(lambda: skill(p, y, projects)),
        ece_equal_mass=WithFloor(ece(p, y, by=equal_mass), ece_noise_floor(p, by=equal_mass)),
        decomposition=parts,
        miscalibration=WithFloor(parts.miscalibration, miscalibration_noise_floor(p)),
        aurc=float(curve.y.mean()),
        excess_aurc=excess_aurc(p, y),
        augrc=augrc(p, y),
        kuiper=_if_defined(lambda: kuiper_by_group(p, y, dealt)),
        spiegelhalter=_if_defined(lambda: spiegelhalter_by_group(p, y, groups)),
        equal_width=tuple(reliability(p, y, by=equal_width)),
        quantiles=tuple(reliability(p, y, bins=QUANTILES)),
        corp=recalibrated(p, y),
        band=consistency_band(p),
        roc=_if_defined(lambda: thinned(roc(p, y), _COLUMNS)),
        risk_coverage=thinned(curve, _COLUMNS),
        histogram=tuple(np.bincount(equal_width(p, HISTOGRAM_BINS), minlength=HISTOGRAM_BINS).tolist()),
    )


def _dealt(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """More than 100 groups are dealt at random into as many blocks: blocks of independent groups are independent, too."""
    count = int(groups.max()) + 1
    return groups if count <= _BLOCKS else (np.random.default_rng(0).permutation(count) % _BLOCKS)[groups]


def _if_defined(metric: Callable[[], _T]) -> _T | None:
    # The samples come from a fit, which has checked them: the one reason that is left is that the metric is not defined for them.
    try:
        return metric()
    except ValueError:
        return None
