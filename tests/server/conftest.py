from __future__ import annotations

from pathlib import Path

import pytest
from tiny_gguf import scripted, write_tiny_gguf


@pytest.fixture(scope="session")
def answering_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that continues every text that ends in "?" with " answer" and a line's end."""
    return write_tiny_gguf(tmp_path_factory.mktemp("answering") / "answering.gguf", scripted(b" answer", b"\n"))
