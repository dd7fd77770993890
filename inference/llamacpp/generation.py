"""The two loops that generate tokens with llama.cpp: one generation, and several of one prompt side by side."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..model import StopReason, Token
from ..stopping.cancel_or_timeout import StopCheck
from ..stopping.continuation import Continuation
from .cache import Cache
from .distribution import Distribution
from .vocabulary import Vocabulary

Choose = Callable[[Distribution], int]
# A row of logits as a distribution; raises ModelError where the logits are not numbers.
ToDistribution = Callable[[NDArray[np.float32]], Distribution]


@dataclass(slots=True)
class Alternative:
    """One of several generations.

    sampled: its tokens, all but the last of them decoded. ended: when it ended, in seconds of time.perf_counter.
    """

    choose: Choose
    continuation: Continuation
    sampled: list[int] = field(default_factory=list)
    ended: float | None = None

    def take(self, row: Distribution, vocabulary: Vocabulary) -> bool:
        """Take the next token. Returns whether the text continues."""
        token = token_of(row, self.choose(row), vocabulary)
        self.sampled.append(token.id)
        if self.continuation.add(token, vocabulary.ends(token.id)) is not None:
            self.ended = time.perf_counter()
        return self.ended is None


def sampler(temperature: float, top_p: float, seed: int) -> Choose:
    """The rule that chooses tokens; temperature 0 is greedy."""
    if temperature == 0:
        return lambda row: row.top
    random = np.random.default_rng(seed)
    return lambda row: row.sample(temperature, top_p, random)


def greedy_from(first: int) -> Choose:
    """The rule that chooses this token first and the most likely one from then on."""
    begun = iter([first])
    return lambda row: next(begun, row.top)


def token_of(row: Distribution, chosen: int, vocabulary: Vocabulary) -> Token:
    """The chosen token with its bytes and log-probabilities."""
    return Token(chosen, vocabulary.piece(chosen), row.logprob(chosen), row.best_other_logprob(chosen), row.entropy())


def generate_one(
    cache: Cache, choose: Choose, continuation: Continuation, vocabulary: Vocabulary, read: ToDistribution, stop_check: StopCheck
) -> StopReason:
    """Continue the live sequence until the continuation or `stop_check` ends it. Returns why it ended.

    The logits behind the live sequence must be there. The token that ends the text is not decoded.
    """
    while True:
        row = read(cache.row())
        token = token_of(row, choose(row), vocabulary)
        stopped = continuation.add(token, vocabulary.ends(token.id)) or stop_check()
        if stopped is not None:
            return stopped
        cache.extend([token.id])


def generate_several(
    cache: Cache, alternatives: Sequence[Alternative], max_tokens: int, vocabulary: Vocabulary, read: ToDistribution, stop_check: StopCheck
) -> StopReason | None:
    """Continue the live sequence with each alternative, in one decode per step for all. Returns why `stop_check` ended them, or None.

    max_tokens: tokens that each may have, with which room in the cache is planned. As many run at once as there are forks and cells;
    where one ends the next takes its place. Afterwards the live sequence is that of the first alternative, unless the others needed its
    cells.
    """
    session, length = cache.session, len(cache.tokens)
    first = read(cache.row())
    waiting = deque([alternative for alternative in alternatives if alternative.take(first, vocabulary)])
    running: dict[int, Alternative] = {}
    free = list(range(session.forks, 0, -1))
    # The first alternative's fork, which stays when that has ended, and the cells that it then takes.
    first_fork = ended_cells = 0
    stopped: StopReason | None = None
    try:
        while waiting or running:
            if stopped := stop_check():
                break
            while waiting and free and length + ended_cells + (len(running) + 1) * (max_tokens - 1) <= session.cells:
                fork = free.pop()
                running[fork] = waiting.popleft()
                if running[fork] is alternatives[0]:
                    first_fork = fork
                cache.fork(fork, length)
            if not running:
                session.cut(first_fork, 0)
                free.append(first_fork)
                first_fork = ended_cells = 0
                continue
            forks = list(running)
            last = [running[fork].sampled for fork in forks]
            session.decode_each(forks, [length + len(sampled) - 1 for sampled in last], [sampled[-1] for sampled in last])
            for index, fork in enumerate(forks):
                if running[fork].take(read(session.row(index)), vocabulary):
                    continue
                del running[fork]
                if fork == first_fork:
                    ended_cells = len(alternatives[0].sampled) - 1
                else:
                    session.cut(fork, 0)
                    free.append(fork)
        if first_fork:
            cache.adopt(first_fork, alternatives[0].sampled[:-1])
    finally:
        for fork in range(1, 1 + session.forks):
            session.cut(fork, 0)
    return stopped
