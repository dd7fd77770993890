"""The two loops that generate tokens with llama.cpp: one generation, and several of one prompt side by side."""

from __future__ import annotations

import functools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..model import Generation, Prompt, StopReason, Timings, Token
from ..stopping.cancel_or_timeout import StopCheck
from ..stopping.continuation import Continuation
from .cache import Cache
from .session import Session
from .vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Distribution:
    """The softmax of a row of logits. Log-probabilities are exact within 1e-6 nats, the entropy within 2e-6.

    Attributes
        logits: the row itself (float32).
        weights: exp(logits - highest) in float32. Their rounding is the only error; sums are taken in float64.
        total: the sum of the weights, so that log p = logit - highest - log(total).
        top: the most probable token, the lowest id of several equal ones.
        spare: working memory of one row.
    """

    logits: NDArray[np.float32]
    weights: NDArray[np.float32]
    spare: NDArray[np.float32]
    total: float
    top: int

    def logprob(self, token: int) -> float:
        """log p of a token, in nats."""
        return float(self.logits[token]) - float(self.logits[self.top]) - math.log(self.total)

    def best_other_logprob(self, token: int) -> float:
        """The highest log p of all tokens but one, in nats; -inf in a vocabulary of one."""
        if token != self.top:
            return self.logprob(self.top)
        logits = self.logits
        other = max(float(logits[:token].max(initial=-math.inf)), float(logits[token + 1 :].max(initial=-math.inf)))
        return other - float(logits[token]) - math.log(self.total)

    def best_other(self, token: int) -> int:
        """The most probable of all tokens but one; that one where all others have probability 0."""
        return next((other for other in self.most_probable(2) if other != token), token)

    def entropy(self) -> float:
        """Entropy in nats: log(total) - E[logit - highest]; a token of probability 0 adds 0."""
        # A product and a sum instead of a dot product: BLAS would compute in float32, and wake threads that compete with the model's.
        products = np.subtract(self.logits, self.logits[self.top], out=self.spare)
        with np.errstate(invalid="ignore"):
            np.multiply(products, self.weights, out=products)
        mean = float(products.sum(dtype=np.float64))
        if math.isnan(mean):
            mean = float(np.nansum(products, dtype=np.float64))
        return max(0.0, math.log(self.total) - mean / self.total)

    def most_probable(self, count: int) -> list[int]:
        """The most probable tokens in order, of equal ones the lowest id first. Tokens of probability 0 are left out."""
        logits = self.logits
        count = min(count, int(np.count_nonzero(logits > -math.inf)))
        least = np.partition(logits, len(logits) - count)[len(logits) - count]
        candidates = np.flatnonzero(logits >= least)
        order = np.argsort(-logits[candidates], kind="stable")[:count]
        return [int(token) for token in candidates[order]]

    def sample(self, temperature: float, top_p: float, random: np.random.Generator) -> int:
        """A token drawn from the distribution at `temperature`, cut to the smallest set of most probable tokens that reaches `top_p`.

        Reference: Holtzman et al. 2020, "The curious case of neural text degeneration", section 3.1.
        """
        weights = np.exp(np.subtract(self.logits, self.logits[self.top], dtype=np.float64) / temperature)
        if top_p >= 1.0:
            return _draw(weights, random)
        order = np.argsort(-weights, kind="stable")
        reached = np.cumsum(weights[order])
        nucleus = order[: int(np.searchsorted(reached, top_p * reached[-1])) + 1]
        return int(nucleus[_draw(weights[nucleus], random)])


def distribution(logits: NDArray[np.float32], room: NDArray[np.float32] | None = None) -> Distribution | None:
    """The distribution of a row of logits; None where a logit is not a number or none is finite.

    Parameters
        logits: shape (vocabulary). The distribution refers to them and holds only as long as they are unchanged.
        room: working memory of shape (2, vocabulary), so that a token allocates none. An earlier distribution in it becomes invalid.
    """
    top = int(logits.argmax())
    if not math.isfinite(logits[top]):
        return None
    weights, spare = np.empty((2, len(logits)), dtype=np.float32) if room is None else room
    np.exp(np.subtract(logits, logits[top], out=weights), out=weights)
    return Distribution(logits, weights, spare, float(weights.sum(dtype=np.float64)), top)


