"""The `Model` protocol: a prompt goes in, tokens with exact log-probabilities come out.

All log-probabilities are natural logarithms (nats) of the model's own next-token distribution. Temperature, top-p and stop rules decide
which token is taken; they never change what is recorded of it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Protocol, Self

from .chat_format import ChatFormat
from .project_memory.source import Source
from .stopping.stop import Stop

if TYPE_CHECKING:
    from .project_memory.memory import Memory

# The order of a prompt's parts. "anchored": the prefix but its last lines, the text behind the cursor, the middle mark, then these lines up
# to the cursor; "psm": prefix, suffix, middle mark; "spm": suffix, middle mark, prefix.
Layout = Literal["anchored", "psm", "spm", "infill", "left_to_right"]
# Number formats of llama.cpp's cache.
KVType = Literal["f16", "f32", "q8_0", "q4_0"]
Cancel = Callable[[], bool]


class StopReason(StrEnum):
    """Why a generation ended; each generation has exactly one."""

    LINE = "line"  # the line ended
    BRACKET = "bracket"  # the bracket was generated again that stands behind the cursor
    BLOCK = "block"  # a line with less indentation than the block began
    SUFFIX = "suffix"  # the lines that already stand behind the cursor were generated again
    REPETITION = "repetition"  # the text ran into a loop
    END = "end"  # the model itself ended the text
    TOKENS = "tokens"  # the token budget was spent
    TIME = "time"  # the time budget was spent
    CALLER = "caller"  # the caller's on_token returned true
    CANCELLED = "cancelled"  # the caller no longer wants it


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's token ids. Only `Model.fim` and a chat template place control tokens; text never becomes one, even where it spells one.

    Attributes
        memory: what the user's files say comes next, for the models that compute whole distributions (`Capabilities.memory`); None for
            nothing.
        held: what stands before the cursor behind the prompt's end (token healing). A generation writes it again, and its text and its
            tokens begin behind it. A model that can't be held to it (`Capabilities.heals`) holds back at most one space, which its text
            need not begin with.
        parts: prefix and suffix as text, for a server that tokenizes them itself; tokens is then empty, and layout "infill" where the
            server also lays them out.
        extra, path: with parts, the pieces of other files by path, and the path of the file itself.
        begun: with parts, how much of the prefix an anchored prompt's middle begins with.
    """

    tokens: tuple[int, ...]
    layout: Layout
    parts: tuple[str, str] | None = None
    extra: tuple[tuple[str, str], ...] = ()
    path: str = ""
    held: str = ""
    begun: int = 0
    memory: Memory | None = field(default=None, compare=False, repr=False)

    @property
    def held_bytes(self) -> bytes:
        """What is held back, as the tokenizer reads it: a lone surrogate is "?"."""
        return self.held.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Token:
    """A sampled token with figures of the distribution that it was taken from, in nats; None for what a server did not give.

    The first token of a text is taken from those that agree with what stands before the cursor, and so are its figures. Its log-probability
    is that of all tokens up to its end: some may write only what stands there (`Prompt.held`).

    Attributes
        text: its bytes, which may be a part of a character; empty for a control token. Of the first token those behind the cursor.
        best_other_logprob: the highest log-probability of all other tokens.
        entropy: of the whole distribution.
        shares: for k = 1, 2, …: log of the share of all tokens that agree with the first k bytes from here on, as long as these would be
            held back behind a cursor there. So log p is logprob - shares[k - 1] where they stand. Empty where a server does not tell.
    """

    id: int
    text: bytes
    logprob: float
    best_other_logprob: float | None
    entropy: float | None
    shares: tuple[float, ...] = ()


# Called with each token and the text up to it (whole characters); true ends the generation.
OnToken = Callable[[Token, str], bool]
# The same with the alternative's number first.
OnAlternative = Callable[[int, Token, str], bool]


