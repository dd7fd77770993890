"""Memories of the embedded model."""

from __future__ import annotations

import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.project_memory.memory import ProjectMemory
from assay.inference.project_memory.weights import shipped_weights


@pytest.fixture
def memory(embedded: LlamaModel) -> ProjectMemory:
    return ProjectMemory(embedded, shipped_weights().for_model(embedded.fingerprint.id))
