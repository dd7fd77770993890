"""Bands: what a user sees of a confidence. The only place where their words, shapes, colours and boundaries are defined."""

from __future__ import annotations

import math
from dataclasses import dataclass

EVENT_WORDS = {"exact_match": "exact match", "tests_pass": "passes tests", "kept": "kept"}


@dataclass(frozen=True, slots=True)
class Band:
    """A word, a shape and a colour (hex; Okabe & Ito's palette, told apart by colour-blind people; the shape says the same)."""

    word: str
    shape: str
    colour: str


LIKELY = Band("likely", "◆", "#0072B2")
POSSIBLE = Band("possible", "◈", "#E69F00")
UNLIKELY = Band("unlikely", "◇", "#D55E00")
NO_EVIDENCE = Band("no evidence", "○", "#767676")
BANDS = (LIKELY, POSSIBLE, UNLIKELY, NO_EVIDENCE)

LIKELY_FROM = 0.7
POSSIBLE_FROM = 0.4


def band_of(probability: float | None) -> Band:
    """likely from 0.7, possible from 0.4, else unlikely; no evidence where there is no probability."""
    if probability is None:
        return NO_EVIDENCE
    return LIKELY if probability >= LIKELY_FROM else POSSIBLE if probability >= POSSIBLE_FROM else UNLIKELY


def percents(low: float, high: float) -> str:
    """A range in whole percents, rounded outward: "70-85 %". A wide range is shown as wide as it is."""
    # rounded to 1e-9 first: 100 * 0.29 is a little less than 29 in floats
    return f"{math.floor(round(100 * low, 9))}-{math.ceil(round(100 * high, 9))} %"


def band_text(event: str, probability: float | None, low: float | None, high: float | None) -> str:
    """ "◆ likely 70-85 % exact match", or "○ no evidence", never with a number, where there is no probability."""
    band = band_of(probability)
    if low is None or high is None or band is NO_EVIDENCE:
        return f"{NO_EVIDENCE.shape} {NO_EVIDENCE.word}"
    return f"{band.shape} {band.word} {percents(low, high)} {EVENT_WORDS[event]}"
