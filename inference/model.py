"""What a model is to the rest of Assay: a prompt goes in, tokens with exact log-probabilities come out.

All log-probabilities are natural logarithms (nats) of the model's *unshaped* next-token distribution: temperature, top-p and stop
rules decide which token is taken, never what is recorded of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from .stops import Stop

Layout = Literal["psm", "spm", "left_to_right"]
Cancel = Callable[[], bool]


class StopReason(StrEnum):
    """Why a generation ended; each generation has exactly one."""

    LINE = "line"  # the line ended
    BLOCK = "block"  # a line with less indentation than the block began
    END = "end"  # the model itself ended the text
    TOKENS = "tokens"  # the token budget was spent
    TIME = "time"  # the time budget was spent
    CANCELLED = "cancelled"  # the caller no longer wants it


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids as the model gets them. Control tokens are placed by `Model.fim`; text never yields one, whatever it spells."""

    tokens: tuple[int, ...]
    layout: Layout


@dataclass(frozen=True, slots=True)
class Token:
    """One sampled token and the distribution that it was taken from.

    text: its bytes, which may be part of a character; none for a control token. logprob: of this token; best_other_logprob: the highest of
    all the other tokens; entropy: of the whole distribution. All in nats.
    """

    id: int
    text: bytes
    logprob: float
    best_other_logprob: float
    entropy: float


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds, and how much of the prompt was already in the cache."""

    prompt_ms: float
    generate_ms: float
    prompt_tokens: int
    reused_tokens: int


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
class Fingerprint:
    """What a model is, so that a calibrator fitted to one is never used for another.

    weights and tokenizer are SHA-256 in hex; runtime is name and version; parameters is a count.
    """

    name: str
    architecture: str
    parameters: int
    quantisation: str
    weights: str
    tokenizer: str
    runtime: str

    @property
    def id(self) -> str:
        """16 hex digits over weights and tokenizer: what calibrators are matched by. A new runtime version does not change it."""
        return hashlib.sha256(f"{self.weights}:{self.tokenizer}".encode()).hexdigest()[:16]


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
    def layout(self) -> Layout:
        """How `fim` lays a prompt out.

        Where the model's metadata names fill-in-the-middle tokens: "spm" (suffix, prefix, then the middle in place) if it asks for that,
        else "psm" (prefix, suffix, middle). Without such tokens "left_to_right".
        """
        ...

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text; the spelling of a control token is text like any other."""
        ...

    def fim(self, prefix: str, suffix: str) -> Prompt:
        """The prompt that asks for what stands between prefix and suffix (the suffix is left out in a left-to-right layout)."""
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
    ) -> Generation:
        """Continue the prompt until `stop`, the end of the text, a budget, or `cancel()` is true. temperature 0 is greedy.

        Raises ContextTooLong when the prompt leaves no room for one token.
        """
        ...

    def score(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        """log p of each continuation token given the prompt and those before it."""
        ...

    def next_token_logprobs(self, prompt: Prompt, candidates: Sequence[str]) -> list[float]:
        """log p that the first token of each candidate text comes next."""
        ...

    def close(self) -> None:
        """Give the memory back; the model can't be used after."""
        ...
