from __future__ import annotations

from collections.abc import Iterator

import pytest
from study_runs import isolation_here

from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.analysis.sandbox.judging.python import PythonSandbox


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of the user's is sent to a server of these tests."""
    monkeypatch.delenv("ASSAY_API_KEY", raising=False)


@pytest.fixture(scope="session")
def isolated() -> Isolation:
    return isolation_here()


@pytest.fixture(scope="module")
def sandbox(isolated: Isolation) -> Iterator[PythonSandbox]:
    with PythonSandbox(Jail(isolated)) as made:
        yield made