def _draw(weights: NDArray[np.float64], random: np.random.Generator) -> int:
    reached = np.cumsum(weights)
    index = int(np.searchsorted(reached, random.random() * reached[-1], side="right"))
    return min(index, int(np.flatnonzero(weights)[-1]))


Choose = Callable[[Distribution], int]
# A row of logits as a distribution; raises ModelError where the logits are not numbers.
ToDistribution = Callable[[NDArray[np.float32]], Distribution]


class Generating:
    """One generation while it is made.

    Attributes
        sampled: its tokens, all but the last of them decoded.
        ended: when it ended, in seconds of time.perf_counter.
    """

    def __init__(self, prompt: Prompt, choose: Choose, continuation: Continuation, vocabulary: Vocabulary, read: ToDistribution) -> None:
        self.sampled: list[int] = []
        self.ended: float | None = None
        self._choose, self._continuation, self._vocabulary, self._read = choose, continuation, vocabulary, read
        self._typed_along = vocabulary.healing.typed_along()
        self._memory = None if prompt.memory is None else prompt.memory.reader(prompt.held)

    def distribution(self, logits: NDArray[np.float32]) -> Distribution:
        """What the next token is taken from: the tokens that agree with what is held back and not written yet, else all.

        What the prompt's memory says of them is mixed in.
        """
        held = self._continuation.held
        row = only(logits, self._vocabulary.healing.agreeing(held)) if held else logits
        return self._read(row if self._memory is None else self._memory.mix(row))

    @property
    def remembers(self) -> bool:
        """Whether its prompt has a memory."""
        return self._memory is not None

    def look_ahead(self) -> None:
        """Look up what the memory says behind the text so far, which `distribution` needs next."""
        if self._memory is not None:
            self._memory.look_ahead()

    def take_from(self, other: Generating) -> None:
        """Take the next token from the last distribution of another generation, which has the same text so far."""
        if other._memory is not None:
            self._memory = other._memory.copy()

    def only_holds(self, row: Distribution) -> bool:
        """Whether the most likely token writes nothing but what is held back."""
        held = self._continuation.held
        return bool(held) and len(self._vocabulary.piece(row.top)) <= len(held)

    def take(self, row: Distribution, chosen: int | None = None) -> StopReason | None:
        """Take the next token from its distribution, or `chosen`. Returns why the text ends with it, or None."""
        chosen = self._choose(row) if chosen is None else chosen
        piece = self._vocabulary.piece(chosen)
        self._typed_along.step(row.weights.__getitem__, row.total, piece)
        token = Token(chosen, piece, row.logprob(chosen), row.best_other_logprob(chosen), row.entropy())
        self.sampled.append(chosen)
        if self._memory is not None:
            self._memory.take(chosen)
        stopped = self._continuation.add(token, self._vocabulary.ends(chosen))
        if stopped is not None:
            self.ended = time.perf_counter()
        return stopped

    def generation(self, otherwise: StopReason, timings: Timings) -> Generation:
        """What was made. otherwise: why it ended where none of its own rules ended it."""
        made = self._continuation.generation(otherwise, timings, self._typed_along.shares)
        return made if self._memory is None else replace(made, sources=self._memory.sources())


def sampler(temperature: float, top_p: float, seed: int) -> Choose:
    """The rule that chooses tokens; temperature 0 is greedy."""
    if temperature == 0:
        return lambda row: row.top
    random = np.random.default_rng(seed)
    return lambda row: row.sample(temperature, top_p, random)


def only(logits: NDArray[np.float32], tokens: NDArray[np.intp]) -> NDArray[np.float32]:
    """The logits of these tokens; all others have probability 0."""
    kept = np.full_like(logits, -np.inf)
    kept[tokens] = logits[tokens]
    return kept


@contextmanager
def looking_ahead(session: Session, several: Iterable[Generating]) -> Iterator[None]:
    """Look up what memories say behind these texts while the model computes, on a core that it leaves. It is done when the block is."""
    remembering = [each for each in several if each.remembers] if session.leaves_a_core else []
    if not remembering:
        yield
        return

    def look_ahead() -> None:
        for each in remembering:
            each.look_ahead()

    looked = _lookups().submit(look_ahead)
    try:
        yield
    finally:
        looked.result()


@functools.cache
def _lookups() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "project-memory")


