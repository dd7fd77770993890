"""The next best text where the model's first choice would break the file: it parts from that where the model was least sure."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from ..inference.errors import ContextTooLong, Unavailable
from ..inference.model import Cancel, Generation, Model, Prompt, StopReason, Token
from .cursor import Cursor
from .cut.steps import cut_after_writing, text_to_show
from .stopping_rule import stop_at

# Places of the text that are tried, the least sure first.
_MAX_PLACES = 3
# Ends that left no time for more.
_OVER = (StopReason.TIME, StopReason.CANCELLED)


@dataclass(frozen=True, slots=True)
class Budget:
    """What all texts for one request may take: the tokens of each, and the time when it is over (perf_counter; None for none)."""

    max_tokens: int
    ends_at: float | None = None
    cancel: Cancel | None = None

    @property
    def left_ms(self) -> float | None:
        """How much time is left."""
        return None if self.ends_at is None else max(0.0, (self.ends_at - time.perf_counter()) * 1e3)


def next_best(model: Model, prompt: Prompt, cursor: Cursor, first: Generation, budget: Budget) -> Generation:
    """The first text that breaks nothing, or the model's first choice where there is none in time.

    Each is the greedy text that begins as the first does, up to a token of which the model was not sure, and goes on with the second
    likeliest in its place. Its timings are those of all that was tried. Raises what `Model.generate` raises.
    """
    timings = first.timings
    for place in _least_sure(first.tokens):
        if first.stopped_by in _OVER or budget.left_ms == 0:
            break
        try:
            other = model.generate(
                prompt,
                stop=stop_at(cursor),
                max_tokens=budget.max_tokens,
                max_ms=budget.left_ms,
                cancel=budget.cancel,
                instead_of=[token.id for token in first.tokens[: place + 1]],
            )
        except (Unavailable, ContextTooLong):
            break
        timings = replace(timings, generate_ms=timings.generate_ms + other.timings.prompt_ms + other.timings.generate_ms)
        if other.stopped_by in _OVER:
            break
        found = cut_after_writing(other, cursor)
        if found.parses and text_to_show(found.text, cursor) is not None:
            return replace(found, timings=timings)
    return replace(first, timings=timings)


def _least_sure(tokens: tuple[Token, ...]) -> list[int]:
    """The places where the second likeliest token was nearest to the one that was taken, the nearest first."""
    margins = [
        (token.logprob - token.best_other_logprob, place) for place, token in enumerate(tokens) if token.best_other_logprob is not None
    ]
    return [place for _, place in sorted(margins)[:_MAX_PLACES]]
