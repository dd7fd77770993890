"""Right, counterfeit or other: the classes of programs for benchmark problems, by the paper's rules and by strict ones. Pure functions.

Gu et al. 2024 (arXiv 2402.19475), section 2. Their filter by hand is not followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .classes import Class

Rule = Literal["strict", "benchmark"]
RULES: tuple[Rule, ...] = get_args(Rule)
SAID: dict[Rule, str] = {"strict": "strict: every test", "benchmark": "the benchmark's: at least 95 % of EvalPlus' tests"}

# Of EvalPlus' inputs; section 2 says "at least 10 %" once, and "more than" where the sets are made.
MIN_PLUS_RIGHT, MIN_PLUS_COUNTERFEIT = 0.95, 0.10
MAX_ODEX_LENGTH = 500


@dataclass(frozen=True, slots=True)
class PassShares:
    """What the tests say of a program.

    base, plus: its shares of the original benchmark's tests, and of those that EvalPlus adds (None: the benchmark has none of these).
    parses, length: of its text, in characters.
    """

    base: float
    plus: float | None = None
    parses: bool = True
    length: int = 0

    @property
    def rate(self) -> float:
        """The share by which counterfeits are sorted: EvalPlus', where there is one."""
        return self.base if self.plus is None else self.plus


def is_right(tested: PassShares, rule: Rule) -> bool:
    """Whether a program is right: it passes all of the original tests, and of EvalPlus' all (strict), or 95 % (the benchmark's rule)."""
    least = 1.0 if rule == "strict" else MIN_PLUS_RIGHT
    return tested.base == 1.0 and (tested.plus is None or tested.plus >= least)


def class_of(benchmark: str, tested: PassShares, rule: Rule) -> Class:
    """The class of a program for a benchmark.

    A wrong program is a counterfeit, on HumanEval and MBPP, if it passes more than 10 % of EvalPlus' tests; on ODEX, whose tests its judges
    are shown, if it parses and is shorter than 500 characters.
    """
    if is_right(tested, rule):
        return "right"
    if benchmark == "odex":
        return "counterfeit" if tested.parses and tested.length < MAX_ODEX_LENGTH else "other"
    return "counterfeit" if tested.rate > MIN_PLUS_COUNTERFEIT else "other"
