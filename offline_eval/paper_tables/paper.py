"""The paper's numbers, from spiess2024.toml: each cell with its place and with what is known against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import fmean

from ..papers import Paper, paper_of

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


def paper() -> Paper:
    """The paper."""
    return paper_of(__package__, "spiess2024")


def measures() -> Mapping[str, str]:
    """Its names of measures, and ours."""
    found: Mapping[str, str] = paper()["measures"]
    return found


def title_of(table: str) -> str:
    """What it calls a table."""
    return str(paper()[table]["title"])


def statements() -> tuple[Statement, ...]:
    """What its text says against its tables."""
    return tuple(Statement(**each) for each in paper()["statement"])


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
