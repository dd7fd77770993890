"""What a map in a file must be to be used: a damaged one is refused, never answered with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .base_rate import BaseRateMap
from .beta import BetaMap
from .kinds import Map
from .platt import PlattMap
from .steps import StepsMap
from .temperature import TemperatureMap
from .venn_abers import VennAbersMap

# Far above any fit to real measures, far below what overflows on the way to a probability.
MAX_PARAMETER = 1e12

Matrix = tuple[tuple[float, ...], ...]


def wrong_with(found: Map, features: int) -> Iterator[tuple[str, str]]:
    """(field, reason) for each thing that is wrong with a map of so many features."""
    if not isinstance(found, PlattMap) and features != 1:
        yield "features", f"a map of kind {found.kind} takes one, not {features}"
    match found:
        case BaseRateMap():
            yield from _numbers("map", [found.value, found.error])
            yield from _errors("map.error", [found.error])
        case PlattMap():
            yield from linear(found.intercept, found.slopes, found.covariance, features, "map")
            yield from _errors("map.ridge", [found.ridge])
        case TemperatureMap():
            yield from _numbers("map", [found.slope, found.variance])
            yield from _errors("map.variance", [found.variance])
        case BetaMap():
            yield from linear(found.c, (found.a, found.b), found.covariance, 2, "map")
            if found.a < 0 or found.b < 0:
                yield "map", "a or b is negative: the map would fall"
        case StepsMap():
            yield from _steps(found)
        case VennAbersMap():
            yield from _venn_abers(found)


def linear(intercept: float, slopes: tuple[float, ...], covariance: Matrix, features: int, place: str) -> Iterator[tuple[str, str]]:
    """The same for the parameters of a linear map that stand at `place`."""
    if len(slopes) != features:
        yield f"{place}.slopes", f"{len(slopes)} for {features} features"
    if [len(row) for row in covariance] != [features + 1] * (features + 1):
        yield f"{place}.covariance", f"not {features + 1} by {features + 1}"
        return
    yield from _numbers(place, [intercept, *slopes, *(v for row in covariance for v in row)])
    largest = max(1.0, np.abs(covariance).max())
    if np.abs(np.subtract(covariance, np.transpose(covariance))).max() > 1e-9 * largest:
        yield f"{place}.covariance", "not symmetric"
    elif np.linalg.eigvalsh(covariance).min() < -1e-9 * largest:
        yield f"{place}.covariance", "has a negative variance"


def _steps(found: StepsMap) -> Iterator[tuple[str, str]]:
    if not len(found.edges) + 1 == len(found.values) == len(found.errors):
        yield "map", f"{len(found.values)} values and {len(found.errors)} errors between {len(found.edges)} edges"
    if (np.diff(found.edges) <= 0).any():
        yield "map.edges", "do not rise"
    yield from _numbers("map", [*found.edges, *found.values, *found.errors])
    yield from _errors("map.errors", found.errors)


def _venn_abers(found: VennAbersMap) -> Iterator[tuple[str, str]]:
    if not len(found.scores) + 1 == len(found.p0) == len(found.p1) == len(found.errors):
        yield "map", f"{len(found.p0)} p0, {len(found.p1)} p1 and {len(found.errors)} errors for {len(found.scores)} scores"
        return
    for name, values in (("scores", found.scores), ("p0", found.p0), ("p1", found.p1)):
        if (np.diff(values) < 0).any():
            yield f"map.{name}", "fall"
    if not (0 <= found.p0[0] <= found.p0[-1] < 1 and 0 < found.p1[0] <= found.p1[-1] <= 1):
        yield "map", "a probability is outside [0, 1]"
    elif (np.array(found.p0) > found.p1).any():
        yield "map", "p0 is above p1"
    yield from _numbers("map", [*found.scores, *found.errors])
    yield from _errors("map.errors", found.errors)


def _numbers(place: str, values: list[float]) -> Iterator[tuple[str, str]]:
    if any(abs(v) > MAX_PARAMETER for v in values):
        yield place, f"a parameter is larger than {MAX_PARAMETER:g}"


def _errors(place: str, values: list[float] | tuple[float, ...]) -> Iterator[tuple[str, str]]:
    if any(v < 0 for v in values):
        yield place, "negative"
