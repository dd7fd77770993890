"""Two tests that must fail. A run in which one of them passes was tampered with."""

from __future__ import annotations


def canary_first() -> None:
    """Fails by an assertion, before all other tests."""
    assert len("canary") == 0


def canary_last() -> None:
    """Fails by an exception, after all other tests."""
    raise RuntimeError("canary")
