"""The paper's numbers, from spiess2024.toml: each cell with its place and with what is known against it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any

from ...calibration.report.cells import Mark, PaperValue

TABLES = ("T2", "T3", "T4", "T5", "T6", "T7", "T8")
# What the paper's column of a task is called. A task that is not here has none.
DATA_OF = {
    "line": "DyPyBench",
    "humaneval": "HumanEval",
    "mbpp": "MBPP",
    "defects4j": "Defects4J",
}
_LINES_AND_FUNCTIONS = ("DyPyBench", "HumanEval", "MBPP")


@dataclass(frozen=True, slots=True)
class Statement:
    """A number in the paper's text, and what its own tables give.

    where: in the text. says: what it is about. value: as printed. made_by: the rule that computes it from the tables. tables: the result.
    """

    where: str
    says: str
    value: float
    made_by: str
    tables: float


@dataclass(frozen=True, slots=True)
class Paper:
    """cells: by place. measures: its names of measures, and ours. statements: what its text says against its tables."""

    title: str
    source: str
    models: tuple[str, ...]
    measures: Mapping[str, str]
    titles: Mapping[str, str]
    precision: Mapping[str, float]
    cells: Mapping[str, PaperValue]
    statements: tuple[Statement, ...]

    def values(self, table: str, *rest: str) -> tuple[PaperValue, ...]:
        """The cells TABLE/MODEL/rest of all models that have one; without their parts that are empty."""
        places = ("/".join((table, model, *filter(None, rest))) for model in self.models)
        return tuple(self.cells[place] for place in places if place in self.cells)


@cache
def paper() -> Paper:
    """The paper, read once."""
    found = tomllib.loads(files(__package__).joinpath("spiess2024.toml").read_text(encoding="utf-8"))
    marks = [(each["of"], Mark(each["kind"], each["note"])) for each in found["mark"]]
    cells = {}
    for table in TABLES:
        for model, tree in found[table]["cells"].items():
            for place, value in _leaves(f"{table}/{model}", tree, found[table].get("scores", ())):
                known = tuple(mark for patterns, mark in marks if any(fnmatchcase(place, pattern) for pattern in patterns))
                cells[place] = PaperValue(value / 100 if found[table].get("unit") == "percent" else value, model, place, known)
    return Paper(
        title=found["title"],
        source=found["source"],
        models=tuple(found["models"]),
        measures=found["measures"],
        titles={table: found[table]["title"] for table in TABLES},
        precision=found["precision"],
        cells=cells,
        statements=tuple(Statement(**each) for each in found["statement"]),
    )


def _leaves(place: str, tree: Any, scores: Sequence[str]) -> Iterator[tuple[str, float]]:
    """(place, number) below a place. A list has a number for each score; the last may be missing."""
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _leaves(f"{place}/{name}", below, scores)
    elif isinstance(tree, list):
        yield from ((f"{place}/{score}", float(value)) for score, value in zip(scores, tree, strict=False))
    else:
        yield place, float(tree)


def computed(rule: str) -> float:
    """What the paper's tables give for a statement, by the rule that its `made_by` names. Raises KeyError for an unknown rule."""
    name, _, rest = rule.partition(" ")
    match name:
        case "cell":
            return paper().cells[rest].value
        case "mean_raw_skill":
            return fmean(raw("skill"))
        case "mean_raw_ece":
            return fmean(raw("ece"))
        case "normalising":
            return _normalising(rest)
        case "normalising_lowers":
            return -_normalising(rest)
        case "largest_docstring_gain":
            return max(docstring_gains().values())
    raise KeyError(rule)


def _normalising(score: str) -> float:
    cells = paper().cells
    return fmean(
        cells[f"T5/GPT-3.5/ask_n/{data}/{score}"].value - cells[f"T5/GPT-3.5/ask/{data}/{score}"].value for data in _LINES_AND_FUNCTIONS
    )


def raw(score: str, measure: str = "*") -> list[float]:
    """The raw scores of Table 5, of one measure or of all."""
    return [
        cell.value
        for place, cell in paper().cells.items()
        if fnmatchcase(place, f"T5/*/{measure}/*/{score}") and "/unskilled/" not in place
    ]


def docstring_gains() -> dict[str, float]:
    """How much the share of passing lines rises with docstrings in Table 3, by model."""
    of = {
        model: [paper().cells[f"T3/{model}/DyPyBench/{arm}/tests_pass"].value for arm in ("docstring", "no_docstring")]
        for model in paper().models
    }
    return {model: with_docstring - without for model, (with_docstring, without) in of.items()}


def exact_that_fail() -> float:
    """The share of exact matches in Table 4 that fail their tests."""
    fail, passed = (paper().cells[f"T4/GPT-3.5/DyPyBench/exact/{outcome}"].value for outcome in ("fail", "pass"))
    return fail / (fail + passed)
