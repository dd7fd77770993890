"""A GGUF model in this process: the `Model` protocol on llama.cpp."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from ..chat_format import ChatFormat
from ..completion.fim_families import Family, family_of, front_tokens, in_front, prefix_parts, separates_files
from ..distribution import Row
from ..errors import CacheNotPossible, ModelClosed, UnreadableModel
from ..file_hash import sha256_of_all
from ..generating import Generating
from ..local_model import LocalModel, T
from ..model import Capabilities, Fingerprint, KVType, Layout, Prompt, StopReason
from ..room import context_for
from ..stopping.cancel_or_timeout import StopCheck, never_stop
from .cache import Cache
from .generation import generate_several, looking_ahead
from .header_checks import check_can_run, layout_of, parts_of, read_parts
from .session import BYTES_OF_KV, CHUNK, QUANTISED_KV, Offload, Session, SessionOptions, runtime_name
from .threads import ThreadsInUse
from .vocabulary import Vocabulary

# Earlier prompts that are kept in memory for when they come back, at most.
PARKED_BYTES = 256 << 20
PARKED_SEQUENCES = 8


class LlamaModel(LocalModel):
    """The `Model` protocol on llama.cpp. One call at a time; a call leaves its tokens in the cache for the next to reuse.

    Parameters
        path: a file; of a model in several files any of them.
        n_ctx: tokens of context; None for the model's own (4,096 at most).
        gpu_layers: how many layers to offload; "auto" for all where the build can.
        threads: "auto" for as many as are fastest beside what else the machine does, for prompts and for generation apart.
        kv_type: number format of keys and values. q8_0 and q4_0 need flash attention and heads of a multiple of 32.
        flash_attention: None for off on processors, unless the cache needs it, and llama.cpp's choice on a GPU.
        chunk: tokens of a prompt that are decoded at once. On a GPU a cancel may have to wait for one.
        parked_bytes, parked_sequences: how much of earlier prompts is kept in memory for when they come back.

    Attributes
        header: what the file says of itself.
        offload: what runs on a GPU.

    Raises ModelError where it can't be opened.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        n_ctx: int | None = None,
        gpu_layers: int | Literal["auto"] = "auto",
        threads: int | Literal["auto"] = "auto",
        kv_type: KVType = "f16",
        flash_attention: bool | None = None,
        chunk: int = CHUNK,
        parked_bytes: int = PARKED_BYTES,
        parked_sequences: int = PARKED_SEQUENCES,
    ) -> None:
        self._parts = parts_of(Path(path))
        self.path = self._parts[0]
        self._opened = self._identity()
        known = {"threads": threads, "gpu_layers": gpu_layers, "n_ctx": n_ctx, "chunk": chunk}
        known |= {"parked_bytes": parked_bytes, "parked_sequences": parked_sequences}
        for name, value in known.items():
            least = 0 if name in ("gpu_layers", "parked_bytes", "parked_sequences") else 1
            if isinstance(value, int) and value < least:
                raise ValueError(f"{name} is {value}, it must be at least {least}")
        if kv_type not in BYTES_OF_KV:
            raise ValueError(f"kv_type is {kv_type!r}, it must be one of {', '.join(BYTES_OF_KV)}")
        if kv_type in QUANTISED_KV and flash_attention is False:
            raise CacheNotPossible(self.path, kv_type, "llama.cpp computes it with flash attention only, and that is turned off")
        self.header = read_parts(self._parts)
        self._layout = layout_of(self.path, self.header)
        context_length = context_for(self.header.context_length, n_ctx)
        check_can_run(self.path, self.header, context_length, kv_type)
        layers, at_most = None if gpu_layers == "auto" else gpu_layers, None if threads == "auto" else threads
        longest_chunk = min(chunk, context_length)  # a longer one only takes memory
        options = SessionOptions(context_length, layers, at_most, kv_type, flash_attention, longest_chunk)
        session = Session(self._parts, options)
        self._kv_type = kv_type
        self._cache: Cache | None = Cache(session, parked_bytes, parked_sequences)
        vocabulary = Vocabulary(session.llama, session.vocab)
        super().__init__(self.path, "llama.cpp", context_length, vocabulary)
        self._vocabulary: Vocabulary = vocabulary

    @functools.cached_property
    def fingerprint(self) -> Fingerprint:
        """What the model is; the file is hashed at the first call (a second or so for each 2 GB).

        Raises UnreadableModel, also where the file is no longer the one that was opened: its hash would be that of other weights.
        """
        header = self.header
        weights = sha256_of_all(self._parts)
        if self._identity() != self._opened:
            raise UnreadableModel(self.path, "it was replaced or changed while it was opened: open it again")
        return Fingerprint(
            name=str(header.metadata.get("general.name", self.path.stem)),
            architecture=header.architecture,
            parameters=header.parameters,
            quantisation=header.quantisation,
            weights=weights,
            tokenizer=header.tokenizer,
            runtime=runtime_name(),
            cache=self._kv_type if self._kv_type in QUANTISED_KV else "",
            kin="" if self._kv_type in QUANTISED_KV else header.kin,
        )

    def _identity(self) -> list[tuple[int, int, int]]:
        """What changes where a file is replaced or written to."""
        with contextlib.suppress(OSError):  # which reading it tells
            return [(found.st_ino, found.st_size, found.st_mtime_ns) for found in (part.stat() for part in self._parts)]
        return []

    @property
    def capabilities(self) -> Capabilities:
        """Everything; fill-in-the-middle where the metadata names its tokens."""
        return Capabilities(fim=self._vocabulary.fim is not None, files=separates_files(self._family, self._vocabulary.control))

    @functools.cached_property
    def _family(self) -> Family | None:
        vocabulary = self._vocabulary
        return family_of(vocabulary.control, str(self.header.metadata.get("general.name", ""))) if vocabulary.fim else None

    @property
    def offload(self) -> Offload:
        """What runs on a GPU."""
        return self._open().session.offload

    @property
    def on_gpu(self) -> bool:
        """Whether all layers are on a GPU."""
        return self.offload.layers == self.offload.total

    @property
    def threads(self) -> ThreadsInUse:
        """How many threads decode at the moment."""
        return self._open().session.threads

    @property
    def layout(self) -> Layout:
        """What the metadata asks for by `assay.fim.layout`, "anchored" for any other model with fill-in-the-middle tokens."""
        return self._layout if self._vocabulary.fim else "left_to_right"

    @property
    def chat_format(self) -> ChatFormat | None:
        """How it is asked in chat; None where the file has no template."""
        self._open()
        return self._vocabulary.chat_format(str(self.header.metadata.get("tokenizer.chat_template", "")))

    def control(self, name: str) -> int | None:
        """The id of the control token with this spelling (such as "<|assay_judge|>"), or None."""
        self._open()
        return self._vocabulary.control(name)

    @property
    def vocabulary_size(self) -> int:
        """How many tokens there are."""
        return self._open().session.vocab_size

    def fim(self, prefix: str, suffix: str, extra: Sequence[tuple[str, str]] = (), path: str = "", begun: int | None = None) -> Prompt:
        """See `Model.fim`.

        "spm" is variant 2 of Bavarian et al., arXiv 2207.14255, section 3: pre, suf, suffix, mid, prefix. An empty left-to-right prompt
        begins with the token that separates texts, because there must be one to continue.
        """
        self._open()
        vocabulary = self._vocabulary
        prefix, middle, held = prefix_parts(prefix, self.layout, begun, vocabulary.healing.split)
        tokens = [*vocabulary.beginning]
        if extra:
            family = self._family
            front = in_front(family, vocabulary.control, extra, path)
            prefix = front.text + prefix
            tokens += front_tokens(front, family, vocabulary.control, vocabulary.tokenize) if family else []
        if vocabulary.fim:
            pre, suf, mid = vocabulary.fim
            if self.layout == "spm":
                tokens += [pre, suf, *vocabulary.tokenize(suffix), mid, *vocabulary.tokenize(prefix)]
            else:
                tokens += [pre, *vocabulary.tokenize(prefix), suf, *vocabulary.tokenize(suffix), mid, *vocabulary.tokenize(middle)]
            return Prompt(tuple(tokens), self.layout, held=held)
        tokens += vocabulary.tokenize(prefix)
        return Prompt(tuple(tokens or [vocabulary.separator]), "left_to_right", held=held)

    def left_to_right(self, text: str) -> Prompt:
        """See `Model.left_to_right`."""
        self._open()
        vocabulary = self._vocabulary
        return Prompt((*vocabulary.beginning, *vocabulary.tokenize(text)) or (vocabulary.separator,), "left_to_right")

    def forget(self) -> None:
        """Empty the cache and drop what is parked, so that the next call decodes its whole prompt."""
        self._open().forget()
        self._replayed = None

    def close(self) -> None:
        """Free the memory. The model can't be used afterwards. A second call does nothing."""
        if self._cache is not None:
            self._cache.forget()
            self._cache.session.close()
            self._cache = None

    def _open(self) -> Cache:
        if self._cache is None:
            raise ModelClosed(self.path)
        return self._cache

    def _read(self, prompt: Prompt, stop_check: StopCheck) -> tuple[int, StopReason | None]:
        stopped: StopReason | None = None

        def interrupted() -> bool:
            nonlocal stopped
            stopped = stopped or stop_check()
            return stopped is not None

        reused = self._open().read(prompt.tokens, None if stop_check is never_stop else interrupted)
        return reused, stopped or stop_check()

    def _row(self) -> Row:
        return self._open().row()

    def _extend(self, token: int, several: Sequence[Generating]) -> None:
        cache = self._open()
        with looking_ahead(cache.session, several):
            cache.extend([token])

    def _go_on_together(self, several: Sequence[Generating], max_tokens: int, stop_check: StopCheck) -> StopReason | None:
        return generate_several(self._open(), several, max_tokens, stop_check)

    def _ask(self, tokens: Sequence[int], first: int, take: Callable[[Row], T]) -> list[T]:
        return self._open().ask(tokens, first, take)
