"""Bands: what a user sees of a confidence. Their words, shapes, colours and boundaries are defined here only."""

from __future__ import annotations

import math
from dataclasses import dataclass

EVENT_WORDS = {"exact_match": "exact match", "tests_pass": "passes tests", "kept": "kept"}


@dataclass(frozen=True, slots=True)
class Band:
    """A word, a shape and two colours (hex). Each alone tells the bands apart, so colour is never the only sign.

    colour: for light backgrounds, with a contrast of at least 7:1 to white.
    colour_dark: for dark backgrounds, with at least 5.9:1 to #1E1E1E and 7:1 to black.

    So they serve high-contrast themes too: WCAG 2.2 asks for 4.5:1, at level AAA for 7:1. Any two bands are at least 18 apart (CIEDE2000),
    also for protanopia, deuteranopia and tritanopia as Machado et al. (2009) simulate them.
    """

    word: str
    shape: str
    colour: str
    colour_dark: str


LIKELY = Band("likely", "◆", "#0044DD", "#00AAEE")
POSSIBLE = Band("possible", "◈", "#884400", "#FFDD00")
UNLIKELY = Band("unlikely", "◇", "#440033", "#EE7766")
NO_EVIDENCE = Band("no evidence", "○", "#585858", "#B4B4B4")
BANDS = (LIKELY, POSSIBLE, UNLIKELY, NO_EVIDENCE)
BAND_OF_WORD = {band.word: band for band in BANDS}


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The probabilities from which on a suggestion is likely, and possible. Raises ValueError if they would leave a band empty."""

    likely_from: float = 0.7
    possible_from: float = 0.4

    def __post_init__(self) -> None:
        """See the class."""
        if not 0 < self.possible_from < self.likely_from <= 1:
            raise ValueError(
                f"bands need 0 < possible_from < likely_from <= 1, not possible_from {self.possible_from}, likely_from {self.likely_from}"
            )


BOUNDARIES = Boundaries()


def band_of(probability: float | None, boundaries: Boundaries = BOUNDARIES) -> Band:
    """The band of a probability: likely or possible from their boundaries on, else unlikely. No evidence if there is no probability.

    >>> [band_of(p).word for p in (1.0, 0.7, 0.699, 0.4, 0.399, 0.0, None)]
    ['likely', 'likely', 'possible', 'possible', 'unlikely', 'unlikely', 'no evidence']
    """
    if probability is None:
        return NO_EVIDENCE
    return LIKELY if probability >= boundaries.likely_from else POSSIBLE if probability >= boundaries.possible_from else UNLIKELY


def percents(low: float, high: float) -> str:
    """A range in whole percents, rounded outward. A wide range is shown as wide as it is.

    >>> percents(0.7, 0.85), percents(0.701, 0.849), percents(0.29, 0.57), percents(0.001, 0.999), percents(0.5, 0.5)
    ('70-85 %', '70-85 %', '29-57 %', '0-100 %', '50-50 %')
    """
    # rounded to 1e-9 first: 100 * 0.29 is a little less than 29 in floats
    return f"{math.floor(round(100 * low, 9))}-{math.ceil(round(100 * high, 9))} %"


def band_text(event: str, band: Band, low: float | None, high: float | None) -> str:
    """What a suggestion shows; never a number where there is no probability.

    >>> band_text("exact_match", LIKELY, 0.7, 0.85), band_text("tests_pass", POSSIBLE, 0.31, 0.72)
    ('◆ likely 70-85 % exact match', '◈ possible 31-72 % passes tests')
    >>> band_text("kept", UNLIKELY, 0.05, 0.2), band_text("kept", NO_EVIDENCE, None, None)
    ('◇ unlikely 5-20 % kept', '○ no evidence')
    """
    if low is None or high is None or band is NO_EVIDENCE:
        return f"{NO_EVIDENCE.shape} {NO_EVIDENCE.word}"
    return f"{band.shape} {band.word} {percents(low, high)} {EVENT_WORDS[event]}"


def short_text(band: Band, low: float | None, high: float | None) -> str:
    """ "◆ 70-85 %", without the words that the shape stands for. Without a probability it is "○ no evidence"."""
    if low is None or high is None or band is NO_EVIDENCE:
        return f"{NO_EVIDENCE.shape} {NO_EVIDENCE.word}"
    return f"{band.shape} {percents(low, high)}"
