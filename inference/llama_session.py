"""llama.cpp through llama-cpp-python's low-level API: the loaded weights, their cache of keys and values, and decoding into it."""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import DecodeFailed, LoadFailed, OutOfMemory, RuntimeMissing, UnsupportedArchitecture

KVType = Literal["f16", "f32"]
Interrupted = Callable[[], bool]

# A chunk of a prompt: what is decoded between two looks at whether the caller still wants it.
CHUNK = 128
_WARNING, _CONTINUED = 3, 5
_ABORTED = 2
_SECONDS_BETWEEN_LOOKS = 0.002
_MEMORY_WORDS = ("allocate", "out of memory", "bad_alloc", "bad alloc")


@dataclass(frozen=True, slots=True)
class Offload:
    """What runs on a GPU: `layers` of `total` (the output layer counts as one); supported: whether this build and machine can at all."""

    layers: int
    total: int
    supported: bool


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a model is opened; gpu_layers and flash_attention None leave the choice to what the build can do."""

    n_ctx: int
    gpu_layers: int | None
    threads: int
    kv_type: KVType
    flash_attention: bool | None


class _Log:
    """llama.cpp's log, kept off the terminal; its last warnings and errors are there for an exception's message."""

    def __init__(self, llama: Any) -> None:
        self._lines: deque[str] = deque(maxlen=30)
        self._level = 0
        # ctypes frees a callback that nothing refers to, while llama.cpp goes on calling it.
        self._callback = llama.llama_log_callback(self._keep)
        llama.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _keep(self, level: int, text: bytes, _data: object) -> None:
        self._level = self._level if level == _CONTINUED else level
        if self._level >= _WARNING:
            self._lines.append(text.decode("utf-8", "replace").strip())

    def clear(self) -> None:
        self._lines.clear()

    def last(self, count: int = 3) -> str:
        lines = [line for line in dict.fromkeys(self._lines) if line]
        return "; ".join(lines[-count:])

    def tells_of_memory(self) -> bool:
        return any(word in line.lower() for line in self._lines for word in _MEMORY_WORDS)


@functools.cache
def runtime() -> tuple[Any, _Log]:
    """llama-cpp-python's module of low-level functions, started, and its log. Raises RuntimeMissing."""
    # How long a thread of GNU's OpenMP spins for the others before it sleeps. Two threads of the embedded model made, in tokens a second on
    # a quiet and on a busy machine: 2050 and 660 with this, 2050 and 10 at ten times as much, 200 and 670 with no spinning at all.
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    # A failed assertion would otherwise start a debugger to print where it was.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    try:
        llama = importlib.import_module("llama_cpp")
    except (ImportError, OSError, RuntimeError) as error:
        raise RuntimeMissing(str(error)) from error
    log = _Log(llama)
    llama.llama_backend_init()
    return llama, log


def runtime_name() -> str:
    """The runtime and its version, for a fingerprint. Raises RuntimeMissing."""
    return f"llama.cpp via llama-cpp-python {runtime()[0].__version__}"