@dataclass(frozen=True, slots=True)
class Timings:
    """Times of a generation, and how much of its prompt was in the cache.

    reused_tokens: tokens of the prompt that were not computed again.
    """

    prompt_ms: float
    generate_ms: float
    prompt_tokens: int
    reused_tokens: int


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model produced.

    Attributes
        text: what the stop rule leaves, in whole characters, without the newline or the dedented line that ended it.
        tokens: every sampled token behind the cursor in order, with the one that ended the text (the newline, the end-of-text token): its
            log-probability says how sure the model was that the text ends *here*.
        sources: where the text was seen before, if a memory carried it.
        memory: the fingerprint of the memory that was mixed in; empty for none.
        parses: whether the text leaves the file as whole as it was, as far as is known; None where nobody looked.
    """

    text: str
    tokens: tuple[Token, ...]
    stopped_by: StopReason
    timings: Timings
    sources: tuple[Source, ...] = ()
    memory: str = ""
    parses: bool | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do. A model in this process can do everything, a server often less.

    Attributes
        logprobs: exact log-probabilities of what it generates; without them there is no measure and so no confidence.
        best_other: those of the best other token, which the margin needs.
        entropy: of the whole distribution.
        score, next_token: the methods `score` and `next_token_logprobs`.
        tokenize: its own tokens; else their number is estimated from the text's length.
        fim: it uses the text behind the cursor.
        files: it has control tokens of its own between pieces of other files (`Model.fim`).
        heals: it can be held to what stands before the cursor (token healing).
        memory: it takes tokens from distributions that a memory is mixed into (`Prompt.memory`).
        replay: the method `replay`.
    """

    logprobs: bool = True
    best_other: bool = True
    entropy: bool = True
    score: bool = True
    next_token: bool = True
    tokenize: bool = True
    fim: bool = True
    files: bool = False
    heals: bool = True
    memory: bool = True
    replay: bool = True


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The identity of a model, so that a calibrator fitted to one is never used for another.

    Attributes
        parameters: how many there are.
        weights, tokenizer: SHA-256 in hex.
        runtime: name and version.
        cache: the number format of keys and values where it changes the answers (q8_0, q4_0), else empty.
        kin: 16 hex digits that all quantisations of one model share, and it alone; empty where that is not known.
    """

    name: str
    architecture: str
    parameters: int
    quantisation: str
    weights: str
    tokenizer: str
    runtime: str
    cache: str = ""
    kin: str = ""

    @property
    def id(self) -> str:
        """16 hex digits over weights, tokenizer and a quantised cache, by which calibrators are matched to models.

        A new version of the runtime does not change it, nor does a cache that is not quantised.
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
        """What it can do."""
        ...

    @property
    def layout(self) -> Layout:
        """How `fim` lays a prompt out; without fill-in-the-middle tokens it is "left_to_right"."""
        ...

    @property
    def chat_format(self) -> ChatFormat | None:
        """How it is asked in chat; None where it brings no template, or a server has it."""
        ...

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text. The spelling of a control token is text like any other."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, by the cheapest way that the model has."""
        return len(self.tokenize(text))

    def control(self, _name: str) -> int | None:
        """The id of the control token that is spelled so; None where there is none, or it can't be looked up."""
        return None

    def prompt_text(self, _prompt: Prompt) -> str | None:
        """A prompt as text, with control tokens spelled out; None where only a server knows it."""
        return None

    @property
    def on_gpu(self) -> bool | None:
        """Whether all of it is on a GPU; None of a server's, which does not tell how fast it reads."""
        return None

    def fim(self, prefix: str, suffix: str, extra: Sequence[tuple[str, str]] = (), path: str = "", begun: int | None = None) -> Prompt:
        """The prompt that asks for the text between prefix and suffix; a left-to-right layout leaves the suffix out.

        It ends before the pre-token at the cursor, which is `Prompt.held`.

        extra: path and text of pieces of other files, which go in front (`fim_families.in_front`). path: the file's own, used only where
        there are others. begun: how many characters at the end of prefix an anchored prompt's middle begins with; None for what stands on
        the cursor's line.
        """
        ...

    def left_to_right(self, text: str) -> Prompt:
        """The prompt that asks for what follows a text, without a layout and with nothing held back."""
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
        instead_of: Sequence[int] = (),
    ) -> Generation:
        """Continue the prompt until `stop`, the end of the text, a budget, or `cancel()` is true. temperature 0 is greedy.

        instead_of: tokens of an earlier greedy generation. All but the last are taken again, then the likeliest other than the last; from
        there on the text is greedy. Raises Unavailable where a server can't be held to tokens.

        on_token gets each token as it is decoded and the text up to it (whole characters). Where it returns true the generation ends
        (StopReason.CALLER), and the cache keeps all that was computed. Raises ContextTooLong where the prompt leaves no room for a token.
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

        At temperature 0 number i begins with the i-th most likely token and continues greedily, so that no two are alike; there are fewer
        than `count` where the vocabulary has fewer tokens. At another temperature number i is what `generate` gives with seed + i.
        on_token also gets the generation's number, and true ends only that one. time and cancel end all.
        """
        ...

    def replay(self, prompt: Prompt, text: str, *, stop: Stop | None, repeated: Sequence[str] = ()) -> Generation:
        """The generation that has this text, as if the model had written it greedily: a given text with the figures of each of its tokens.

        Its tokens are chosen by the rule of `replay.given_text`. Each has the figures of the distribution that a generation would have
        taken it from. So of a text that the model wrote greedily this gives the same tokens, and the same figures up to the backend's
        rounding.

        stop: the rule that ends the text; None for a text that was cut off at the end of a line, so that no token of its end counts
        (StopReason.TOKENS). repeated: what may stand behind the text before it ends, such as the rest of the cursor's line that a model
        repeats; the generation's text then has that behind it.

        Raises NotReplayable for a text that can't come about so, ContextTooLong, and Unavailable where a server can't.
        """
        ...

    def score(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        """log p of each continuation token given the prompt and those before it, in nats.

        Raises ContextTooLong, and Unavailable where a server can't.
        """
        ...

    def next_token_logprobs(self, prompt: Prompt, candidates: Sequence[str]) -> list[float]:
        """log p, in nats, that the first token of each candidate text comes next. Raises what `score` raises.

        Behind a generation (its prompt, its tokens, then the question's) only the question's own tokens are computed, and the cache still
        holds the generation afterwards. The same holds for `score`.
        """
        ...

    def close(self) -> None:
        """Free the memory. The model can't be used afterwards."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
