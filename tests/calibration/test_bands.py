from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.calibration.bands import (
    BANDS,
    LIKELY,
    NO_EVIDENCE,
    POSSIBLE,
    UNLIKELY,
    Band,
    Boundaries,
    band_of,
    band_text,
)

Floats = NDArray[np.float64]

WHITE, NEAR_BLACK, BLACK = "#FFFFFF", "#1E1E1E", "#000000"

# Machado, Oliveira & Fernandes (2009), severity 1.0, on linear RGB
VIEWS = {
    "everybody": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
D65 = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> Floats:
    """sRGB, IEC 61966-2-1."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """WCAG 2.2, contrast ratio."""
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: Floats) -> Floats:
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / D65
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("band", BANDS, ids=lambda band: band.word)
def test_text_in_the_colour_of_a_band_can_be_read(band: Band) -> None:
    assert contrast(band.colour, WHITE) >= 7
    assert contrast(band.colour_dark, NEAR_BLACK) >= 5.9
    assert contrast(band.colour_dark, BLACK) >= 7


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("background", ["colour", "colour_dark"])
def test_no_two_bands_look_alike_to_anybody(view: str, background: str) -> None:
    seen = {band.word: lab(VIEWS[view] @ linear(getattr(band, background))) for band in BANDS}
    # CIE 1976: a difference of 2.3 is just noticed
    apart = {(a, b): np.linalg.norm(seen[a] - seen[b]) for a, b in combinations(seen, 2)}
    assert min(apart.values()) >= 24, apart


def test_words_shapes_and_colours_each_alone_tell_bands_apart() -> None:
    for sign in ("word", "shape", "colour", "colour_dark"):
        assert len({getattr(band, sign) for band in BANDS}) == len(BANDS) == 4


def test_boundaries_move_bands() -> None:
    strict = Boundaries(likely_from=0.95, possible_from=0.6)
    assert [band_of(p, strict) for p in (0.95, 0.94, 0.6, 0.59, None)] == [LIKELY, POSSIBLE, POSSIBLE, UNLIKELY, NO_EVIDENCE]
    assert band_text("kept", band_of(0.8, strict), 0.7, 0.9) == "◈ possible 70-90 % kept"
    assert band_text("kept", band_of(0.8), 0.7, 0.9) == "◆ likely 70-90 % kept"


@pytest.mark.parametrize(
    ("likely", "possible"), [(0.4, 0.7), (0.5, 0.5), (1.01, 0.5), (0.5, 0.0), (0.5, -0.1), (math.nan, 0.4), (0.7, math.nan)]
)
def test_boundaries_that_leave_a_band_empty_are_refused(likely: float, possible: float) -> None:
    with pytest.raises(ValueError, match="bands need 0 < possible_from < likely_from <= 1"):
        Boundaries(likely, possible)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 0.98), st.floats(0.01, 0.98))
def test_a_higher_probability_is_never_in_a_lower_band(a: float, b: float, c: float, d: float) -> None:
    boundaries = Boundaries(max(c, d) + 0.01, min(c, d))
    low, high = (BANDS.index(band_of(p, boundaries)) for p in sorted((a, b)))
    assert high <= low
