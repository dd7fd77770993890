"""How the next token is chosen from a model's distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sampling:
    """At temperature 0 the most likely token, else one drawn from the likeliest `top_p` of the distribution at that temperature.

    seed: of the first of several draws; number i has seed + i. Raises ValueError for a temperature below 0 or a top_p outside of (0, 1].
    """

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf or not 0 < self.top_p <= 1:
            raise ValueError(f"temperature {self.temperature}, top_p {self.top_p}: at least 0, in (0, 1]")

    @property
    def decoding(self) -> str:
        """What decides which texts come, for a fingerprint: not the seed, and of greedy decoding nothing else."""
        return f"T={float(self.temperature)} top_p={float(self.top_p)}" if self.temperature else "greedy"


GREEDY = Sampling()
