"""How many tokens a context has left behind a prompt, for the models of this process."""

from __future__ import annotations

from collections.abc import Sequence

from .errors import ContextTooLong
from .model import Prompt


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
