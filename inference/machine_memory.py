"""How much memory this machine has, and its GPU."""

from __future__ import annotations

import ctypes
import os

# ggml_backend_dev_type of ggml-backend.h: GPUs with a memory of their own, and those that share the machine's.
_GPUS = (1, 2)


def machine_memory() -> int | None:
    """Bytes of memory; None where the system does not tell."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None


def gpu_memory() -> int | None:
    """Bytes of memory of the largest GPU that llama.cpp here can use; None without one."""
    try:
        from llama_cpp._ggml import libggml
    except (ImportError, OSError, RuntimeError):  # its library may be there and not loadable
        return None
    get, memory = libggml.ggml_backend_dev_get, libggml.ggml_backend_dev_memory
    count, kind = libggml.ggml_backend_dev_count, libggml.ggml_backend_dev_type
    count.restype, get.restype, get.argtypes = ctypes.c_size_t, ctypes.c_void_p, [ctypes.c_size_t]
    kind.argtypes, memory.restype = [ctypes.c_void_p], None
    memory.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)]
    largest, free, total = 0, ctypes.c_size_t(), ctypes.c_size_t()
    for number in range(count()):
        if kind(device := get(number)) in _GPUS:
            memory(device, ctypes.byref(free), ctypes.byref(total))
            largest = max(largest, total.value)
    return largest or None
