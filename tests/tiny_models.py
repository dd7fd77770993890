"""Tiny models, opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tiny_gguf import TinyModel

from assay.inference.llamacpp.model import LlamaModel

OpenTiny = Callable[[TinyModel], LlamaModel]


def open_exact(path: Path, n_ctx: int | None = None) -> LlamaModel:
    """As exact as llama.cpp can be: float32 cache, no flash attention; one thread, as the other cores may be busy."""
    return LlamaModel(path, n_ctx=n_ctx, threads=1, kv_type="f32", flash_attention=False)
