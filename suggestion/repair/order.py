"""Which repair comes first, as long as no calibrator says so. An order gives each repair's measures a number; higher ones come first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

Order = Callable[[Mapping[str, float]], float]

# A round figure; anything between a half and two orders about as well.
NATS_PER_CHARACTER = 1.0


def by_gain(measures: Mapping[str, float]) -> float:
    """By how much likelier the model finds the new lines than the old; what it can't say of comes last."""
    return measures.get("logprob_gain", -math.inf)


def by_gain_and_size(measures: Mapping[str, float]) -> float:
    """The same as a noisy channel has it: a bug is a slip, so that what changes less may gain less (Kernighan, Church & Gale 1990)."""
    return by_gain(measures) - NATS_PER_CHARACTER * measures["edit_size"]
