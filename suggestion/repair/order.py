"""Which repair comes first, as long as no calibrator says so. An order gives each repair's measures a number; higher ones come first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")
Order = Callable[[Mapping[str, float]], float]

# A round figure; anything between a half and two orders about as well.
NATS_PER_CHARACTER = 1.0


def by_gain(measures: Mapping[str, float]) -> float:
    """By how much likelier the model finds the new lines than the old; what it can't say of comes last."""
    return measures.get("logprob_gain", -math.inf)


def by_gain_and_size(measures: Mapping[str, float]) -> float:
    """The same as a noisy channel has it: a bug is a slip, so that what changes less may gain less (Kernighan, Church & Gale 1990)."""
    return by_gain(measures) - NATS_PER_CHARACTER * measures["edit_size"]


def in_turns(first: Sequence[T], second: Sequence[T]) -> Iterator[T]:
    """The best of two rankings in turns, each item once.

    The model finds its own texts likelier than any other, so that a common order would put them before those of rules. What it gives and
    what a rule gives are right for different bugs.
    """
    given = set[int]()
    for pair in zip_longest(first, second):
        for item in pair:
            if item is not None and id(item) not in given:
                given.add(id(item))
                yield item
