"""The paper's numbers on translation and reproduction, from lin2024.toml."""

from __future__ import annotations

from ...papers import Paper, paper_of


def paper() -> Paper:
    """The paper."""
    return paper_of(__package__, "lin2024")
