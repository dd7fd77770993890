"""The paper's numbers, from allamanis2024.toml: each cell with its place; and the correlations that its Table 2 gives."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ...calibration.metrics.correlations import Correlations, correlations
from ...calibration.report.cells import PaperValue

BENCHMARKS = ("HumanEval", "ARCADE")
# Whose numbers a table has that is of one model.
_OF = {"F6": "Gemini Nano 2"}


@dataclass(frozen=True, slots=True)
class Paper:
    """cells: by place, shares as shares."""

    title: str
    source: str
    cells: Mapping[str, PaperValue]

    def models(self, benchmark: str) -> tuple[str, ...]:
        """The models of Table 2, in its order."""
        found = (place.split("/") for place in self.cells if place.startswith(f"T2/{benchmark}/"))
        return tuple(dict.fromkeys(parts[2] for parts in found))

    def column(self, benchmark: str, name: str) -> list[float]:
        """A column of Table 2, by model. Raises KeyError where it has none."""
        return [self.cells[f"T2/{benchmark}/{model}/{name}"].value for model in self.models(benchmark)]


@cache
def paper() -> Paper:
    """The paper, read once."""
    found = tomllib.loads(files(__package__).joinpath("allamanis2024.toml").read_text(encoding="utf-8"))
    cells = {}
    for table, content in found.items():
        if isinstance(content, dict):
            for place, value in _leaves(table, content["cells"]):
                of = place.split("/")[-2] if table in ("T2", "T3") else _OF.get(table, "the paper")
                cells[place] = PaperValue(value / 100 if content.get("unit") == "percent" else value, of, place)
    return Paper(found["title"], found["source"], cells)


def table_2(benchmark: str) -> Correlations:
    """The correlations of pass@1 and RTC over the models of Table 2."""
    return correlations(paper().column(benchmark, "pass_at_1"), paper().column(benchmark, "rtc"))


def _leaves(place: str, tree: Any) -> Iterator[tuple[str, float]]:
    if isinstance(tree, dict):
        for name, below in tree.items():
            yield from _leaves(f"{place}/{name}", below)
    else:
        yield place, float(tree)
