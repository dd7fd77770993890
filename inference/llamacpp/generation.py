"""The two loops that take tokens from llama.cpp: one generation alone, and several of one prompt together."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..distribution import Distribution
from ..model import StopReason, Token
from ..stopping.continuation import Continuation
from ..stopping.limits import Watch
from .cache import Cache
from .vocabulary import Vocabulary

Choose = Callable[[Distribution], int]
# A row of logits as a distribution; raises where it is none.
Read = Callable[[NDArray[np.float32]], Distribution]


@dataclass(slots=True)
class Alternative:
    """One of several generations. sampled: its tokens, all but the last of them decoded; ended: when, as time.perf_counter counts."""

    choose: Choose
    continuation: Continuation
    sampled: list[int] = field(default_factory=list)
    ended: float | None = None

    def take(self, row: Distribution, vocabulary: Vocabulary) -> bool:
        """Take the next token; whether the text goes on."""
        token = token_of(row, self.choose(row), vocabulary)
        self.sampled.append(token.id)
        if self.continuation.add(token, vocabulary.ends(token.id)) is not None:
            self.ended = time.perf_counter()
        return self.ended is None


def sampler(temperature: float, top_p: float, seed: int) -> Choose:
    """How a generation takes its tokens; temperature 0 is greedy."""
    if temperature == 0:
        return lambda row: row.top
    random = np.random.default_rng(seed)
    return lambda row: row.sample(temperature, top_p, random)


def greedy_from(first: int) -> Choose:
    """This token first, then the most likely each time."""
    begun = iter([first])
    return lambda row: next(begun, row.top)


def token_of(row: Distribution, chosen: int, vocabulary: Vocabulary) -> Token:
    """The chosen token with its numbers."""
    return Token(chosen, vocabulary.piece(chosen), row.logprob(chosen), row.best_other_logprob(chosen), row.entropy())


def alone(cache: Cache, choose: Choose, continuation: Continuation, vocabulary: Vocabulary, read: Read, watch: Watch) -> StopReason:
    """Go on from the live sequence, whose last logits are there, until the continuation or `watch` ends; why it ended.

    The token that ends it is not decoded: the next prompt may go on from there, or from before it.
    """
    while True:
        row = read(cache.row())
        token = token_of(row, choose(row), vocabulary)
        stopped = continuation.add(token, vocabulary.ends(token.id)) or watch()
        if stopped is not None:
            return stopped
        cache.extend([token.id])


def together(
    cache: Cache, alternatives: Sequence[Alternative], most: int, vocabulary: Vocabulary, read: Read, watch: Watch
) -> StopReason | None:
    """Go on from the live sequence with each alternative, one decode per step for all; why `watch` ended them, or None.

    most: tokens that each may have. As many run at once as there are forks and cells; where one ends the next takes its place. The live
    sequence is then the first alternative's, unless the others needed its cells.
    """
    session, length = cache.session, len(cache.tokens)
    first = read(cache.row())
    waiting = deque([alternative for alternative in alternatives if alternative.take(first, vocabulary)])
    running: dict[int, Alternative] = {}
    free = list(range(session.forks, 0, -1))
    # The first alternative's fork, whose cells stay when it has ended, and how many they are.
    kept = cells_kept = 0
    stopped: StopReason | None = None
    try:
        while waiting or running:
            if stopped := watch():
                break
            while waiting and free and length + cells_kept + (len(running) + 1) * (most - 1) <= session.cells:
                fork = free.pop()
                running[fork] = waiting.popleft()
                if running[fork] is alternatives[0]:
                    kept = fork
                cache.fork(fork, length)
            if not running:
                session.cut(kept, 0)
                free.append(kept)
                kept = cells_kept = 0
                continue
            forks = list(running)
            last = [running[fork].sampled for fork in forks]
            session.decode_each(forks, [length + len(sampled) - 1 for sampled in last], [sampled[-1] for sampled in last])
            for index, fork in enumerate(forks):
                if running[fork].take(read(session.row(index)), vocabulary):
                    continue
                del running[fork]
                if fork == kept:
                    cells_kept = len(alternatives[0].sampled) - 1
                else:
                    session.cut(fork, 0)
                    free.append(fork)
        if kept:
            cache.adopt(kept, alternatives[0].sampled[:-1])
    finally:
        for fork in range(1, 1 + session.forks):
            session.cut(fork, 0)
    return stopped
