"""llama.cpp through llama-cpp-python's low-level API: the loaded weights, and a context whose cells sequences of tokens share.

A sequence is a number and the tokens that were decoded for it, at positions 0, 1, 2, …. A cell holds the keys and values of one token
and may belong to several sequences. cache.py keeps account of which sequence holds which tokens.
"""

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CacheNotPossible, ComputationFailed, LoadFailed, OutOfMemory, PackageMissing, UnsupportedArchitecture
from ..model import KVType
from .threads import ThreadController, ThreadsInUse, fast_cores, most_running, physical_cores

Interrupted = Callable[[], bool]
State = NDArray[np.uint8]

# Tokens of a prompt that are decoded between two checks whether the caller still wants it.
CHUNK = 128
# Sequences beside the live one, and the cells that they may take beyond the context's length.
FORKS = 8
FORK_CELLS = 512
# Bytes of a number in the cache. Quantised ones come in blocks of 32 with one scale of two bytes.
BYTES_OF_KV: dict[KVType, float] = {"f32": 4, "f16": 2, "q8_0": 34 / 32, "q4_0": 18 / 32}
QUANTISED_KV: tuple[KVType, ...] = ("q8_0", "q4_0")
# Rows of logits held at once, in numbers: 16 MiB of float32.
_LOGITS_AT_ONCE = 1 << 22
_WARNING, _CONTINUED = 3, 5
_ABORTED = 2
_SECONDS_BETWEEN_CHECKS = 0.0005
_MEMORY_WORDS = ("allocate", "out of memory", "bad_alloc", "bad alloc")


@dataclass(frozen=True, slots=True)
class Offload:
    """What runs on a GPU: `layers` of `total`, the output layer counted as one. supported: whether this build and machine can offload."""

    layers: int
    total: int
    supported: bool


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a model is opened.

    n_ctx: tokens of a sequence. chunk: tokens that one decode takes. gpu_layers: None for all where the build can.
    flash_attention: None for where it is faster. threads: None for as many as are fastest at the moment.
    """

    n_ctx: int
    gpu_layers: int | None
    threads: int | None
    kv_type: KVType
    flash_attention: bool | None
    chunk: int


class _Log:
    """llama.cpp's log. It is kept off the terminal, and its last warnings and errors go into the messages of exceptions."""

    def __init__(self, llama: Any) -> None:
        self._lines: deque[str] = deque(maxlen=30)
        self._level = 0
        # ctypes frees a callback that nothing refers to, but llama.cpp continues to call it.
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

    def mentions_memory(self) -> bool:
        return any(word in line.lower() for line in self._lines for word in _MEMORY_WORDS)


@functools.cache
def runtime() -> tuple[Any, _Log]:
    """Start llama.cpp, once. Returns llama-cpp-python's module of low-level functions and its log. Raises PackageMissing."""
    # How long a thread of GNU's OpenMP spins before it sleeps. It must outlast the work between two decodes (50 us), or each decode has to
    # wake it first (80 us more). Much longer, and on a busy machine threads spin while the one they wait for can't run. Tokens a second of
    # the embedded model, alone and beside three busy processes: docs/performance.md.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    # A failed assertion would otherwise start a debugger to print where it was.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    try:
        llama = importlib.import_module("llama_cpp")
    except (ImportError, OSError, RuntimeError) as error:
        raise PackageMissing("llama-cpp-python", error, "llama-cpp-python>=0.3.36,<0.4") from error
    log = _Log(llama)
    llama.llama_backend_init()
    return llama, log


def runtime_name() -> str:
    """The runtime and its version, for a fingerprint. Raises PackageMissing."""
    return f"llama.cpp via llama-cpp-python {runtime()[0].__version__}"


