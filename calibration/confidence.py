"""Confidence: a calibrator's answer for one generation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .bands import BAND_OF_WORD, BOUNDARIES, NO_EVIDENCE, Band, Boundaries, band_of, band_text
from .calibrator import Calibrator, log_odds_range
from .fitting.shrinkage import Level
from .guards import Status
from .measures.registry import enter_one


@dataclass(frozen=True, slots=True)
class Confidence:
    """P(event) for one generation, or the reason why there is none; its fields are the suggestion format's (docs/formats.md).

    status: the calibrator's; "outside" where a measure is missing or beyond the range that the calibrator was fitted on; "uncalibrated"
    where there is no calibrator. probability, low and high are None unless status is "informative". low and high: 95 % range of the
    probability in a project that the calibrator has not seen. band: the band's word. calibrator: its id. reason: why there is no number,
    for people; empty where there is one.
    """

    status: Status | Literal["outside", "uncalibrated"]
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
        """What people read: "◆ likely 70-85 % exact match"."""
        return band_text(self.event, self.look, self.low, self.high)


def confidence(
    calibrator: Calibrator,
    measures: Mapping[str, float],
    groups: Mapping[Level, str] | None = None,
    boundaries: Boundaries = BOUNDARIES,
) -> Confidence:
    """What the calibrator says of a generation with these raw measures; groups: its language, project and user, as far as they are known.

    The probability and its range (`log_odds_range`) are held within `Calibrator.bound` of 0 and 1: no amount of data makes a map certain.
    """
    if calibrator.status != "informative":
        return _without_number(calibrator.status, calibrator.event, calibrator.id, calibrator.reason)
    entered = []
    for name, (low, high) in zip(calibrator.features, calibrator.ranges, strict=True):
        value = measures.get(name, math.nan)
        if not low <= value <= high:
            reason = (
                f"{name} is {value:.6g}, the calibrator has seen {low:.6g} to {high:.6g}" if name in measures else f"{name} is not known"
            )
            return _without_number("outside", calibrator.event, calibrator.id, reason)
        entered.append(enter_one(name, value))
    bound = calibrator.bound
    probability, low, high = (min(max(_sigmoid(z), bound), 1 - bound) for z in log_odds_range(calibrator, tuple(entered), groups))
    return Confidence("informative", calibrator.event, probability, low, high, band_of(probability, boundaries).word, calibrator.id, "")


def uncalibrated(event: str, reason: str = "there is no calibrator for this model, prompt, event, task and language") -> Confidence:
    """The confidence where no calibrator fits the model, the prompt, the event, the task and the language, or none can."""
    return _without_number("uncalibrated", event, None, reason)


def _without_number(status: Status | Literal["outside", "uncalibrated"], event: str, calibrator: str | None, reason: str) -> Confidence:
    return Confidence(status, event, None, None, None, NO_EVIDENCE.word, calibrator, reason)


def _sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))
