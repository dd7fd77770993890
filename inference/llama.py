"""A GGUF model in this process: the loop that takes tokens and keeps the exact log-probability of each."""

from __future__ import annotations

import functools
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import numpy as np

from .continuation import Continuation
from .distribution import Distribution, distribution
from .errors import (
    ContextTooLong,
    DecodeFailed,
    ModelClosed,
    OutOfMemory,
    SplitModel,
    UnknownLayout,
    UnreadableModel,
    UnsupportedArchitecture,
)
from .gguf_header import GGUFHeader, read_header
from .llama_session import CHUNK, KVType, Offload, Session, SessionOptions, runtime_name
from .llama_vocab import Vocabulary
from .model import (
    Cancel,
    Capabilities,
    Fingerprint,
    Generation,
    Layout,
    OnAlternative,
    OnToken,
    Prompt,
    StopReason,
    Timings,
    Token,
)
from .stops import Stop

# A context is as long as the model's own, but no longer than this unless the caller asks: its cache costs memory from the start.
DEFAULT_CONTEXT = 4096
_UNSAID_CONTEXT = 2048
# Our own key, for models trained to be asked suffix first: what is typed then changes only the prompt's end.
LAYOUT_KEY = "assay.fim.layout"
_LAYOUTS: tuple[Layout, ...] = ("psm", "spm")
# Rows of logits held at once while scoring, in numbers: 16 MiB of float32.
_LOGITS_AT_ONCE = 1 << 22
_NOT_CAUSAL = frozenset(
    {
        "bert",
        "clip",
        "jina-bert-v2",
        "jina-bert-v3",
        "modern-bert",
        "neo-bert",
        "nomic-bert",
        "nomic-bert-moe",
        "t5encoder",
        "wavtokenizer-dec",
    }
)

Watch = Callable[[], StopReason | None]
Choose = Callable[[Distribution], int]


