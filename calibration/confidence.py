"""Confidence: the calibrated probability of one generation, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .arrays import Floats
from .bands import BAND_OF_WORD, BOUNDARIES, NO_EVIDENCE, Band, Boundaries, band_of, band_text, short_text
from .calibrator import Calibrator, log_odds_range
from .fitting.shrinkage import Level
from .guards import GIVING, Status
from .measures.registry import MEASURES, enter_one
from .samples import Sample

NumberStatus = Status | Literal["missing", "outside", "refuted", "uncalibrated"]


@dataclass(frozen=True, slots=True)
class Confidence:
    """P(event) for one generation, or the reason why there is none.

    status: the calibrator's, or `borrowed` from one of other models; `missing` if a measure is not known, `outside` if one that speaks
        neither for nor against the event is beyond `ranges`, `refuted` if a study contradicts its numbers (validation.md), `uncalibrated`
        if there is none.
    probability, low, high: None unless `informative` or `borrowed`; with the 95 % range in a project that was not seen, and by a model that
        was not seen, where the number is borrowed.
    band: `likely` (from 0.7), `possible` (from 0.4), `unlikely` or `no evidence`.
    calibrator: its id. reason: why there is no number, or where a borrowed one is from, for people.
    """

    status: NumberStatus
    event: str
    probability: float | None
    low: float | None
    high: float | None
    band: str
    calibrator: str | None
    reason: str

    @property
    def look(self) -> Band:
        """The band itself: word, shape and colour."""
        return BAND_OF_WORD[self.band]

    @property
    def text(self) -> str:
        """The text for people: "◆ likely 70-85 % exact match"."""
        return band_text(self.event, self.look, self.low, self.high)

    @property
    def short(self) -> str:
        """The text where there is little room: "◆ 70-85 %"."""
        return short_text(self.look, self.low, self.high)


def confidence(
    calibrator: Calibrator,
    measures: Mapping[str, float],
    groups: Mapping[Level, str] | None = None,
    boundaries: Boundaries = BOUNDARIES,
    *,
    kin: bool = False,
) -> Confidence:
    """The confidence of a generation with these raw measures.

    groups: its language, project and user, as far as they are known. boundaries: of the bands. kin: the calibrator is of another
    quantisation of the model.

    The probability and its range are kept at least `Calibrator.bound` away from 0 and 1, because no amount of data makes a map certain.
    A measure that speaks more for the event than any that the calibrator has seen counts as the largest of these. Where one speaks more
    against it than any, the probability is the lowest there is, whatever the others say: a map of several measures need not fall there.
    """
    status, reason = calibrator.status_in(groups.get("language") if groups else None)
    if status not in GIVING:
        return _without_number(status, calibrator.event, calibrator.id, reason)
    entered, is_worse = [], False
    for name, (low, high) in zip(calibrator.features, calibrator.ranges, strict=True):
        value, direction = measures.get(name, math.nan), MEASURES[name].direction
        if not low <= value <= high:
            if math.isnan(value) or direction == 0:
                unusable: NumberStatus = "missing" if math.isnan(value) else "outside"
                return _without_number(unusable, calibrator.event, calibrator.id, _why_outside(name, measures, low, high))
            is_worse |= (value < low) == (direction > 0)
            value = min(max(value, low), high)
        entered.append(enter_one(name, value))
    bound = calibrator.bound
    probability, low, high = (min(max(_sigmoid(z), bound), 1 - bound) for z in log_odds_range(calibrator, tuple(entered), groups, kin=kin))
    if is_worse:
        probability = low = bound
    band = band_of(probability, boundaries).word
    lender = whose(calibrator, kin=kin)
    return Confidence("borrowed" if lender else "informative", calibrator.event, probability, low, high, band, calibrator.id, lender)


def predict_proba(calibrator: Calibrator, samples: Sequence[Sample]) -> Floats:
    """(n, 2): the probability that the event does not happen, and that it does, of each sample; NaN where there is no number.

    They are what an editor shows for samples of the calibrator's model, prompt and task, which are not compared here.
    """
    found = (
        confidence(calibrator, each.measures, {"language": each.language, "project": each.project, "user": each.user}) for each in samples
    )
    happens = np.array([np.nan if each.probability is None else each.probability for each in found], dtype=np.float64)
    return np.column_stack([1 - happens, happens])


def whose(calibrator: Calibrator, *, kin: bool = False) -> str:
    """Where a borrowed number is from and what would narrow its range, for people. Empty for a number that is not borrowed.

    kin: as in `confidence`.
    """
    made, parent = calibrator.fitted_on, calibrator.moved_from
    if kin:
        return f"from another quantisation of this model, {made.model_name}; assay calibrate model gives it its own"
    if calibrator.models is not None:
        return f"from {calibrator.models.n} models; some tens of your lines would narrow it (assay calibrate model)"
    if calibrator.status == "borrowed" and parent is not None:
        return f"from {parent.models} models and {made.n} lines that this one was asked for; more would narrow it"
    return ""


def uncalibrated(event: str, reason: str = "there is no calibrator for this model, prompt, event, task and language") -> Confidence:
    """The confidence where no calibrator matches the model, the prompt, the event, the task and the language."""
    return _without_number("uncalibrated", event, None, reason)


def refuted(calibrator: Calibrator, reason: str) -> Confidence:
    """The confidence where studies contradict the calibrator's numbers."""
    return _without_number("refuted", calibrator.event, calibrator.id, reason)


def _why_outside(name: str, measures: Mapping[str, float], low: float, high: float) -> str:
    if name not in measures:
        return f"{name} is not known"
    return f"{name} is {measures[name]:.6g}, the calibrator has seen {low:.6g} to {high:.6g}"


def _without_number(status: NumberStatus, event: str, calibrator: str | None, reason: str) -> Confidence:
    return Confidence(status, event, None, None, None, NO_EVIDENCE.word, calibrator, reason)


def _sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))
