"""The kinds of maps, and how each is fitted. All answer `log_odds(x)` and `standard_error(x)` for features x (n, k) as they enter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .base_rate import BaseRateMap
from .beta import BetaMap
from .platt import PlattMap
from .steps import StepsMap
from .temperature import TemperatureMap
from .venn_abers import VennAbersMap

Map = BaseRateMap | PlattMap | TemperatureMap | BetaMap | StepsMap | VennAbersMap
Kind = Literal["base_rate", "platt", "temperature", "beta", "isotonic", "histogram", "venn_abers"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One map that was tried: its cross-validated log loss in nats, its gain over Platt on the first measure with its standard error.

    features: how many of the measures, from the first on, it takes.
    """

    kind: Kind
    features: int
    ridge: float
    log_loss: float
    gain: float
    gain_error: float