class Session:
    """Loaded weights with one sequence in their cache; `tokens` is what the cache holds, always.

    Raises RuntimeMissing, UnsupportedArchitecture, OutOfMemory, LoadFailed on opening; OutOfMemory, DecodeFailed while computing.
    """

    def __init__(self, path: Path, options: SessionOptions) -> None:
        self.path = path
        self.llama, self._log = runtime()
        self.tokens: list[int] = []
        self._model: Any = None
        self._context: Any = None
        self._batch: Any = None
        try:
            self._load(options)
            self._make_context(options)
        except BaseException:
            self.close()
            raise

    def _load(self, options: SessionOptions) -> None:
        llama = self.llama
        supported = bool(llama.llama_supports_gpu_offload())
        parameters = llama.llama_model_default_params()
        every_layer = 0x7FFF_FFFF
        wanted = every_layer if options.gpu_layers is None else options.gpu_layers
        parameters.n_gpu_layers = wanted if supported else 0
        self._log.clear()
        self._model = llama.llama_model_load_from_file(os.fsencode(self.path), parameters)
        if not self._model:
            raise self._refusal()
        if llama.llama_model_has_encoder(self._model) or not llama.llama_model_has_decoder(self._model):
            raise UnsupportedArchitecture(self.path, "the architecture does not continue a text from left to right")
        total = int(llama.llama_model_n_layer(self._model)) + 1
        self.offload = Offload(min(wanted, total) if supported else 0, total, supported)
        self.vocab = llama.llama_model_get_vocab(self._model)
        self.vocab_size = int(llama.llama_vocab_n_tokens(self.vocab))

    def _refusal(self) -> Exception:
        last = self._log.last()
        if "unknown model architecture" in last:
            return UnsupportedArchitecture(self.path, f"llama.cpp says: {last}")
        if self._log.tells_of_memory():
            return OutOfMemory(self.path, last)
        return LoadFailed(self.path, last)

    def _make_context(self, options: SessionOptions) -> None:
        llama = self.llama
        parameters = llama.llama_context_default_params()
        parameters.n_ctx = options.n_ctx
        parameters.n_batch = parameters.n_ubatch = CHUNK
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = options.threads
        parameters.type_k = parameters.type_v = {"f32": llama.GGML_TYPE_F32, "f16": llama.GGML_TYPE_F16}[options.kv_type]
        parameters.flash_attn_type = -1 if options.flash_attention is None else int(options.flash_attention)
        # Models with sliding windows then keep every position, so that a common prefix can be reused.
        parameters.swa_full = True
        parameters.no_perf = True
        self._log.clear()
        self._context = llama.llama_init_from_model(self._model, parameters)
        if not self._context:
            raise OutOfMemory(self.path, self._log.last()) if self._log.tells_of_memory() else LoadFailed(self.path, self._log.last())
        self._memory = llama.llama_get_memory(self._context)
        self._batch = llama.llama_batch_init(CHUNK, 0, 1)
        self._batch_tokens = np.ctypeslib.as_array(self._batch.token, (CHUNK,))
        self._batch_positions = np.ctypeslib.as_array(self._batch.pos, (CHUNK,))
        self._batch_logits = np.ctypeslib.as_array(self._batch.logits, (CHUNK,))
        np.ctypeslib.as_array(self._batch.n_seq_id, (CHUNK,))[:] = 1
        for index in range(CHUNK):
            self._batch.seq_id[index][0] = 0
        self._work = np.empty((2, self.vocab_size))

    def keep_common(self, tokens: Sequence[int], at_most: int) -> int:
        """Keep of the cache what it has in common with the beginning of `tokens`, and no more than at_most; how many tokens that is."""
        common = 0
        for held, wanted in zip(self.tokens, tokens[:at_most], strict=False):
            if held != wanted:
                break
            common += 1
        self._forget_from(common)
        return len(self.tokens)

    def _forget_from(self, position: int) -> None:
        if self.llama.llama_memory_seq_rm(self._memory, 0, position, -1):
            del self.tokens[position:]
        else:
            # Recurrent states can't be cut: they are computed again from the start.
            self.llama.llama_memory_clear(self._memory, True)
            self.tokens.clear()

    def extend(self, tokens: Sequence[int], interrupted: Interrupted | None = None, *, every_row: bool = False) -> bool:
        """Decode at most CHUNK tokens behind those in the cache; False where `interrupted` ended it, and the cache is as before.

        Then `row(i)` has the logits after token i of these, if every_row, else only `row(-1)`.
        """
        count, start = len(tokens), len(self.tokens)
        self._batch.n_tokens = count
        self._batch_tokens[:count] = tokens
        self._batch_positions[:count] = np.arange(start, start + count)
        self._batch_logits[:count] = every_row
        self._batch_logits[count - 1] = True
        self._log.clear()
        if interrupted is None or count == 1:
            status = self.llama.llama_decode(self._context, self._batch)
        else:
            status = self._decode_watched(interrupted)
        if status == 0:
            self.tokens.extend(tokens)
            return True
        self._forget_from(start)
        if status == _ABORTED:
            return False
        raise (
            OutOfMemory(self.path, self._log.last())
            if self._log.tells_of_memory()
            else DecodeFailed(self.path, f"status {status}. {self._log.last()}")
        )

    def _decode_watched(self, interrupted: Interrupted) -> int:
        """Decode, and look every few milliseconds whether to abort. The look's own exception is raised here: ctypes would swallow it."""
        looked = time.monotonic()
        raised: list[BaseException] = []

        def look(_data: object) -> bool:
            nonlocal looked
            now = time.monotonic()
            if raised or now - looked < _SECONDS_BETWEEN_LOOKS:
                return bool(raised)
            looked = now
            try:
                return interrupted()
            except BaseException as error:
                raised.append(error)
                return True

        callback = self.llama.ggml_abort_callback(look)
        self.llama.llama_set_abort_callback(self._context, callback, None)
        try:
            status = int(self.llama.llama_decode(self._context, self._batch))
        finally:
            self.llama.llama_set_abort_callback(self._context, self.llama.ggml_abort_callback(), None)
        if raised:
            if status == 0:
                self.tokens.extend(self._batch_tokens[: self._batch.n_tokens].tolist())
            else:
                self._forget_from(len(self.tokens))
            raise raised[0]
        return status

    def row(self, index: int) -> NDArray[np.float32]:
        """The logits after a token of the last `extend`: a view that the next one overwrites."""
        pointer = self.llama.llama_get_logits_ith(self._context, index)
        if not pointer:
            raise DecodeFailed(self.path, f"there are no logits. {self._log.last()}")
        return np.ctypeslib.as_array(pointer, (self.vocab_size,))

    @property
    def work(self) -> NDArray[np.float64]:
        """Room for one `distribution`: 2 by vocabulary."""
        return self._work

    def close(self) -> None:
        """Free everything; a second time does nothing."""
        llama = self.llama
        if self._batch is not None:
            llama.llama_batch_free(self._batch)
        if self._context:
            llama.llama_free(self._context)
        if self._model:
            llama.llama_model_free(self._model)
        self._batch = self._context = self._model = None
        self.tokens.clear()
