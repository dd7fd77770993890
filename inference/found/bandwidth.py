"""How fast this machine goes through a model's weights. Each token that a model writes needs all of them once."""

from __future__ import annotations

import functools
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ..llamacpp.threads import fast_cores

# More than the caches of most processors hold, read in pieces so short that a piece is seldom interrupted.
_BYTES = 1 << 28
_PIECE = 1 << 22
# What a core computes with at most, in bytes of Q8_0 weights a second: 120M and 500M with two threads in docs/performance.md. Where the
# memory gives more than the cores take, they are the bound.
_PER_CORE = 1e10
# Of a prompt, parameters times tokens a second: the same page has 208 tokens/s of 500M and 814 of 120M.
_PROMPT_PER_CORE = 5e10


def reading_speed() -> float:
    """About how many bytes of weights a second the processors go through: as the memory gives them, or as the cores compute with them."""
    return min(memory_bandwidth(), fast_cores() * _PER_CORE)


def prompt_speed() -> float:
    """About how many parameters times tokens of a prompt the processors go through in a second."""
    return fast_cores() * _PROMPT_PER_CORE


@functools.cache
def memory_bandwidth() -> float:
    """Bytes a second that the cores read together, measured once in a process for a fraction of a second.

    Each core's is the median over pieces, so what else the machine does hardly counts.
    """
    threads = fast_cores()
    parts = [np.zeros(_BYTES // threads // 8, dtype=np.uint64) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: part.fill(1), parts))  # memory that was never written has no place yet
        return sum(pool.map(_rate, parts))


def runs_on_gpu() -> bool:
    """Whether llama.cpp here puts models on a GPU, whose memory is another; False where llama.cpp is not installed."""
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError):  # its library may be there and not loadable
        return False
    return bool(llama_cpp.llama_supports_gpu_offload())


def _rate(part: NDArray[np.uint64]) -> float:
    times = []
    pieces = np.array_split(part, max(1, part.nbytes // _PIECE))
    for piece in pieces:
        began = time.perf_counter()
        piece.max()
        times.append(time.perf_counter() - began)
    return pieces[0].nbytes / statistics.median(times)
