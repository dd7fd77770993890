"""The Python that runs the tests of small projects."""

from __future__ import annotations

from pathlib import Path

import pytest
from bare_python import make_bare_python


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bare_python(tmp_path_factory.mktemp("environment"))