class LlamaModel:
    """The `Model` protocol on llama.cpp. One call at a time; a call leaves its tokens in the cache for the next to reuse.

    n_ctx: tokens of context, None for the model's own (4,096 at most); gpu_layers: how many to offload, "auto" for all where the build
    can; threads: None for the CPUs that this process may use, hyper-threads not counted; flash_attention: None lets llama.cpp choose.
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
    ) -> None:
        self.path = Path(path)
        for name, value, least in (
            ("n_ctx", n_ctx, 1),
            ("threads", threads, 1),
            ("gpu_layers", None if gpu_layers == "auto" else gpu_layers, 0),
        ):
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}, it must be at least {least}")
        self.header = read_header(self.path)
        self._layout = _layout(self.path, self.header)
        self._context_length = _context_length(self.header, n_ctx)
        _refuse_what_can_not_work(self.path, self.header, self._context_length, kv_type)
        layers = None if gpu_layers == "auto" else gpu_layers
        options = SessionOptions(self._context_length, layers, threads or physical_cores(), kv_type, flash_attention)
        self._session: Session | None = Session(self.path, options)
        self._vocabulary = Vocabulary(self._session.llama, self._session.vocab)

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
        )

    @property
    def capabilities(self) -> Capabilities:
        """Everything; fill-in-the-middle where the metadata names its tokens."""
        return Capabilities(fim=self._vocabulary.fim is not None)

    @property
    def offload(self) -> Offload:
        """What runs on a GPU."""
        return self._open().offload

    @property
    def layout(self) -> Layout:
        """ "spm" where the metadata asks for it by `assay.fim.layout`, "psm" for any other model with fill-in-the-middle tokens."""
        return self._layout if self._vocabulary.fim else "left_to_right"

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text; the spelling of a control token is text like any other."""
        self._open()
        return self._vocabulary.tokenize(text)

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for; none for a control token."""
        self._open()
        return self._vocabulary.piece(token)

    def fim(self, prefix: str, suffix: str) -> Prompt:
        """The prompt for what stands between prefix and suffix: as psm pre, prefix, suf, suffix, mid; as spm pre, suf, suffix, mid, prefix.

        (Bavarian et al., arXiv 2207.14255, section 3, variant 2 of SPM.) Left to right it is the prefix alone.
        An empty left-to-right prompt begins with the token that stands between texts, for there must be one to continue.
        """
        self._open()
        vocabulary = self._vocabulary
        tokens = [*vocabulary.beginning]
        if vocabulary.fim:
            pre, suf, mid = vocabulary.fim
            if self.layout == "spm":
                tokens += [pre, suf, *vocabulary.tokenize(suffix), mid, *vocabulary.tokenize(prefix)]
            else:
                tokens += [pre, *vocabulary.tokenize(prefix), suf, *vocabulary.tokenize(suffix), mid]
            return Prompt(tuple(tokens), self.layout)
        tokens += vocabulary.tokenize(prefix)
        return Prompt(tuple(tokens or [vocabulary.separator]), "left_to_right")

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
        _check_sampling(max_tokens, temperature, top_p)
        return self._generate(prompt, _sampler(temperature, top_p, seed), stop, max_tokens, max_ms, cancel, on_token)

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
        """`count` generations of one prompt. temperature 0: number i begins with the i-th most likely token. See `Model.alternatives`."""
        _check_sampling(max_tokens, temperature, top_p)
        if count < 1:
            raise ValueError(f"count is {count}, it must be at least 1")
        begun = time.perf_counter()
        made = []
        for number in range(count if temperature > 0 else min(count, self._open().vocab_size)):
            choose = _sampler(temperature, top_p, seed + number) if temperature > 0 else _greedy_from(number)
            each = None if on_token is None else functools.partial(on_token, number)
            left = None if max_ms is None else max_ms - (time.perf_counter() - begun) * 1000
            made.append(self._generate(prompt, choose, stop, max_tokens, left, cancel, each))
        return made

    def _generate(
        self,
        prompt: Prompt,
        choose: Choose,
        stop: Stop,
        max_tokens: int,
        max_ms: float | None,
        cancel: Cancel | None,
        on_token: OnToken | None,
    ) -> Generation:
        begun = time.perf_counter()
        room = self._room(prompt)
        watch = _watch(cancel, None if max_ms is None else begun + max_ms / 1000)
        session = self._open()
        reused = session.keep_common(prompt.tokens, len(prompt.tokens) - 1)
        stopped = self._read(prompt.tokens, watch)
        read = time.perf_counter()
        continuation = Continuation(stop, min(max_tokens, room), on_token)
        while stopped is None:
            row = self._distribution(-1)
            chosen = choose(row)
            token = Token(chosen, self._vocabulary.piece(chosen), row.logprob(chosen), row.best_other_logprob(chosen), row.entropy())
            stopped = continuation.add(token, self._vocabulary.ends(chosen)) or watch()
            if stopped is None:
                session.extend([chosen])
        timings = Timings((read - begun) * 1000, (time.perf_counter() - read) * 1000, len(prompt.tokens), reused)
        return continuation.generation(stopped, timings)

    def score(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        """log p of each continuation token given the prompt and those before it, in nats.

        Raises ContextTooLong, OutOfMemory, DecodeFailed; ValueError for a token that the vocabulary does not have.
        """
        self._room(prompt, len(continuation))
        if not continuation:
            return []
        self._check_tokens(continuation)
        session = self._open()
        before = len(prompt.tokens) - 1
        session.keep_common(prompt.tokens, before)
        self._read(prompt.tokens[:before], _unwatched)
        given = [prompt.tokens[-1], *continuation[:-1]]
        step = max(1, min(CHUNK, _LOGITS_AT_ONCE // session.vocab_size))
        scores: list[float] = []
        for start in range(0, len(given), step):
            chunk = given[start : start + step]
            session.extend(chunk, every_row=True)
            scores += [self._distribution(index).logprob(continuation[start + index]) for index in range(len(chunk))]
        return scores

    def next_token_logprobs(self, prompt: Prompt, candidates: Sequence[str]) -> list[float]:
        """log p that the first token of each candidate text comes next, in nats.

        Raises ContextTooLong, OutOfMemory, DecodeFailed; ValueError for an empty candidate.
        """
        self._room(prompt)
        first = [self._vocabulary.tokenize(candidate)[:1] for candidate in candidates]
        if not all(first):
            raise ValueError("an empty candidate has no first token")
        self._open().keep_common(prompt.tokens, len(prompt.tokens) - 1)
        self._read(prompt.tokens, _unwatched)
        row = self._distribution(-1)
        return [row.logprob(token) for (token,) in first]

    def forget(self) -> None:
        """Empty the cache, so that the next call decodes its whole prompt."""
        self._open().keep_common((), 0)

    def close(self) -> None:
        """Give the memory back; the model can't be used after. A second time does nothing."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _open(self) -> Session:
        if self._session is None:
            raise ModelClosed(self.path)
        return self._session

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
        size = self._open().vocab_size
        if tokens and not (min(tokens) >= 0 and max(tokens) < size):
            raise ValueError(f"a token id is outside of the vocabulary of {size:,}")

    def _read(self, tokens: Sequence[int], watch: Watch) -> StopReason | None:
        """Decode what the cache does not hold of `tokens`, chunk by chunk; why it was broken off, or None where all was read."""
        session = self._open()
        stopped: StopReason | None = None

        def interrupted() -> bool:
            nonlocal stopped
            stopped = watch()
            return stopped is not None

        for start in range(len(session.tokens), len(tokens), CHUNK):
            if interrupted() or not session.extend(tokens[start : start + CHUNK], interrupted if watch is not _unwatched else None):
                return stopped
        return watch()

    def _distribution(self, index: int) -> Distribution:
        session = self._open()
        row = distribution(session.row(index), session.work)
        if row is None:
            raise DecodeFailed(self.path, "the model's output is not a number")
        return row


