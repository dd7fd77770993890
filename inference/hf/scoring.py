"""Log-probabilities of given texts, several in one pass: which go together, and what the pass says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .distributions import exact, logprobs_of
from .network import Network

# Logits held at once, in numbers: 256 MiB of float32.
LOGITS_AT_ONCE = 1 << 26

# The token ids of a prompt, and of what follows it.
Pair = tuple[Sequence[int], Sequence[int]]


def passes(pairs: Sequence[Pair], vocabulary: int, batch_size: int) -> Iterator[list[int]]:
    """The numbers of the pairs that go in each pass: of like length, and no more logits than are held at once, unless one pair has more.

    A pair without a continuation is in none.
    """
    waiting = sorted((i for i, (_, continuation) in enumerate(pairs) if continuation), key=lambda i: sum(map(len, pairs[i])))
    while waiting:
        which = waiting[:batch_size]
        while len(which) > 1 and not fits([pairs[i] for i in which], vocabulary):
            which = which[: len(which) // 2]
        waiting = waiting[len(which) :]
        yield which


def fits(pairs: Sequence[Pair], vocabulary: int) -> bool:
    """Whether the logits of these pairs can be held at once."""
    first, last = _wanted(pairs)
    return len(pairs) * (last - first) * vocabulary <= LOGITS_AT_ONCE


def scores_at_once(network: Network, pairs: Sequence[Pair]) -> list[list[float]]:
    """log p of each continuation's tokens, in nats, in one pass. The shorter are filled up behind, where no token sees it."""
    first, last = _wanted(pairs)
    rows = [[*prompt, *continuation[:-1]] for prompt, continuation in pairs]
    filled = network.tensor([row + [0] * (last - len(row)) for row in rows])
    logits = network(filled, keep=network.tensor(range(first, last))).logits
    scores = []
    for index, (prompt, continuation) in enumerate(pairs):
        begin = len(prompt) - 1 - first
        own = exact(logits[index, begin : begin + len(continuation)])
        scores.append(logprobs_of(own, network.tensor(continuation)))
    return scores


def _wanted(pairs: Sequence[Pair]) -> tuple[int, int]:
    """The positions, from and to, whose logits score these pairs: from the shortest prompt's last token on."""
    first = min(len(prompt) - 1 for prompt, _ in pairs)
    return first, max(len(prompt) + len(continuation) - 1 for prompt, continuation in pairs)
