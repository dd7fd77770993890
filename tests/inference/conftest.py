from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.inference.llamacpp.model import LlamaModel

OpenTiny = Callable[[TinyModel], LlamaModel]


def open_exact(path: Path, n_ctx: int | None = None) -> LlamaModel:
    """As exact as llama.cpp can be: float32 cache, no flash attention; one thread, as the other cores may be busy."""
    return LlamaModel(path, n_ctx=n_ctx, threads=1, kv_type="f32", flash_attention=False)


@pytest.fixture(scope="session")
def tiny(tiny_gguf: Path) -> Iterator[LlamaModel]:
    with open_exact(tiny_gguf) as model:
        yield model


@pytest.fixture
def open_tiny(tmp_path: Path) -> Iterator[OpenTiny]:
    """Writes a tiny model and opens it; all are closed after the test."""
    with ExitStack() as opened:
        count = 0

        def open_one(model: TinyModel) -> LlamaModel:
            nonlocal count
            count += 1
            return opened.enter_context(open_exact(write_tiny_gguf(tmp_path / f"{count}.gguf", model)))

        yield open_one