def _check_sampling(max_tokens: int, temperature: float, top_p: float) -> None:
    if max_tokens < 1 or temperature < 0 or not 0 < top_p <= 1:
        raise ValueError(f"max_tokens {max_tokens}, temperature {temperature}, top_p {top_p}: at least 1, at least 0, in (0, 1]")


def _sampler(temperature: float, top_p: float, seed: int) -> Choose:
    """How a generation takes its tokens; temperature 0 is greedy."""
    if temperature == 0:
        return lambda row: row.top
    random = np.random.default_rng(seed)
    return lambda row: row.sample(temperature, top_p, random)


def _greedy_from(rank: int) -> Choose:
    """The token of this rank first (0 is the most likely), then the most likely each time."""
    ranks = iter([rank])
    return lambda row: row.ranked(next(ranks, 0))


def _unwatched() -> None:
    return None


def _watch(cancel: Cancel | None, deadline: float | None) -> Watch:
    if cancel is None and deadline is None:
        return _unwatched

    def watch() -> StopReason | None:
        if cancel is not None and cancel():
            return StopReason.CANCELLED
        return StopReason.TIME if deadline is not None and time.perf_counter() >= deadline else None

    return watch


def _layout(path: Path, header: GGUFHeader) -> Layout:
    asked = header.metadata.get(LAYOUT_KEY, "psm")
    for layout in _LAYOUTS:
        if asked == layout:
            return layout
    raise UnknownLayout(path, LAYOUT_KEY, asked, " and ".join(_LAYOUTS))


def _context_length(header: GGUFHeader, n_ctx: int | None) -> int:
    trained = header.context_length
    if n_ctx is None:
        return min(trained or _UNSAID_CONTEXT, DEFAULT_CONTEXT)
    if trained is not None and n_ctx > trained:
        raise ContextTooLong(n_ctx, trained, f"n_ctx={n_ctx:,}")
    return n_ctx


def _refuse_what_can_not_work(path: Path, header: GGUFHeader, n_ctx: int, kv_type: KVType) -> None:
    if header.architecture in _NOT_CAUSAL:
        raise UnsupportedArchitecture(path, f'the architecture "{header.architecture}" does not generate text')
    if header.number("split.count", 1) > 1:
        raise SplitModel(path, header.number("split.count", 1))
    if not hasattr(os, "sysconf"):
        return
    cache = header.cache_bytes(n_ctx, 4 if kv_type == "f32" else 2)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if cache > memory:
        raise OutOfMemory(path, f"the cache of {n_ctx:,} tokens takes {cache / 2**30:,.1f} GiB, this machine has {memory / 2**30:,.1f}")


def physical_cores(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """CPUs that this process may use, a core's hyper-threads counted once; in a container no more than its share of time allows.

    quota: Linux's file of that share (cgroup v2): microseconds that may be used, or "max", and microseconds of the period.
    """
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores = len({_core(cpu) for cpu in usable})
    try:
        most, period = quota.read_text().split()
        cores = min(cores, int(most) // int(period))
    except (OSError, ValueError, ZeroDivisionError):
        pass  # no such file, or no limit
    return max(1, cores)


def _core(cpu: int) -> str:
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return str(cpu)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in hex, remembered in this process until its size or date changes. Raises UnreadableModel."""
    try:
        status = path.stat()
        return _hash_of(path.resolve(), status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise UnreadableModel(path, error.strerror or str(error)) from error


@functools.lru_cache(maxsize=64)
def _hash_of(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
