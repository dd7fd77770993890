"""A GGUF model in this process: the `Model` protocol on llama.cpp."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..completion.fim_families import family_of, front_tokens, in_front
from ..cores import physical_cores
from ..distribution import Distribution, distribution
from ..errors import CacheNotPossible, ContextTooLong, DecodeFailed, ModelClosed, ShiftNotPossible
from ..file_hash import file_sha256
from ..model import Cancel, Capabilities, Fingerprint, Generation, KVType, Layout, OnAlternative, OnToken, Prompt, StopReason, Timings
from ..stopping.continuation import Continuation
from ..stopping.limits import Watch, check_sampling, unwatched, watcher
from ..stopping.stops import Stop
from .cache import Cache, CacheOptions, Reading
from .file import context_length_of, layout_of, refuse_what_can_not_work
from .generation import Alternative, alone, greedy_from, sampler, together
from .gguf_header import read_header
from .session import BYTES_OF_KV, CHUNK, QUANTISED_KV, Offload, Session, SessionOptions, runtime_name
from .vocabulary import Vocabulary

# What is kept of prompts that are not the current one's beginning.
PARKED_BYTES = 256 << 20
PARKED_SEQUENCES = 8


class LlamaModel:
    """The `Model` protocol on llama.cpp. One call at a time; a call leaves its tokens in the cache for the next to reuse.

    n_ctx: tokens of context, None for the model's own (4,096 at most); gpu_layers: how many to offload, "auto" for all where the build
    can; threads: None for the CPUs that this process may use, hyper-threads not counted; kv_type: numbers of the cache of keys and values
    (q8_0 and q4_0 need flash attention and heads of a multiple of 32); flash_attention: None lets llama.cpp choose; chunk: tokens of a
    prompt that are decoded at once, which a cancel may have to wait for on a GPU; parked_bytes, parked_sequences: how much of prompts
    that are not the current one's beginning is kept in memory for when they come back.

    shift_tokens: runs of at least so many tokens that stand at other positions than before, because text was inserted or deleted in front
    of them, are moved instead of computed again. What was computed of them came from the old text, so log-probabilities are then
    *approximate*, and a calibrator fitted on exact ones does not hold: None, the default, never moves any. `Timings.shifted_tokens` tells.

    Raises every class of `errors` but ModelClosed on opening. `offload` says what was offloaded, `header` what the file says.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        n_ctx: int | None = None,
        gpu_layers: int | Literal["auto"] = "auto",
        threads: int | None = None,
        kv_type: KVType = "f16",
        flash_attention: bool | None = None,
        chunk: int = CHUNK,
        shift_tokens: int | None = None,
        parked_bytes: int = PARKED_BYTES,
        parked_sequences: int = PARKED_SEQUENCES,
    ) -> None:
        self.path = Path(path)
        for name, value, least in (
            ("n_ctx", n_ctx, 1),
            ("threads", threads, 1),
            ("gpu_layers", None if gpu_layers == "auto" else gpu_layers, 0),
            ("chunk", chunk, 1),
            ("shift_tokens", shift_tokens, 1),
            ("parked_bytes", parked_bytes, 0),
            ("parked_sequences", parked_sequences, 0),
        ):
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}, it must be at least {least}")
        if kv_type not in BYTES_OF_KV:
            raise ValueError(f"kv_type is {kv_type!r}, it must be one of {', '.join(BYTES_OF_KV)}")
        if kv_type in QUANTISED_KV and flash_attention is False:
            raise CacheNotPossible(self.path, kv_type, "llama.cpp computes it with flash attention only, and that is turned off")
        self.header = read_header(self.path)
        self._layout = layout_of(self.path, self.header)
        self._context_length = context_length_of(self.header, n_ctx)
        refuse_what_can_not_work(self.path, self.header, self._context_length, kv_type)
        layers = None if gpu_layers == "auto" else gpu_layers
        options = SessionOptions(self._context_length, layers, threads or physical_cores(), kv_type, flash_attention, chunk)
        session = Session(self.path, options)
        if shift_tokens and not session.can_shift:
            session.close()
            raise ShiftNotPossible(self.path)
        self._kv_type = kv_type
        self._cache: Cache | None = Cache(session, CacheOptions(parked_bytes, parked_sequences, shift_tokens))
        self._vocabulary = Vocabulary(session.llama, session.vocab)
        # Where each row of logits becomes a distribution, so that a token costs no new memory.
        self._work = np.empty((2, session.vocab_size), dtype=np.float32)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def context_length(self) -> int:
        """Tokens that prompt and generation may have together."""
        return self._context_length

    @property
    def fingerprint(self) -> Fingerprint:
        """What the model is; the file is hashed at the first call (a second or so for each 2 GB). Raises UnreadableModel."""
        header = self.header
        return Fingerprint(
            name=str(header.metadata.get("general.name", self.path.stem)),
            architecture=header.architecture,
            parameters=header.parameters,
            quantisation=header.quantisation,
            weights=file_sha256(self.path),
            tokenizer=header.tokenizer,
            runtime=runtime_name(),
            cache=self._kv_type if self._kv_type in QUANTISED_KV else "",
        )

    @property
    def capabilities(self) -> Capabilities:
        """Everything; fill-in-the-middle where the metadata names its tokens."""
        return Capabilities(fim=self._vocabulary.fim is not None)

    @property
    def offload(self) -> Offload:
        """What runs on a GPU."""
        return self._open().session.offload

    @property
    def layout(self) -> Layout:
        """ "spm" where the metadata asks for it by `assay.fim.layout`, "psm" for any other model with fill-in-the-middle tokens."""
        return self._layout if self._vocabulary.fim else "left_to_right"

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text; the spelling of a control token is text like any other."""
        self._open()
        return self._vocabulary.tokenize(text)

    def control(self, name: str) -> int | None:
        """The id of the control token that is spelled so (e.g. "<|assay_judge|>"); None where the vocabulary has none."""
        self._open()
        return self._vocabulary.control(name)

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for; none for a control token."""
        self._open()
        return self._vocabulary.piece(token)

    def fim(self, prefix: str, suffix: str, extra: Sequence[tuple[str, str]] = (), path: str = "") -> Prompt:
        """The prompt for what stands between prefix and suffix: as psm pre, prefix, suf, suffix, mid; as spm pre, suf, suffix, mid, prefix.

        (Bavarian et al., arXiv 2207.14255, section 3, variant 2 of SPM.) Left to right it is the prefix alone.
        An empty left-to-right prompt begins with the token that stands between texts, for there must be one to continue. extra, path:
        pieces of other files, as `families.in_front` lays them out.
        """
        self._open()
        vocabulary = self._vocabulary
        tokens = [*vocabulary.beginning]
        if extra:
            family = family_of(vocabulary.control, str(self.header.metadata.get("general.name", ""))) if vocabulary.fim else None
            front = in_front(family, vocabulary.control, extra, path)
            prefix = front.text + prefix
            tokens += front_tokens(front, family, vocabulary.control, vocabulary.tokenize) if family else []
        if vocabulary.fim:
            pre, suf, mid = vocabulary.fim
            if self.layout == "spm":
                tokens += [pre, suf, *vocabulary.tokenize(suffix), mid, *vocabulary.tokenize(prefix)]
            else:
                tokens += [pre, *vocabulary.tokenize(prefix), suf, *vocabulary.tokenize(suffix), mid]
            return Prompt(tuple(tokens), self.layout)
        tokens += vocabulary.tokenize(prefix)
        return Prompt(tuple(tokens or [vocabulary.separator]), "left_to_right")

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
    ) -> Generation:
        """Continue the prompt until `stop`, the end of the text, a budget, `on_token` or `cancel()` is true. temperature 0 is greedy.

        max_ms counts from the call, the reading of the prompt included; cancel is asked from this thread, between tokens and within a
        chunk of the prompt. Raises ContextTooLong when the prompt leaves no room for one token, OutOfMemory, DecodeFailed.
        """
        begun = time.perf_counter()
        check_sampling(max_tokens, temperature, top_p)
        most = min(max_tokens, self._room(prompt))
        watch = watcher(cancel, max_ms, begun)
        continuation = Continuation(stop, most, on_token)
        reading, stopped = self._read(prompt, watch)
        read = time.perf_counter()
        if stopped is None:
            choose = sampler(temperature, top_p, seed)
            stopped = alone(self._open(), choose, continuation, self._vocabulary, self._distribution, watch)
        timings = Timings((read - begun) * 1000, (time.perf_counter() - read) * 1000, len(prompt.tokens), reading.reused, reading.shifted)
        return continuation.generation(stopped, timings)

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

        Else number i is what `generate` gives with seed + i, up to what other batch sizes change in llama.cpp's rounding. The next prompt
        finds the first one's tokens in the cache. More: `Model.alternatives`. Raises what `generate` raises.
        """
        begun = time.perf_counter()
        check_sampling(max_tokens, temperature, top_p)
        if count < 1:
            raise ValueError(f"count is {count}, it must be at least 1")
        most = min(max_tokens, self._room(prompt))
        watch = watcher(cancel, max_ms, begun)
        reading, stopped = self._read(prompt, watch)
        read = time.perf_counter()
        chooses = [sampler(temperature, top_p, seed + number) for number in range(count)]
        cache = self._open()
        if temperature == 0 and stopped is None:
            chooses = [greedy_from(token) for token in self._distribution(cache.row()).most_probable(count)]
        made = [
            Alternative(choose, Continuation(stop, most, None if on_token is None else functools.partial(on_token, number)))
            for number, choose in enumerate(chooses)
        ]
        if stopped is None:
            stopped = together(cache, made, most, self._vocabulary, self._distribution, watch)
        done = time.perf_counter()

        def timings(ended: float) -> Timings:
            return Timings((read - begun) * 1000, (ended - read) * 1000, len(prompt.tokens), reading.reused, reading.shifted)

        # Without a reason of its own, an alternative was ended by what ended all.
        return [each.continuation.generation(stopped or StopReason.TOKENS, timings(each.ended or done)) for each in made]

    def score(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        """log p of each continuation token given the prompt and those before it, in nats.

        Where half of the prompt or more is in the cache, it holds the same afterwards; else the prompt takes its place there.
        Raises ContextTooLong, OutOfMemory, DecodeFailed; ValueError for a token that the vocabulary does not have.
        """
        self._room(prompt, len(continuation))
        if not continuation:
            return []
        self._check_tokens(continuation)
        following = iter(continuation)
        return self._open().ask(
            [*prompt.tokens, *continuation[:-1]],
            len(prompt.tokens) - 1,
            lambda row: self._distribution(row).logprob(next(following)),
        )

    def next_token_logprobs(self, prompt: Prompt, candidates: Sequence[str]) -> list[float]:
        """log p that the first token of each candidate text comes next, in nats.

        Behind a generation it costs the question's own tokens; as for the cache, see `score`. Raises ContextTooLong, OutOfMemory,
        DecodeFailed; ValueError for an empty candidate.
        """
        self._room(prompt)
        first = [self._vocabulary.tokenize(candidate)[:1] for candidate in candidates]
        if not all(first):
            raise ValueError("an empty candidate has no first token")

        def take(row: NDArray[np.float32]) -> list[float]:
            here = self._distribution(row)
            return [here.logprob(token) for (token,) in first]

        return self._open().ask(prompt.tokens, len(prompt.tokens) - 1, take)[0]

    def forget(self) -> None:
        """Empty the cache, what is parked included, so that the next call decodes its whole prompt."""
        self._open().forget()

    def close(self) -> None:
        """Give the memory back; the model can't be used after. A second time does nothing."""
        if self._cache is not None:
            self._cache.forget()
            self._cache.session.close()
            self._cache = None

    def _open(self) -> Cache:
        if self._cache is None:
            raise ModelClosed(self.path)
        return self._cache

    def _room(self, prompt: Prompt, wanted: int = 1) -> int:
        """Tokens that the context has left behind the prompt, at least `wanted`."""
        self._check_tokens(prompt.tokens)
        if not prompt.tokens:
            raise ValueError("the prompt has no tokens: there is nothing to continue")
        room = self._context_length - len(prompt.tokens)
        if room < wanted:
            raise ContextTooLong(
                len(prompt.tokens) + wanted, self._context_length, f"a prompt of {len(prompt.tokens):,} tokens and {wanted:,} more"
            )
        return room

    def _check_tokens(self, tokens: Sequence[int]) -> None:
        size = self._open().session.vocab_size
        if tokens and not (min(tokens) >= 0 and max(tokens) < size):
            raise ValueError(f"a token id is outside of the vocabulary of {size:,}")

    def _read(self, prompt: Prompt, watch: Watch) -> tuple[Reading, StopReason | None]:
        """Read the prompt until `watch` says why not."""
        if watch is unwatched:
            return self._open().read(prompt.tokens), None
        stopped: StopReason | None = None

        def interrupted() -> bool:
            nonlocal stopped
            stopped = stopped or watch()
            return stopped is not None

        reading = self._open().read(prompt.tokens, interrupted)
        return reading, stopped or watch()

    def _distribution(self, logits: NDArray[np.float32]) -> Distribution:
        row = distribution(logits, self._work)
        if row is None:
            raise DecodeFailed(self.path, "the model's output is not a number")
        return row
