"""What the tests of repairs ask."""

from __future__ import annotations

import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.suggestion.repair.asking import Asking


@pytest.fixture(scope="session")
def asking(embedded: LlamaModel) -> Asking:
    return Asking(embedded)
