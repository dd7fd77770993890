"""Programs of a set of counterfeits, and the choice of a balanced set from what was drawn. Pure functions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Literal

from ..classes_of_problems import PassShares, Rule, class_of, is_right

PER_CLASS = 5


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a set.

    index: of the draw. text: the whole program with its docstring. kind: its class by the strict rule.
    base, plus: as of `PassShares`. pass_at_1: the share of all draws of its generator for the problem that are right; None where not known.
    """

    problem: str
    index: int
    text: str
    kind: Literal["right", "counterfeit"]
    base: float
    plus: float | None = None
    pass_at_1: float | None = None

    @property
    def id(self) -> str:
        """As the published set names its samples."""
        return f"{self.problem}_{self.index}"

    @property
    def tested(self) -> PassShares:
        """What the tests say of it."""
        return PassShares(self.base, self.plus)

    def is_right(self, rule: Rule = "strict") -> bool:
        """Whether it is right: by the set's own word, or by the benchmark's rule."""
        return self.kind == "right" if rule == "strict" else self.kind == "right" or is_right(self.tested, rule)


@dataclass(frozen=True, slots=True)
class CounterfeitSet:
    """A set of programs, half of them counterfeits.

    name: for people. benchmark: of its problems. generator: whose programs they are. source, licence: where it is from.
    temperature: at which they were drawn; None where not known.
    """

    name: str
    benchmark: str
    generator: str
    programs: tuple[Program, ...]
    source: str = ""
    licence: str = ""
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A distinct text for a problem. index: of its first draw. draws: how many have it. tested: None where no test could decide.

    own_share: the share of its generator's own tests that it passes; None where there are none.
    """

    problem: str
    index: int
    text: str
    draws: int
    tested: PassShares | None
    own_share: float | None = None


def pass_at_1(drawn: Iterable[Drawn]) -> dict[str, float]:
    """The share of the draws with a label that are right by the strict rule, by problem."""
    rates = {}
    for problem, group in groupby(drawn, attrgetter("problem")):
        known = [(each.draws, is_right(each.tested, "strict")) for each in group if each.tested is not None]
        if known:
            rates[problem] = sum(draws for draws, right in known if right) / sum(draws for draws, _ in known)
    return rates


def balanced(benchmark: str, drawn: Sequence[Drawn], seed: int, per_class: int = PER_CLASS) -> tuple[Program, ...]:
    """So many right programs and as many counterfeits of each problem that has them, chosen by a seed from distinct texts.

    drawn: problem by problem.
    """
    rates, chosen = pass_at_1(drawn), []
    for problem, group in groupby(drawn, attrgetter("problem")):
        texts = {each.text: each for each in reversed(list(group)) if each.tested is not None}
        found: list[Program] = []
        for kind in ("right", "counterfeit"):
            of_kind = [
                Program(problem, each.index, each.text, kind, each.tested.base, each.tested.plus, rates[problem])
                for each in sorted(texts.values(), key=attrgetter("index"))
                if each.tested is not None and class_of(benchmark, each.tested, "strict") == kind
            ]
            if len(of_kind) >= per_class:
                found += random.Random(f"{seed} {problem} {kind}").sample(of_kind, per_class)
        if len(found) == 2 * per_class:
            chosen += sorted(found, key=attrgetter("index"))
    return tuple(chosen)
