"""Checks that the maps share: what the numbers of a usable map look like.

Each yields (field, reason) for what is wrong. A map in a damaged file is refused instead of used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..field_types import MAX_PARAMETER

Matrix = tuple[tuple[float, ...], ...]


def check_linear(intercept: float, slopes: tuple[float, ...], covariance: Matrix, features: int, place: str) -> Iterator[tuple[str, str]]:
    """The parameters of a linear map of so many features, which stand at `place`."""
    if len(slopes) != features:
        yield f"{place}.slopes", f"{len(slopes)} for {features} features"
    if [len(row) for row in covariance] != [features + 1] * (features + 1):
        yield f"{place}.covariance", f"not {features + 1} by {features + 1}"
        return
    yield from check_size(place, [intercept, *slopes, *(v for row in covariance for v in row)])
    largest = max(1.0, np.abs(covariance).max())
    if np.abs(np.subtract(covariance, np.transpose(covariance))).max() > 1e-9 * largest:
        yield f"{place}.covariance", "not symmetric"
    elif np.linalg.eigvalsh(covariance).min() < -1e-9 * largest:
        yield f"{place}.covariance", "has a negative variance"


def check_size(place: str, values: Sequence[float]) -> Iterator[tuple[str, str]]:
    """No parameter is larger than `MAX_PARAMETER`."""
    if any(abs(v) > MAX_PARAMETER for v in values):
        yield place, f"a parameter is larger than {MAX_PARAMETER:g}"


def check_not_negative(place: str, values: Sequence[float]) -> Iterator[tuple[str, str]]:
    """No value is negative."""
    if any(v < 0 for v in values):
        yield place, "negative"
