"""What a model is to the rest of Assay: a prompt goes in, tokens with exact log-probabilities come out.

All log-probabilities are natural logarithms (nats) of the model's *unshaped* next-token distribution: temperature, top-p and stop
rules decide which token is taken, never what is recorded of it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Literal, Protocol, Self

from .stopping.stops import Stop

Layout = Literal["psm", "spm", "infill", "left_to_right"]
# Numbers of llama.cpp's cache.
KVType = Literal["f16", "f32", "q8_0", "q4_0"]
Cancel = Callable[[], bool]


class StopReason(StrEnum):
    """Why a generation ended; each generation has exactly one."""

    LINE = "line"  # the line ended
    BLOCK = "block"  # a line with less indentation than the block began
    SUFFIX = "suffix"  # the lines that stand behind the block were written again
    REPETITION = "repetition"  # the text ran into a loop
    END = "end"  # the model itself ended the text
    TOKENS = "tokens"  # the token budget was spent
    TIME = "time"  # the time budget was spent
    CALLER = "caller"  # the caller's own rule, asked at each token, ended it
    CANCELLED = "cancelled"  # the caller no longer wants it


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids as the model gets them. Control tokens are placed by `Model.fim`; text never yields one, whatever it spells.

    parts: prefix and suffix as text, for a server that cuts its own tokens; tokens is then empty, and layout "infill" where the server
    puts the two in order as well. extra, path: with parts, pieces of other files by path, and the path of the file itself.
    """

    tokens: tuple[int, ...]
    layout: Layout
    parts: tuple[str, str] | None = None
    extra: tuple[tuple[str, str], ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """One sampled token and the distribution that it was taken from.

    text: its bytes, which may be part of a character; none for a control token. logprob: of this token; best_other_logprob: the highest of
    all the other tokens; entropy: of the whole distribution. All in nats; None for what a server did not tell.
    """

    id: int
    text: bytes
    logprob: float
    best_other_logprob: float | None
    entropy: float | None


# Asked at each token with it and the text up to it (complete characters): true ends the generation.
OnToken = Callable[[Token, str], bool]
# The same with the alternative's number in front.
OnAlternative = Callable[[int, Token, str], bool]


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds, and how much of the prompt was already in the cache.

    reused_tokens: tokens of the prompt that were not computed again; shifted_tokens: those of them that were computed at another
    position, behind another text, so that what follows from them is approximate (0 unless the model was opened to allow it).
    """

    prompt_ms: float
    generate_ms: float
    prompt_tokens: int
    reused_tokens: int
    shifted_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model produced.

    tokens holds every sampled token in order, the one that ended the text included (the newline, the end-of-text token): its
    log-probability is part of how sure the model was that the text ends *here*. text is what is left after the stop rule: complete
    UTF-8, without the newline or the dedented line that ended it.
    """

    text: str
    tokens: tuple[Token, ...]
    stopped_by: StopReason
    timings: Timings


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can be asked. A model in this process can do everything; a server says so, or does not.

    logprobs: exact log-probabilities of what it generates (without them there is no measure, so no confidence); best_other:
    of the best other token too (the margin); entropy: of the whole distribution; score, next_token: the methods of those names;
    tokenize: its own tokens (else they are estimated from the text's length); fim: a suffix is used.
    """

    logprobs: bool = True
    best_other: bool = True
    entropy: bool = True
    score: bool = True
    next_token: bool = True
    tokenize: bool = True
    fim: bool = True


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a model is, so that a calibrator fitted to one is never used for another.

    weights and tokenizer are SHA-256 in hex; runtime is name and version; parameters is a count. cache: the numbers that keys and values
    are kept in where those change the answers (q8_0, q4_0), else empty.
    """

    name: str
    architecture: str
    parameters: int
    quantisation: str
    weights: str
    tokenizer: str
    runtime: str
    cache: str = ""

    @property
    def id(self) -> str:
        """16 hex digits over weights, tokenizer and a quantised cache: what calibrators are matched by.

        A new version of the runtime does not change it, nor does a cache that keeps what the model computed.
        """
        parts = [self.weights, self.tokenizer, *([self.cache] if self.cache else [])]
        return hashlib.sha256(":".join(parts).encode()).hexdigest()[:16]


def check_sampling(max_tokens: int, temperature: float, top_p: float) -> None:
    """Refuse what no generation can be asked for. Raises ValueError."""
    if max_tokens < 1 or not 0 <= temperature < math.inf or not 0 < top_p <= 1:
        raise ValueError(f"max_tokens {max_tokens}, temperature {temperature}, top_p {top_p}: at least 1, at least 0, in (0, 1]")


class Model(Protocol):
    """A causal language model of code. One call at a time: callers that share a model take turns."""

    @property
    def context_length(self) -> int:
        """Tokens that prompt and generation may have together."""
        ...

    @property
    def fingerprint(self) -> Fingerprint:
        """What the model is."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What can be asked of it."""
        ...

    @property
    def layout(self) -> Layout:
        """How `fim` lays a prompt out.

        Where the model's metadata names fill-in-the-middle tokens: "spm" (suffix, prefix, then the middle in place) if it asks for that,
        else "psm" (prefix, suffix, middle). Without such tokens "left_to_right".
        """
        ...

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text; the spelling of a control token is text like any other."""
        ...

    def fim(self, prefix: str, suffix: str, extra: Sequence[tuple[str, str]] = (), path: str = "") -> Prompt:
        """The prompt that asks for what stands between prefix and suffix (the suffix is left out in a left-to-right layout).

        extra: path and text of pieces of other files, which go in front, as `families.in_front` says; path: the file's own, told only
        where there are others.
        """
        ...

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
    ) -> Generation:
        """Continue the prompt until `stop`, the end of the text, a budget, or `cancel()` is true. temperature 0 is greedy.

        on_token gets each token as it is decoded, and the text up to it (complete characters); where it returns true the generation
        ends there (StopReason.CALLER), and nothing of what was computed is lost from the cache. Raises ContextTooLong when the prompt
        leaves no room for one token.
        """
        ...

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
        """`count` generations of one prompt, which is read once; one decode per step serves all that have not ended.

        temperature 0: number i begins with the i-th most likely token and goes on greedily, so that no two are alike (fewer than
        `count` where the vocabulary has fewer tokens). Else number i is what `generate` gives with seed + i. on_token also gets the
        generation's number; true ends that one only. Each stops by its own; time and cancel stop all.
        """
        ...

    def score(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        """log p of each continuation token given the prompt and those before it. Raises Unavailable where a server can't."""
        ...

    def next_token_logprobs(self, prompt: Prompt, candidates: Sequence[str]) -> list[float]:
        """log p that the first token of each candidate text comes next. Raises Unavailable where a server can't.

        Asked behind a generation (its prompt, its tokens, then the question's), it costs the question's own tokens, and what the cache
        held for the generation is still there afterwards. The same holds for `score`.
        """
        ...

    def close(self) -> None:
        """Give the memory back; the model can't be used after."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...
