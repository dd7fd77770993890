"""A text that a budget or a loop ended has no end of its own: only its whole statements are kept."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from ...inference.model import Generation, StopReason, Token
from ...inference.stopping.statements import whole_statements
from ..cursor import Cursor

# Ends that came in the middle of something.
_UNFINISHED = {StopReason.TOKENS, StopReason.TIME, StopReason.REPETITION}
# Ends with tokens behind the text that are not part of it.
_OVERSHOT = _UNFINISHED | {StopReason.SUFFIX}


def without_unfinished_end(generation: Generation, cursor: Cursor) -> Generation:
    """Keep nothing of an unfinished line, and of a block or a function its whole statements with the tokens that they are made of.

    Measures then say how sure the model was of what is kept, not that it ends there. Where nothing is kept, all tokens stay.
    """
    text, tokens = generation.text, generation.tokens
    if generation.stopped_by in _UNFINISHED:
        # A loop leaves a block's lines whole, a budget may end in one.
        end = "\n" if generation.stopped_by is StopReason.REPETITION else ""
        text = "" if cursor.kind == "line" else whole_statements(text + end, cursor.prefix)
    if cursor.kind != "line" and text and generation.stopped_by in _OVERSHOT:
        tokens = _first_tokens(tokens, len(text.encode()))
    return replace(generation, text=text, tokens=tokens)


def _first_tokens(tokens: tuple[Token, ...], size: int) -> tuple[Token, ...]:
    """The tokens that the first `size` bytes of the text are made of."""
    reached = accumulate(len(token.text) for token in tokens)
    return tokens[: next((count for count, bytes in enumerate(reached, 1) if bytes >= size), len(tokens))]
