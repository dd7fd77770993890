"""How many tokens a model's context has, and has left behind a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import ContextTooLong
from .model import Prompt

# The default context is the model's own, but no longer than this: its cache takes memory from the start.
DEFAULT_CONTEXT = 4096
_UNKNOWN_CONTEXT = 2048


def context_for(trained: int | None, n_ctx: int | None) -> int:
    """Tokens of context: n_ctx, or what the model was trained for (DEFAULT_CONTEXT at most) where n_ctx is None. Raises ContextTooLong."""
    if n_ctx is None:
        return min(trained or _UNKNOWN_CONTEXT, DEFAULT_CONTEXT)
    if trained is not None and n_ctx > trained:
        raise ContextTooLong(n_ctx, trained, "the context that was asked for")
    return n_ctx


def check_tokens(tokens: Sequence[int], vocabulary: int) -> None:
    """Raises ValueError for a token that a vocabulary of this size does not have."""
    if tokens and not (min(tokens) >= 0 and max(tokens) < vocabulary):
        raise ValueError(f"a token id is outside of the vocabulary of {vocabulary:,}")


def room_behind(prompt: Prompt, context_length: int, wanted: int = 1) -> int:
    """Tokens that the context has left behind the prompt, at least `wanted`. Raises ContextTooLong, ValueError for an empty prompt."""
    count = len(prompt.tokens)
    if not count:
        raise ValueError("the prompt has no tokens: there is nothing to continue")
    if (room := context_length - count) < wanted:
        raise ContextTooLong(count + wanted, context_length, f"a prompt of {count:,} tokens and {wanted:,} more")
    return room
