"""Agreement: the share of one text in the probability of all alternatives that were drawn at a place.

References: Kuhn, Gal & Farquhar (ICLR 2023, arXiv 2302.09664) sum the probabilities of sampled answers that mean the same, and take the
entropy of these sums as a question's uncertainty. Here the alternatives begin with the likeliest tokens and are no random sample, two
answers mean the same if they are the same text, and each text has the share of its own sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...inference.model import Generation, StopReason

# A generation that was cut off so has no probability of its own.
_CUT_OFF = (StopReason.TIME, StopReason.CANCELLED)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A generation's place among the alternatives that were drawn with it.

    rank: from 1, by the probability of the first token.
    count: how many were drawn.
    agreement: the measure. None if only one was drawn or is left, or if log-probabilities are unknown.
    """

    rank: int = 1
    count: int = 1
    agreement: float | None = None

    @property
    def measures(self) -> dict[str, float]:
        """The measure by its name, if it is known."""
        return {} if self.agreement is None else {"agreement": self.agreement}


SINGLE_DRAW = Drawn()


def distinct(generations: Sequence[Generation], count: int) -> list[tuple[Generation, Drawn]]:
    """The first generation of each distinct text, with its place among all, in their order.

    generations: those of `count` alternatives of one place that still fit it, in the order in which they were drawn
        (`suggestion.complete.complete_several`). Texts are compared as they are, before anything is cut off to show them.

    If only one of several is left, it counts as a single draw, because nothing is known of what else it could have been.
    """
    if len(generations) < 2:
        return [(generation, SINGLE_DRAW) for generation in generations]
    logprobs = _logprobs(generations)
    by_text: dict[str, list[int]] = {}
    for index, generation in enumerate(generations):
        by_text.setdefault(generation.text, []).append(index)
    total = log_sum(logprobs) if logprobs else 0.0
    return [
        (
            generations[same[0]],
            # By rounding, the share could be slightly more than 1.
            Drawn(same[0] + 1, count, min(0.0, log_sum(logprobs[i] for i in same) - total) if logprobs else None),
        )
        for same in by_text.values()
    ]


def _logprobs(generations: Sequence[Generation]) -> list[float]:
    """The total log-probability of each. Empty if one is unknown."""
    if any(not generation.tokens or generation.stopped_by in _CUT_OFF for generation in generations):
        return []
    totals = [math.fsum([token.logprob for token in generation.tokens]) for generation in generations]
    return totals if all(map(math.isfinite, totals)) else []


def log_sum(logprobs: Iterable[float]) -> float:
    """log Σ exp, without underflow."""
    values = list(logprobs)
    most = max(values)
    return most + math.log(math.fsum([math.exp(value - most) for value in values]))
