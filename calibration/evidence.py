"""Evidence: how good the probabilities of a map are on data that it was not fitted on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Floats
from .field_types import Count, Parameter, Positive, Share
from .fitting.folds import Grouping, numbered
from .metrics.bins import Bin, ece, ece_noise_floor, reliability
from .metrics.intervals import RESAMPLES, Interval, intervals
from .metrics.scores import checked
from .metrics.smooth import smooth_ece, smooth_ece_noise_floor

# What rounding may add to a rate of 1.
_ROUNDED = 1e-9
_CERTAIN = 1e-9


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """The expected calibration error.

    value: in 10 bins of equal width, as it is published, with noise.
    noise_floor: what a perfect forecaster with the same probabilities would get.
    debiased, low, high: the root mean square without that noise, in 10 bins of equal mass, with its 95 % interval. low is 0 where no
        miscalibration is shown.
    """

    value: Share
    noise_floor: Share
    debiased: Parameter
    low: Parameter
    high: Parameter


@dataclass(frozen=True, slots=True)
class SmoothError:
    """The calibration error by a kernel (Błasiok & Nakkiran 2023), and what a perfect forecaster with the same probabilities would get."""

    value: Share
    noise_floor: Share


@dataclass(frozen=True, slots=True)
class Evidence:
    """Metrics on held-out data: 5 folds of whole groups, with the kind of map chosen anew in each.

    groups: held out together, and alone taken as independent: intervals are a jackknife over them.
    log_loss: in nats.
    skill, auc: 1 - Brier / (base rate (1 - base rate)); ties count half. None if all labels are equal, or would be without one group.
    reliability: bins of equal mass.

    The skill score is relative to base_rate (1 - base_rate), with the base rate of these very data, which the held-out map did not see.
    That is the reference of Spiess et al. (2024), and a hard one: always giving the base rate of the *other* projects has a skill below 0.
    """

    n: Positive
    positives: Count
    groups: Positive
    base_rate: Share
    brier: Interval
    skill: Interval | None
    auc: Interval | None
    log_loss: Interval
    ece: CalibrationError
    smooth_ece: SmoothError
    reliability: tuple[Bin, ...]

    def __str__(self) -> str:
        """For people: each metric with its 95 % interval, and what was said beside what happened."""
        error = self.ece
        named = [(name, getattr(self, name)) for name in ("skill", "auc", "brier", "log_loss")]
        named.append(("calibration error", Interval(error.debiased, error.low, error.high)))
        metrics = [
            f"{name:18}{f'{found.value:6.3f}  ({found.low:.3f} to {found.high:.3f})' if found else 'not defined'}" for name, found in named
        ]
        bins = (
            f"said {each.mean:6.1%}  happened {each.rate:6.1%}  ({each.rate_low:.1%} to {each.rate_high:.1%}), n = {each.n}"
            for each in self.reliability
        )
        return "\n".join([
            f"{self.positives:,} of {self.n:,} happened ({self.base_rate:.1%}), {self.groups:,} groups",
            *metrics,
            f"ECE               {error.value:6.3f}  (a perfect forecaster: {error.noise_floor:.3f})",
            *bins,
        ])  # fmt: skip

    def problems(self) -> Iterator[tuple[str, str]]:
        """(field, reason) for numbers that do not go together: a file may hold any."""
        if max(self.positives, self.groups) > self.n:
            yield "n", "less than positives or groups"
        for name in ("brier", "skill", "auc", "log_loss"):
            yield from problems_of_interval(getattr(self, name), name)
        yield from problems_of_interval(Interval(self.ece.debiased, self.ece.low, self.ece.high), "ece")
        for place, each in enumerate(self.reliability):
            if each.low > each.high or each.positives > each.n:
                yield f"reliability[{place}]", "low above high, or positives above n"
            if not all(-_ROUNDED <= value <= 1 + _ROUNDED for value in (each.mean, each.rate, each.rate_low, each.rate_high)):
                yield f"reliability[{place}]", "a rate is not between 0 and 1"


def problems_of_interval(interval: Interval | None, name: str) -> Iterator[tuple[str, str]]:
    """(field, reason) for what an interval can't be."""
    if interval is not None and interval.low > interval.high:
        yield name, "low above high"


def why_undefined(evidence: Evidence, by: Grouping) -> str:
    """Why skill and AUC are undefined, for people. by: what was held out together."""
    if 0 < evidence.positives < evidence.n:
        return f"not defined: without one {by} only one outcome is left"
    return "not defined: there is only one outcome"


def calibration_report(p: ArrayLike, y: ArrayLike, groups: Sequence[object] | None = None) -> Evidence:
    """How well calibrated probabilities are: metrics with intervals, and what was said beside what happened. `print` shows it.

    p (n,), y (n,): probabilities from 0 to 1 that the labels were not used for, and labels. groups (n,): names of what belongs together,
    such as problems or projects, and alone counts as independent; each sample where there are none.

    A forecast of 0 or 1 counts as 1e-9 from it: its log loss, where it is wrong, would be infinite. Raises ValueError for what is no
    probability or label, and for fewer than two groups.
    """
    probabilities, labels = checked(p, y)
    names = range(len(labels)) if groups is None else list(groups)
    if len(names) != len(labels):
        raise ValueError(f"{len(names)} groups for {len(labels)} probabilities")
    return evidence_of(probabilities.clip(_CERTAIN, 1 - _CERTAIN), labels, numbered(names))


def evidence_of(p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], resamples: int = RESAMPLES, seed: int = 0) -> Evidence:
    """The evidence of held-out probabilities p (n,) for labels y (n,) in groups (n,), numbered from 0. Raises what `intervals` raises."""
    found = intervals(p, y, groups, resamples, seed)
    error = found.calibration_error
    return Evidence(
        n=len(p),
        positives=int(y.sum()),
        groups=int(groups.max()) + 1,
        base_rate=float(y.mean()),
        brier=found.brier,
        skill=found.skill,
        auc=found.auc,
        log_loss=found.log_loss,
        ece=CalibrationError(ece(p, y), ece_noise_floor(p), error.value, error.low, error.high),
        # The mean of 25 simulations is known to 3 % at n = 1,000, which is enough for a comparison.
        smooth_ece=SmoothError(smooth_ece(p, y), smooth_ece_noise_floor(p, max(5, resamples // 40), seed)),
        reliability=tuple(reliability(p, y)),
    )
