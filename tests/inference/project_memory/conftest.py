"""The embedded model, for its vocabulary, and memories of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.opening import EMBEDDED
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.weights import shipped_weights


@pytest.fixture(scope="session")
def embedded() -> Iterator[LlamaModel]:
    with LlamaModel(EMBEDDED, threads=1) as model:
        yield model


@pytest.fixture
def memory(embedded: LlamaModel) -> ProjectMemory:
    return ProjectMemory(embedded, shipped_weights().for_model(embedded.fingerprint.id))