def generate_one(cache: Cache, generating: Generating, stop_check: StopCheck, instead_of: Sequence[int] = ()) -> StopReason:
    """Continue the live sequence until the generation or `stop_check` ends it. Returns why it ended.

    The logits behind the live sequence must be there. The token that ends the text is not decoded. instead_of: as `Model.generate`.
    """
    given = deque(instead_of)
    while True:
        row, chosen = generating.distribution(cache.row()), None
        if given and not generating.only_holds(row):
            token = given.popleft()
            chosen = token if given else row.best_other(token)
        stopped = generating.take(row, chosen) or stop_check()
        if stopped is not None:
            return stopped
        with looking_ahead(cache.session, [generating]):
            cache.extend(generating.sampled[-1:])


def begin_several(cache: Cache, several: Sequence[Generating], stop_check: StopCheck, *, greedy: bool) -> tuple[int, StopReason | None]:
    """Give each generation of the live sequence its first token that is not decoded.

    Greedy ones begin differently: number i with the i-th most likely token. Where the vocabulary has fewer, the last ones get none. What
    stands before the cursor is written by the same tokens in all, as long as the most likely token writes nothing else: other tokens for
    that would make no other text.

    Returns how many have begun, and why `stop_check` ended them or None.
    """
    row = several[0].distribution(cache.row())
    if not greedy:
        _take_first(several, row, [None] * len(several))
        return len(several), None
    while several[0].only_holds(row):
        _take_first(several, row, [row.top] * len(several))
        if stopped := stop_check():
            return len(several), stopped
        with looking_ahead(cache.session, several[:1]):
            cache.extend([row.top])
        row = several[0].distribution(cache.row())
    first = row.most_probable(len(several))
    _take_first(several[: len(first)], row, first)
    return len(first), None


def _take_first(several: Sequence[Generating], row: Distribution, tokens: Sequence[int | None]) -> None:
    """Let each take a token of its own, or this one, from the first one's distribution."""
    for each in several[1:]:
        each.take_from(several[0])
    for each, token in zip(several, tokens, strict=True):
        each.take(row, token)


def generate_several(cache: Cache, several: Sequence[Generating], max_tokens: int, stop_check: StopCheck) -> StopReason | None:
    """Continue the live sequence with each generation, in one decode per step for all. Returns why `stop_check` ended them, or None.

    All tokens of each but the last are in the live sequence (`begin_several`).

    max_tokens: tokens that each may have, with which room in the cache is planned. As many run at once as there are forks and cells;
    where one ends the next takes its place. Afterwards the live sequence is that of the first generation, unless the others needed its
    cells.
    """
    session, length, begun = cache.session, len(cache.tokens), len(several[0].sampled) - 1
    waiting = deque([each for each in several if each.ended is None])
    running: dict[int, Generating] = {}
    free = list(range(session.forks, 0, -1))
    # The first generation's fork, which stays when that has ended, and the cells that it then takes.
    first_fork = ended_cells = 0
    stopped: StopReason | None = None
    try:
        while waiting or running:
            if stopped := stop_check():
                break
            while waiting and free and length + ended_cells + (len(running) + 1) * (max_tokens - 1) <= session.cells:
                fork = free.pop()
                running[fork] = waiting.popleft()
                if running[fork] is several[0]:
                    first_fork = fork
                cache.fork(fork, length)
            if not running:
                session.cut(first_fork, 0)
                free.append(first_fork)
                first_fork = ended_cells = 0
                continue
            forks = list(running)
            last = [running[fork].sampled[begun:] for fork in forks]
            positions, tokens = [length + len(sampled) - 1 for sampled in last], [sampled[-1] for sampled in last]
            with looking_ahead(session, running.values()):
                done = session.decode_each(forks, positions, tokens, lambda: stop_check() is not None)
            if not done:
                if first_fork in running and not session.cut(first_fork, positions[forks.index(first_fork)]):
                    first_fork = 0
                stopped = stop_check() or StopReason.CANCELLED
                break
            for index, fork in enumerate(forks):
                each = running[fork]
                if each.take(each.distribution(session.row(index))) is None:
                    continue
                del running[fork]
                if fork == first_fork:
                    ended_cells = len(several[0].sampled) - begun - 1
                else:
                    session.cut(fork, 0)
                    free.append(fork)
        if first_fork:
            cache.adopt(first_fork, several[0].sampled[begun:-1])
    finally:
        for fork in range(1, 1 + session.forks):
            session.cut(fork, 0)
    return stopped
