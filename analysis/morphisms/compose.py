"""Rules one after another: pairs of programs that do the same k rewrites apart, and pairs one rewrite apart that do not.

CatCode (arXiv 2403.01784) calls them k-eq and 1-neq. A pair's distance is the number of rewrites between its two programs.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Sequence
from dataclasses import dataclass

from .rule import Outcomes, Refused, Rewrite, Rule, confirmed, rewritten_somewhere

LANGUAGES = ("python", "java")
EQUIVALENT_RULES = (
    "rename_variable",
    "boolean_exchange",
    "loop_exchange",
    "match_to_if",
    "switch_to_if",
    "unused_statement",
    "reorder_condition",
    "permute_statements",
)
OTHER_RULES = ("modify_condition", "remove_else")
# The same rule, by the name of what the language has.
ONLY_IN = {"match_to_if": "python", "switch_to_if": "java"}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two programs; rewrites: from the first to the second, each of the source that the one before gave."""

    before: str
    after: str
    rewrites: tuple[Rewrite, ...]

    @property
    def distance(self) -> int:
        """Rewrites from the first program to the second."""
        return len(self.rewrites)

    @property
    def equivalent(self) -> bool:
        """Whether every rewrite keeps what the program does."""
        return all(step.equivalent for step in self.rewrites)

    @property
    def kind(self) -> str:
        """ "2-eq", "1-neq", …: the distance and whether the two do the same."""
        return f"{self.distance}-{'eq' if self.equivalent else 'neq'}"


def rule(name: str, language: str) -> Rule:
    """The rule of that name for a language. Raises ValueError, naming what there is; ImportError without the language's parser."""
    if language not in LANGUAGES:
        raise ValueError(f"no rules for {language!r}; there are some for {', '.join(LANGUAGES)}")
    names = [n for n in EQUIVALENT_RULES + OTHER_RULES if ONLY_IN.get(n, language) == language]
    if name not in names:
        raise ValueError(f"no rule {name!r} for {language}; there are {', '.join(names)}")
    module: Rule = importlib.import_module(f".{language}.{name}", __package__)
    return module


def rules(language: str, *, equivalent: bool) -> list[Rule]:
    """The rules that keep what a program does, or those that do not."""
    names = EQUIVALENT_RULES if equivalent else OTHER_RULES
    return [rule(name, language) for name in names if ONLY_IN.get(name, language) == language]


def chain(source: str, among: Sequence[Rule], seed: str, length: int) -> list[Rewrite]:
    """Up to `length` rewrites, each at a random place of what the one before gave, by a rule drawn anew each time.

    A rule that was used comes again only when no other applies, and a program that was there before never does.
    Shorter where no rule applies any more. The same for the same source and seed.
    """
    rng = random.Random(f"{seed}:chain")
    seen, steps, used = {source}, list[Rewrite](), list[str]()
    while len(steps) < length:
        for candidate in sorted(rng.sample(list(among), len(among)), key=lambda r: used.count(r.NAME)):
            try:
                step = rewritten_somewhere(candidate, source, rng)
            except Refused:
                continue
            if step.of(source) not in seen:
                break
        else:
            break
        source = step.of(source)
        seen.add(source)
        steps.append(step)
        used.append(step.rule)
    return steps


def pairs(source: str, language: str, seed: str, k: int = 2, *, outcomes: Outcomes | None = None) -> list[Pair]:
    """The source against what 1 to k equivalent rewrites make of it, and against one rewrite by each rule that is not equivalent.

    outcomes: as of `confirmed`; with it a pair of the second kind is given only where some test's outcome changes. Without it, such pairs
    are candidates: the caller confirms them before calling them not equivalent. Rules that do not apply give no pair.
    """
    found, after, steps = list[Pair](), source, list[Rewrite]()
    for step in chain(source, rules(language, equivalent=True), seed, k):
        after = step.of(after)
        steps.append(step)
        found.append(Pair(source, after, tuple(steps)))
    for other in rules(language, equivalent=False):
        try:
            step = rewritten_somewhere(other, source, random.Random(f"{seed}:{other.NAME}"))
        except Refused:
            continue
        pair = Pair(source, step.of(source), (step,))
        if outcomes is None or confirmed(pair.before, pair.after, outcomes):
            found.append(pair)
    return found
