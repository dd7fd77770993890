"""What the models of this process have in common: what a generation goes through, whichever runtime computes it."""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from .model import Cancel, Generation, OnAlternative, OnToken, Prompt, StopReason, Timings, check_sampling
from .replay.given_text import GivenText
from .room import check_tokens, room_behind
from .stopping.cancel_or_timeout import StopCheck, make_stop_check, never_stop
from .stopping.continuation import Continuation
from .stopping.stop import NONE, Stop


class Making(Protocol):
    """One generation while it is made. ended: when it ended, in seconds of time.perf_counter."""

    ended: float | None

    def generation(self, otherwise: StopReason, timings: Timings) -> Generation:
        """What was made. otherwise: why it ended where none of its own rules ended it."""
        ...


# A generation of a backend while it is made, and the rule that chooses its tokens.
Made = TypeVar("Made", bound=Making)
Choose = TypeVar("Choose")


class LocalModel(ABC, Generic[Made, Choose]):
    """A model of some runtime, which computes what is behind a prompt (`_read`) and behind each token that a generation takes."""

    _context_length: int
    # The rule that chooses tokens, from a temperature (0 is greedy), a top_p and a seed.
    _sampler: Callable[[float, float, int], Choose]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def context_length(self) -> int:
        """Tokens that prompt and generation may have together."""
        return self._context_length

    @property
    @abstractmethod
    def vocabulary_size(self) -> int:
        """How many tokens there are."""

    @abstractmethod
    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text. The spelling of a control token is text like any other."""

    @abstractmethod
    def close(self) -> None:
        """Free the memory. The model can't be used afterwards. A second call does nothing."""

    @abstractmethod
    def _chooser_of(self, given: GivenText) -> Choose:
        """The rule that chooses the tokens of a given text."""

    @abstractmethod
    def _begin(self, prompt: Prompt, text: Continuation, choose: Choose) -> Made:
        """A generation that has no token yet."""

    @abstractmethod
    def _read(self, prompt: Prompt, stop_check: StopCheck) -> tuple[int, StopReason | None]:
        """Read a prompt. Returns how many of its tokens were cached, and why `stop_check` ended that, or None."""

    @abstractmethod
    def _go_on(self, one: Made, stop_check: StopCheck, instead_of: Sequence[int] = ()) -> StopReason:
        """Continue one generation behind what was read until it or `stop_check` ends. Returns why. instead_of: as `Model.generate`."""

    @abstractmethod
    def _go_on_together(
        self, several: list[Made], max_tokens: int, stop_check: StopCheck, *, greedy: bool
    ) -> tuple[list[Made], StopReason | None]:
        """Continue several generations behind what was read, each of max_tokens at most. Greedy ones begin as `Model.alternatives` says.

        Returns those that there are, and why those ended that have no reason of their own.
        """

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
        """Continue the prompt until `stop`, the end of the text, a budget, `on_token` or `cancel()` is true. temperature 0 is greedy.

        max_ms counts from the call, with the reading of the prompt. cancel is called on this thread, between tokens and between or within
        chunks of the prompt. Raises ContextTooLong where the prompt leaves no room for a token, OutOfMemory, DecodeFailed, ForwardFailed.
        """
        begun = time.perf_counter()
        check_sampling(max_tokens, temperature, top_p)
        stop_check = make_stop_check(cancel, max_ms, begun)
        text = Continuation(stop, self._most(prompt, max_tokens), on_token, prompt.held_bytes)
        one = self._begin(prompt, text, self._sampler(temperature, top_p, seed))
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
        """`count` generations of one prompt, side by side. temperature 0: number i begins with the i-th most likely token.

        At another temperature number i is what `generate` gives with seed + i, up to llama.cpp's rounding, which depends on the batch
        size. Afterwards the cache holds the first one. See `Model.alternatives`. Raises what `generate` raises, and ValueError for a count
        below 1.
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
            self._begin(prompt, Continuation(stop, max_tokens, tell, prompt.held_bytes), self._sampler(temperature, top_p, seed + number))
            for number, tell in enumerate(each_on_token)
        ]
        if stopped is None:
            most = max_tokens + len(prompt.held_bytes)
            several, stopped = self._go_on_together(several, most, stop_check, greedy=temperature == 0)
        done = time.perf_counter()
        # A generation without a reason of its own was ended by what ended all.
        return [
            each.generation(stopped or StopReason.TOKENS, _timings(begun, read, each.ended or done, prompt, reused)) for each in several
        ]

    def replay(self, prompt: Prompt, text: str, *, stop: Stop | None, repeated: Sequence[str] = ()) -> Generation:
        """The generation that has this text, decoded token by token as `generate` does. See `Model.replay`.

        What the model wrote has the same figures bit for bit where the prompt is read in the same way, else up to llama.cpp's rounding: a
        logit differs by up to 0.05 with a q8_0 cache. Raises NotReplayable, ContextTooLong, OutOfMemory, DecodeFailed, ForwardFailed.
        """
        begun = time.perf_counter()
        given = GivenText(text, stop, repeated, prompt.held_bytes)
        continuation = Continuation(stop or NONE, self._most(prompt, self._context_length), None, prompt.held_bytes)
        one = self._begin(prompt, continuation, self._chooser_of(given))
        reused, _ = self._read(prompt, never_stop)
        read = time.perf_counter()
        stopped = given.stop_check() or self._go_on(one, given.stop_check)
        given.check_whole(len(prompt.tokens) + len(continuation.sampled), self._context_length)
        return one.generation(stopped, _timings(begun, read, time.perf_counter(), prompt, reused))

    def _first_tokens(self, prompt: Prompt, candidates: Sequence[str]) -> list[int]:
        """The first token of each candidate text behind a prompt. Raises ValueError for an empty one, ContextTooLong."""
        self._room(prompt)
        first = [self.tokenize(candidate)[:1] for candidate in candidates]
        if not all(first):
            raise ValueError("an empty candidate has no first token")
        return [token for (token,) in first]

    def _room(self, prompt: Prompt, wanted: int = 1) -> int:
        """Tokens that the context has left behind the prompt, at least `wanted`."""
        check_tokens(prompt.tokens, self.vocabulary_size)
        return room_behind(prompt, self._context_length, wanted)

    def _most(self, prompt: Prompt, max_tokens: int) -> int:
        """How many tokens a text may have, so that these and those for what is held back fit into the context."""
        return max(1, min(max_tokens, self._room(prompt) - len(prompt.held_bytes)))


def _timings(begun: float, read: float, ended: float, prompt: Prompt, reused: int) -> Timings:
    return Timings((read - begun) * 1000, (ended - read) * 1000, len(prompt.tokens), reused)
