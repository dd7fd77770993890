"""No test sends the user's key."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_API_KEY", raising=False)
