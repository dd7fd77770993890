"""What the models of this process have in common: what a generation goes through, whichever runtime computes it."""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from .distribution import Choose, Distribution, Row, distribution, sampler
from .errors import ComputationFailed, Runtime
from .generating import Generating, Vocabulary
from .model import Cancel, Generation, Model, OnAlternative, OnToken, Prompt, StopReason, Timings, check_sampling
from .replay.given_text import Choice, GivenText
from .room import check_tokens, room_behind
from .stopping.cancel_or_timeout import StopCheck, make_stop_check, never_stop
from .stopping.continuation import Continuation
from .stopping.stop import NONE, Stop

T = TypeVar("T")
# Logits of as many tokens are kept of texts that are compared: half a megabyte each for a large vocabulary.
_MAX_ROWS = 64


class LocalModel(Model, ABC):
    """A model of some runtime, which computes the logits behind a prompt (`_read`) and behind each token that a generation takes.

    Parameters
        path: the model's. runtime: what computes, for messages.
        context_length: tokens that prompt and generation may have together.
        vocabulary: its tokens.
    """

    def __init__(self, path: Path, runtime: Runtime, context_length: int, vocabulary: Vocabulary) -> None:
        self.path = path
        self._runtime, self._context_length, self._vocabulary = runtime, context_length, vocabulary
        self._replayed: tuple[tuple[int, ...], dict[tuple[int, ...], Row]] | None = None

    @property
    def context_length(self) -> int:
        """Tokens that prompt and generation may have together."""
        return self._context_length

    @property
    @abstractmethod
    def vocabulary_size(self) -> int:
        """How many tokens there are. Raises ModelClosed."""

    @abstractmethod
    def _open(self) -> object:
        """What computes. Raises ModelClosed."""

    @abstractmethod
    def _read(self, prompt: Prompt, stop_check: StopCheck) -> tuple[int, StopReason | None]:
        """Read a prompt. Returns how many of its tokens were cached, and why `stop_check` ended that, or None."""

    @abstractmethod
    def _row(self) -> Row:
        """The logits behind what was read last."""

    @abstractmethod
    def _extend(self, token: int, several: Sequence[Generating]) -> None:
        """Read one token more. several: the generations that it is of, whose memories may be looked up meanwhile."""

    @abstractmethod
    def _go_on_together(self, several: Sequence[Generating], max_tokens: int, stop_check: StopCheck) -> StopReason | None:
        """Continue generations, each of max_tokens at most, of which all tokens but the last are read. Returns why `stop_check` ended them.

        Afterwards the cache holds the first one.
        """

    @abstractmethod
    def _ask(self, tokens: Sequence[int], first: int, take: Callable[[Row], T]) -> list[T]:
        """`take` of the logits behind each token from number `first` on, for a question.

        Where the cache holds a generation that the tokens continue, it holds the same afterwards.
        """

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text. The spelling of a control token is text like any other."""
        self._open()
        return list(self._vocabulary.tokenize(text))

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for; none for a control token."""
        self._open()
        return self._vocabulary.piece(token)

    def prompt_text(self, prompt: Prompt) -> str:
        """A prompt as text, its control tokens spelled."""
        self._open()
        return b"".join(map(self._vocabulary.spelled, prompt.tokens)).decode("utf-8", "replace")

    def generate(
        self,
        prompt: Prompt,
        *,
        stop: Stop,
        max_tokens: int,
        max_ms: float | None = None,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        cancel: Cancel | None = None,
        on_token: OnToken | None = None,
        instead_of: Sequence[int] = (),
    ) -> Generation:
        """See `Model.generate`. Raises OutOfMemory, ComputationFailed, too.

        max_ms counts from the call, with the reading of the prompt. cancel is called on this thread, between tokens and between or within
        chunks of the prompt.
        """
        begun = time.perf_counter()
        check_sampling(max_tokens, temperature, top_p)
        stop_check = make_stop_check(cancel, max_ms, begun)
        text = Continuation(stop, self._most(prompt, max_tokens), on_token, prompt.held_bytes)
        one = self._begin(prompt, text, sampler(temperature, top_p, seed))
        reused, stopped = self._read(prompt, stop_check)
        read = time.perf_counter()
        stopped = stopped or self._go_on(one, stop_check, instead_of)
        return one.generation(stopped, _timings(begun, read, time.perf_counter(), prompt, reused))

    def alternatives(
        self,
        prompt: Prompt,
        count: int,
        *,
        stop: Stop,
        max_tokens: int,
        max_ms: float | None = None,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        cancel: Cancel | None = None,
        on_token: OnAlternative | None = None,
    ) -> list[Generation]:
        """See `Model.alternatives`. At a temperature number i is what `generate` gives up to a rounding that depends on the batch size.

        Afterwards the cache holds the first one. Raises what `generate` raises, and ValueError for a count below 1.
        """
        begun = time.perf_counter()
        check_sampling(max_tokens, temperature, top_p)
        if count < 1:
            raise ValueError(f"count is {count}, it must be at least 1")
        max_tokens = self._most(prompt, max_tokens)
        stop_check = make_stop_check(cancel, max_ms, begun)
        reused, stopped = self._read(prompt, stop_check)
        read = time.perf_counter()
        each_on_token = [None if on_token is None else functools.partial(on_token, number) for number in range(count)]
        several = [
            self._begin(prompt, Continuation(stop, max_tokens, tell, prompt.held_bytes), sampler(temperature, top_p, seed + number))
            for number, tell in enumerate(each_on_token)
        ]
        if stopped is None:
            several, stopped = self._begin_together(several, stop_check, greedy=temperature == 0)
            stopped = stopped or self._go_on_together(several, max_tokens + len(prompt.held_bytes), stop_check)
        done = time.perf_counter()
        # A generation without a reason of its own was ended by what ended all.
        return [
            each.generation(stopped or StopReason.TOKENS, _timings(begun, read, each.ended or done, prompt, reused)) for each in several
        ]

    def replay(self, prompt: Prompt, text: str, *, stop: Stop | None, repeated: Sequence[str] = ()) -> Generation:
        """See `Model.replay`. Raises what `generate` raises, too.

        What the model wrote has the same figures bit for bit where the prompt is read in the same way, else up to a rounding: a logit
        differs by up to 0.05 with a q8_0 cache.
        """
        begun = time.perf_counter()
        given = GivenText(text, stop, repeated, prompt.held_bytes)
        continuation = Continuation(stop or NONE, self._most(prompt, self._context_length), None, prompt.held_bytes)
        vocabulary = self._vocabulary
        choice = Choice(given, vocabulary.healing.vocabulary, vocabulary.piece, vocabulary.ends, vocabulary.tokenize)
        one = self._begin(prompt, continuation, lambda row: choice.choose(row.logits))
        reused, read = len(prompt.tokens), begun
        if () not in self._rows_behind(prompt):
            reused, _ = self._read(prompt, never_stop)
            self._rows_behind(prompt)[()] = self._row().copy()
            read = time.perf_counter()
        stopped = given.stop_check() or self._go_on_known(one, given.stop_check, prompt)
        given.check_whole(len(prompt.tokens) + len(continuation.sampled), self._context_length)
        return one.generation(stopped, _timings(begun, read, time.perf_counter(), prompt, reused))

    def _rows_behind(self, prompt: Prompt) -> dict[tuple[int, ...], Row]:
        """The logits behind tokens that were replayed behind the last prompt. Texts that are compared begin alike, up to what differs."""
        if self._replayed is None or self._replayed[0] != prompt.tokens:
            self._replayed = prompt.tokens, {}
        return self._replayed[1]

    def _go_on_known(self, one: Generating, stop_check: StopCheck, prompt: Prompt) -> StopReason:
        """As `_go_on`, but what is known of an earlier replay is not computed again."""
        rows, held = self._rows_behind(prompt), -1
        while True:
            written = tuple(one.sampled)
            if (row := rows.get(written)) is None:
                if held == len(written) - 1:
                    self._extend(written[-1], [one])
                else:
                    self._read(replace(prompt, tokens=(*prompt.tokens, *written)), never_stop)
                held, row = len(written), self._row()
                if len(rows) < _MAX_ROWS:
                    rows[written] = row.copy()
            stopped = one.take(one.distribution(row)) or stop_check()
            if stopped is not None:
                return stopped

    def score(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        """See `Model.score`. Raises ValueError for a token that the vocabulary does not have."""
        self._room(prompt, len(continuation))
        check_tokens(continuation, self.vocabulary_size)
        if not continuation:
            return []
        following = iter(continuation)
        tokens = [*prompt.tokens, *continuation[:-1]]
        return self._ask(tokens, len(prompt.tokens) - 1, lambda row: self._distribution(row).logprob(next(following)))

    def next_token_logprobs(self, prompt: Prompt, candidates: Sequence[str]) -> list[float]:
        """See `Model.next_token_logprobs`. Raises ValueError for an empty candidate."""
        self._room(prompt)
        first = [self.tokenize(candidate)[:1] for candidate in candidates]
        if not all(first):
            raise ValueError("an empty candidate has no first token")

        def take(row: Row) -> list[float]:
            here = self._distribution(row)
            return [here.logprob(token) for (token,) in first]

        return self._ask(prompt.tokens, len(prompt.tokens) - 1, take)[0]

    def _begin(self, prompt: Prompt, text: Continuation, choose: Choose) -> Generating:
        return Generating(prompt, choose, text, self._vocabulary, self._distribution)

    @functools.cached_property
    def _work(self) -> Row:
        """Working memory of `distribution`, so that a token allocates none."""
        return np.empty((2, self.vocabulary_size), dtype=np.float32)

    def _distribution(self, logits: Row) -> Distribution:
        row = distribution(logits, self._work)
        if row is None:
            raise ComputationFailed(self.path, self._runtime, "the model's output is not a number")
        return row

    def _go_on(self, one: Generating, stop_check: StopCheck, instead_of: Sequence[int] = ()) -> StopReason:
        """Continue one generation behind what was read until it or `stop_check` ends. Returns why. instead_of: as `Model.generate`.

        The token that ends the text is not read.
        """
        given = deque(instead_of)
        while True:
            row, chosen = one.distribution(self._row()), None
            if given and not one.only_holds(row):
                token = given.popleft()
                chosen = token if given else row.best_other(token)
            stopped = one.take(row, chosen) or stop_check()
            if stopped is not None:
                return stopped
            self._extend(one.sampled[-1], [one])

    def _begin_together(
        self, several: list[Generating], stop_check: StopCheck, *, greedy: bool
    ) -> tuple[list[Generating], StopReason | None]:
        """Give each generation its first token that is not read. Returns those that have one, and why `stop_check` ended them or None.

        Greedy ones begin differently: number i with the i-th most likely token. Where the vocabulary has fewer, the last ones get none.
        What stands before the cursor is written by the same tokens in all, as long as the most likely token writes nothing else: other
        tokens for that would make no other text.
        """
        row = several[0].distribution(self._row())
        if not greedy:
            _take_first(several, row, [None] * len(several))
            return several, None
        while several[0].only_holds(row):
            _take_first(several, row, [row.top] * len(several))
            if stopped := stop_check():
                return several, stopped
            self._extend(row.top, several[:1])
            row = several[0].distribution(self._row())
        first = row.most_probable(len(several))
        _take_first(several[: len(first)], row, first)
        return several[: len(first)], None

    def _room(self, prompt: Prompt, wanted: int = 1) -> int:
        """Tokens that the context has left behind the prompt, at least `wanted`."""
        check_tokens(prompt.tokens, self.vocabulary_size)
        return room_behind(prompt, self._context_length, wanted)

    def _most(self, prompt: Prompt, max_tokens: int) -> int:
        """How many tokens a text may have, so that these and those for what is held back fit into the context."""
        return max(1, min(max_tokens, self._room(prompt) - len(prompt.held_bytes)))


def _timings(begun: float, read: float, ended: float, prompt: Prompt, reused: int) -> Timings:
    return Timings((read - begun) * 1000, (ended - read) * 1000, len(prompt.tokens), reused)


def _take_first(several: Sequence[Generating], row: Distribution, tokens: Sequence[int | None]) -> None:
    """Let each take a token of its own, or this one, from the first one's distribution."""
    for each in several[1:]:
        each.take_from(several[0])
    for each, token in zip(several, tokens, strict=True):
        each.take(row, token)
