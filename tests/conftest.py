"""Fixtures that more than one room's tests use."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from tiny_gguf import write_tiny_gguf

# a slow machine is no wrong result
settings.register_profile("assay", deadline=None)
settings.load_profile("assay")


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole GGUF of random weights: f32, 2 layers, 512 tokens of context, fill-in-the-middle tokens."""
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")
