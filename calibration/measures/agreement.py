"""Agreement: how much of the probability of all alternatives that were drawn at a place stands behind one text.

Kuhn, Gal & Farquhar (ICLR 2023, arXiv 2302.09664) sum the probabilities of sampled answers that mean the same and take the entropy of these
sums for a question's uncertainty. Here the answers begin with the likeliest tokens and are no sample, what means the same is what is
the same text, and each text has the share of its own sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...inference.model import Generation, StopReason

# What these ended has no end of its own, and so no probability of its own.
_CUT_OFF = (StopReason.TIME, StopReason.CANCELLED)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A generation's place among those that were drawn with it.

    rank: by its first token, the likeliest has 1; count: how many were drawn; agreement: the measure, None where only one was drawn, or
    is left, and where log-probabilities are not known.
    """

    rank: int = 1
    count: int = 1
    agreement: float | None = None

    @property
    def measures(self) -> dict[str, float]:
        """`agreement` by its name, where it is known."""
        return {} if self.agreement is None else {"agreement": self.agreement}


SINGLE_DRAW = Drawn()


def distinct(generations: Sequence[Generation], count: int) -> list[tuple[Generation, Drawn]]:
    """Of the generations that have one text the first, and its place among all; in their order.

    generations: those of `count` alternatives of one place that still fit it, in the order in which they were drawn (as
    `inference.completion.complete_several` gives them). Texts are taken as they are: what is cut off them to be shown makes no two equal.
    Where a single one is left of several it is alone: nothing is known any more of what else it could have been.
    """
    if len(generations) < 2:
        return [(generation, SINGLE_DRAW) for generation in generations]
    logprobs = _logprobs(generations)
    by_text: dict[str, list[int]] = {}
    for index, generation in enumerate(generations):
        by_text.setdefault(generation.text, []).append(index)
    total = _log_sum(logprobs) if logprobs else 0.0
    return [
        (
            generations[same[0]],
            # the rounding of two sums could make a share of all a hair more than that
            Drawn(same[0] + 1, count, min(0.0, _log_sum(logprobs[i] for i in same) - total) if logprobs else None),
        )
        for same in by_text.values()
    ]


def _logprobs(generations: Sequence[Generation]) -> list[float]:
    """The total log-probability of each; none where one is not known."""
    if any(not generation.tokens or generation.stopped_by in _CUT_OFF for generation in generations):
        return []
    totals = [math.fsum([token.logprob for token in generation.tokens]) for generation in generations]
    return totals if all(map(math.isfinite, totals)) else []


def _log_sum(logprobs: Iterable[float]) -> float:
    """log Σ exp, without underflow."""
    values = list(logprobs)
    most = max(values)
    return most + math.log(math.fsum([math.exp(value - most) for value in values]))
