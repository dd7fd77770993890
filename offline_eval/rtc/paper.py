"""The paper's numbers, from allamanis2024.toml, and the correlations that its Table 2 gives."""

from __future__ import annotations

from ...calibration.metrics.correlations import Correlations, correlations
from ..papers import Paper, paper_of

BENCHMARKS = ("HumanEval", "ARCADE")


def paper() -> Paper:
    """The paper."""
    return paper_of(__package__, "allamanis2024")


def models(benchmark: str) -> tuple[str, ...]:
    """The models of Table 2, in its order."""
    return tuple(paper()["T2"]["cells"][benchmark])


def column(benchmark: str, name: str) -> list[float]:
    """A column of Table 2, by model. Raises KeyError where it has none."""
    return [paper().cells[f"T2/{benchmark}/{model}/{name}"].value for model in models(benchmark)]


def table_2(benchmark: str) -> Correlations:
    """The correlations of pass@1 and RTC over the models of Table 2."""
    return correlations(column(benchmark, "pass_at_1"), column(benchmark, "rtc"))