class Session:
    """Loaded weights and a context of sequences 0 to `forks`.

    Attributes
        chunk: tokens that one decode takes.
        rows: rows of logits that one decode gives.
        cells: tokens that all sequences hold together.
        can_cut: whether the end of a sequence can be cut off (a recurrent state can't be).
        can_cut_loaded: the same for a sequence that was saved and loaded (of a sliding window only what the last token sees is saved).

    Raises ModelError: OutOfMemory and ComputationFailed while it computes, too.
    """

    def __init__(self, parts: Sequence[Path], options: SessionOptions) -> None:
        self.path = parts[0]
        self.llama, self._log = runtime()
        self._model: Any = None
        self._context: Any = None
        self._batch: Any = None
        self._interrupted: Interrupted | None = None
        self._raised: list[BaseException] = []
        self._last_check = 0.0
        self._threads = options.threads or fast_cores()
        self._most_running = most_running()
        self._controller: ThreadController | None = None
        try:
            self._load(parts, options)
            if options.threads is None and self.offload.layers < self.offload.total:
                self._controller = ThreadController(self._threads, physical_cores())
            self._make_context(options)
            self._make_batch()
        except BaseException:
            self.close()
            raise

    def _flash_attention(self, options: SessionOptions) -> int:
        """llama.cpp's number for off, on, or its own choice, which is on wherever it can be.

        On processors it takes up to 2.7 times as long for a token, and only prompts of large models are read a little faster
        (docs/performance.md).
        """
        if options.flash_attention is not None:
            return int(options.flash_attention)
        return 0 if self.offload.layers == 0 and options.kv_type not in QUANTISED_KV else -1

    def _load(self, parts: Sequence[Path], options: SessionOptions) -> None:
        llama = self.llama
        supported = bool(llama.llama_supports_gpu_offload())
        parameters = llama.llama_model_default_params()
        every_layer = 0x7FFF_FFFF
        wanted = every_layer if options.gpu_layers is None else options.gpu_layers
        parameters.n_gpu_layers = wanted if supported else 0
        # On processors with AMX llama.cpp lays weights out for it, and the process crashes on a tile configuration that the compiler
        # dropped as unused (ggml-org/llama.cpp, pull request 26954, open). So weights are not rearranged there.
        parameters.use_extra_bufts = b"AMX_INT8 = 1" not in llama.llama_print_system_info()
        self._log.clear()
        names = (ctypes.c_char_p * len(parts))(*map(os.fsencode, parts))
        self._model = llama.llama_model_load_from_splits(names, len(parts), parameters)
        if not self._model:
            raise self._refusal()
        if llama.llama_model_has_encoder(self._model) or not llama.llama_model_has_decoder(self._model):
            raise UnsupportedArchitecture(self.path, "the architecture does not continue a text from left to right")
        total = int(llama.llama_model_n_layer(self._model)) + 1
        self.offload = Offload(min(wanted, total) if supported else 0, total, supported)
        self.vocab = llama.llama_model_get_vocab(self._model)
        self.vocab_size = int(llama.llama_vocab_n_tokens(self.vocab))
        self.can_cut = not (llama.llama_model_is_recurrent(self._model) or llama.llama_model_is_hybrid(self._model))
        self.can_cut_loaded = self.can_cut and int(llama.llama_model_n_swa(self._model)) == 0

    def _refusal(self) -> Exception:
        last = self._log.last()
        if "unknown model architecture" in last:
            return UnsupportedArchitecture(self.path, f"llama.cpp says: {last}")
        if self._log.mentions_memory():
            return OutOfMemory(self.path, last)
        return LoadFailed(self.path, "llama.cpp", last)

    def _make_context(self, options: SessionOptions) -> None:
        llama = self.llama
        self.chunk, self.forks = options.chunk, FORKS
        self.rows = max(1 + FORKS, min(options.chunk, _LOGITS_AT_ONCE // self.vocab_size))
        parameters = llama.llama_context_default_params()
        parameters.n_ctx = options.n_ctx + FORK_CELLS
        parameters.n_batch = parameters.n_ubatch = max(options.chunk, 1 + FORKS)
        parameters.n_outputs_max = self.rows
        parameters.n_seq_max = 1 + FORKS
        parameters.kv_unified = True
        parameters.n_threads = parameters.n_threads_batch = self._threads
        parameters.type_k = parameters.type_v = getattr(llama, f"GGML_TYPE_{options.kv_type.upper()}")
        parameters.flash_attn_type = self._flash_attention(options)
        # Models with sliding windows then keep every position, so that a common prefix can be reused.
        parameters.swa_full = True
        parameters.no_perf = True
        self._log.clear()
        self._context = llama.llama_init_from_model(self._model, parameters)
        if not self._context:
            if self._log.mentions_memory():
                raise OutOfMemory(self.path, self._log.last())
            if options.kv_type in QUANTISED_KV:
                raise CacheNotPossible(self.path, options.kv_type, self._log.last())
            raise LoadFailed(self.path, "llama.cpp", self._log.last())
        self._memory = llama.llama_get_memory(self._context)
        self.cells = int(llama.llama_n_ctx(self._context))

    def _make_batch(self) -> None:
        llama = self.llama
        size = max(self.chunk, 1 + FORKS)
        self._batch = llama.llama_batch_init(size, 0, 1)
        self._batch_tokens = np.ctypeslib.as_array(self._batch.token, (size,))
        self._batch_positions = np.ctypeslib.as_array(self._batch.pos, (size,))
        self._batch_logits = np.ctypeslib.as_array(self._batch.logits, (size,))
        np.ctypeslib.as_array(self._batch.n_seq_id, (size,))[:] = 1
        # llama.cpp has a pointer to each token's sequences; here they point into one array, which is filled at once.
        self._batch_sequences = np.zeros(size, dtype=np.int32)
        self._pointers = np.ctypeslib.as_array(ctypes.cast(self._batch.seq_id, ctypes.POINTER(ctypes.c_size_t)), (size,))
        self._own_pointers = self._pointers.copy()
        self._pointers[:] = self._batch_sequences.ctypes.data + np.arange(size) * self._batch_sequences.itemsize
        self._row_of_logits = ctypes.c_float * self.vocab_size
        # Made once: ctypes makes machine code for each callback.
        self._abort_callback = llama.ggml_abort_callback(self._should_abort)
        self._no_callback = llama.ggml_abort_callback()

    @property
    def threads(self) -> ThreadsInUse:
        """How many threads decode at the moment."""
        return self._controller.in_use() if self._controller else ThreadsInUse(self._threads, self._threads, self._threads, None)

    @property
    def leaves_a_core(self) -> bool:
        """Whether this process may run more threads than decode at the moment."""
        return self._threads < self._most_running

    def decode(self, sequence: int, start: int, tokens: Sequence[int], rows_from: int, interrupted: Interrupted | None = None) -> bool:
        """Decode at most `chunk` tokens of one sequence from position `start`. False where `interrupted` ended it.

        Afterwards `row(i)` gives the logits behind token i of these, from rows_from on. After False or an exception the caller must cut
        the sequence back to `start`.
        """
        count = len(tokens)
        self._batch_tokens[:count] = tokens
        self._batch_positions[:count] = range(start, start + count) if count < 8 else np.arange(start, start + count)
        self._batch_sequences[:count] = sequence
        self._batch_logits[:count] = 0
        self._batch_logits[rows_from:count] = 1
        return self._decode(count, interrupted if count > 1 else None)

    def decode_each(
        self, sequences: Sequence[int], positions: Sequence[int], tokens: Sequence[int], interrupted: Interrupted | None = None
    ) -> bool:
        """Decode one token for each of several sequences. False where `interrupted` ended it.

        Afterwards `row(i)` gives the logits of the i-th. After False the caller must cut the sequences.
        """
        count = len(tokens)
        self._batch_tokens[:count] = tokens
        self._batch_positions[:count] = positions
        self._batch_sequences[:count] = sequences
        self._batch_logits[:count] = 1
        return self._decode(count, interrupted if count > 1 else None)

    def _decode(self, count: int, interrupted: Interrupted | None) -> bool:
        self._batch.n_tokens = count
        self._log.clear()
        self._set_threads(count)
        began = time.perf_counter()
        status = self._decode_interruptibly(interrupted) if interrupted else int(self.llama.llama_decode(self._context, self._batch))
        if status == 0:
            if self._controller:
                self._controller.took(count, time.perf_counter() - began)
            return True
        if status == _ABORTED:
            return False
        if self._log.mentions_memory():
            raise OutOfMemory(self.path, self._log.last())
        raise ComputationFailed(self.path, "llama.cpp", f"status {status}. {self._log.last()}")

    def _set_threads(self, count: int) -> None:
        if self._controller and (threads := self._controller.threads(count)) != self._threads:
            self._threads = threads
            self.llama.llama_set_n_threads(self._context, threads, threads)

    def _decode_interruptibly(self, interrupted: Interrupted) -> int:
        """Decode, and ask between ggml's operations whether to abort. Raises what `interrupted` raises, which ctypes would swallow."""
        self._interrupted, self._last_check = interrupted, time.monotonic()
        self.llama.llama_set_abort_callback(self._context, self._abort_callback, None)
        try:
            status = int(self.llama.llama_decode(self._context, self._batch))
        finally:
            self.llama.llama_set_abort_callback(self._context, self._no_callback, None)
            self._interrupted = None
        if self._raised:
            first = self._raised[0]
            self._raised.clear()
            raise first
        return status

    def _should_abort(self, _data: object) -> bool:
        try:  # around all of it: Ctrl-C comes anywhere, and ctypes would swallow it
            now = time.monotonic()
            if self._raised or self._interrupted is None or now - self._last_check < _SECONDS_BETWEEN_CHECKS:
                return bool(self._raised)
            self._last_check = now
            return self._interrupted()
        except BaseException as error:
            self._raised.append(error)
            return True

    def row(self, index: int) -> NDArray[np.float32]:
        """The logits behind a token of the last decode, as a view that the next decode overwrites."""
        pointer = self.llama.llama_get_logits_ith(self._context, index)
        if not pointer:
            raise ComputationFailed(self.path, "llama.cpp", f"there are no logits. {self._log.last()}")
        # Several times faster than numpy.ctypeslib's way.
        memory: Any = self._row_of_logits.from_address(ctypes.addressof(pointer.contents))
        return np.frombuffer(memory, dtype=np.float32)

    def cut(self, sequence: int, start: int) -> bool:
        """Remove a sequence's tokens from position `start` on. False where the model can't; then nothing is removed."""
        return bool(self.llama.llama_memory_seq_rm(self._memory, sequence, start, -1))

    def copy(self, source: int, target: int, start: int = -1, end: int = -1) -> None:
        """Let the target share the source's tokens from position `start` to `end` (-1: from the first, to the last). No keys are copied."""
        self.llama.llama_memory_seq_cp(self._memory, source, target, start, end)

    def first_position(self, sequence: int) -> int:
        """The position of a sequence's first token, -1 of an empty one."""
        return int(self.llama.llama_memory_seq_pos_min(self._memory, sequence))

    def clear(self) -> None:
        """Empty all sequences."""
        self.llama.llama_memory_clear(self._memory, False)

    def save(self, sequence: int) -> State:
        """A copy of a sequence's keys and values; empty where the model can't give one."""
        size = int(self.llama.llama_state_seq_get_size(self._context, sequence))
        state = np.empty(size, dtype=np.uint8)
        written = int(self.llama.llama_state_seq_get_data(self._context, _bytes_at(state), size, sequence))
        return state[:written]

    def load(self, sequence: int, state: State) -> bool:
        """Put what `save` gave into an empty sequence; False where it does not fit."""
        return bool(self.llama.llama_state_seq_set_data(self._context, _bytes_at(state), state.nbytes, sequence))

    def close(self) -> None:
        """Free everything; a second time does nothing."""
        llama = self.llama
        if self._batch is not None:
            self._pointers[:] = self._own_pointers
            llama.llama_batch_free(self._batch)
        if self._context:
            llama.llama_free(self._context)
        if self._model:
            llama.llama_model_free(self._model)
        self._batch = self._context = self._model = None
        # The callback refers to this object: it would outlive its last user until a collection of cycles.
        self._abort_callback = None


def _bytes_at(state: State) -> Any:
    return ctypes.cast(state.ctypes.data, ctypes.POINTER(ctypes.c_uint8))
