"""The registry of maps: one entry for each kind.

To add a map, write its file, with a class that is a `Map` and a function that fits it, and add an entry to `MAPS`. Fitting, model
selection, the calibrator's file, reports and guards follow. `cli.options.MAPS` repeats the names, since `--help` loads no numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..measures.registry import MEASURES
from .base_rate import BaseRateMap, fit_base_rate
from .beta import BetaMap, fit_beta
from .histogram import fit_histogram
from .isotonic import fit_isotonic
from .platt import PlattMap, fit_platt
from .steps import StepsMap
from .temperature import TemperatureMap, fit_temperature
from .venn_abers import VennAbersMap, fit_venn_abers


@runtime_checkable
class Map(Protocol):
    """A fitted map: a frozen dataclass of numbers, since its fields are what a calibrator's file holds."""

    @property
    def kind(self) -> str:
        """The name of its entry in `MAPS`."""
        ...

    def log_odds(self, x: Floats) -> Floats:
        """Features (n, k), as they enter the map, to log odds (n,)."""
        ...

    def standard_error(self, x: Floats) -> Floats:
        """Features (n, k) to the standard errors of their log odds (n,)."""
        ...

    def describe(self, features: Sequence[str]) -> str:
        """The map in one line for people. features: the names of the measures that it takes."""
        ...

    def problems(self, features: int) -> Iterator[tuple[str, str]]:
        """(field, reason) for each reason why a map of `features` features can't be used. A damaged file may hold such a map."""
        ...


@dataclass(frozen=True)
class FitInput:
    """What a map is fitted to.

    x (n, k): features as they enter the map. y (n,): labels. names: of the k features; of one that is no measure nothing is known.
    groups (n,), from 0: the samples that are independent only as groups; None where each sample is. ridge: the penalty on all slopes but
    the first.
    """

    x: Floats
    y: NDArray[np.bool_]
    names: Sequence[str]
    groups: NDArray[np.intp] | None = None
    ridge: float = 0.0

    @cached_property
    def rising(self) -> bool:
        """Whether a higher value of the first measure speaks for the event: as the measure says, or else as a line through the samples."""
        direction = MEASURES[self.names[0]].direction if self.names[0] in MEASURES else 0
        return direction > 0 if direction else fit_platt(self.x[:, :1], self.y).slopes[0] >= 0


@dataclass(frozen=True, slots=True)
class MapKind:
    """One kind of map.

    name: in files and for `--map`.
    type: the class of a fitted map.
    fit: fits one.
    shape: "line" where a slope may point the wrong way, which a guard then checks; "monotone" where the map never falls; "free" otherwise.
    several: whether it takes more than one feature.
    needs_log_odds: whether its feature must be the log odds of a probability.
    candidate: whether model selection tries it besides Platt.
    """

    name: str
    type: type
    fit: Callable[[FitInput], Map]
    shape: Literal["line", "monotone", "free"]
    several: bool = False
    needs_log_odds: bool = False
    candidate: bool = False


MAPS: dict[str, MapKind] = {
    kind.name: kind
    for kind in (
        MapKind("base_rate", BaseRateMap, lambda to: fit_base_rate(to.y, to.groups), "free"),
        MapKind("platt", PlattMap, lambda to: fit_platt(to.x, to.y, to.groups, ridge=to.ridge), "line", several=True),
        MapKind("temperature", TemperatureMap, lambda to: fit_temperature(to.x, to.y, to.groups), "line", needs_log_odds=True),
        MapKind("beta", BetaMap, lambda to: fit_beta(to.x, to.y, to.groups), "monotone", needs_log_odds=True, candidate=True),
        MapKind("isotonic", StepsMap, lambda to: fit_isotonic(to.x, to.y, to.groups, rising=to.rising), "monotone", candidate=True),
        MapKind("histogram", StepsMap, lambda to: fit_histogram(to.x, to.y, to.groups), "free"),
        MapKind("venn_abers", VennAbersMap, lambda to: fit_venn_abers(to.x, to.y, to.groups, rising=to.rising), "monotone", candidate=True),
    )
}


def problems_of(found: Map, features: int) -> Iterator[tuple[str, str]]:
    """(field, reason) for each reason why this map of `features` features can't be used."""
    if features != 1 and not MAPS[found.kind].several:
        yield "features", f"a map of kind {found.kind} takes one, not {features}"
    yield from found.problems(features)
