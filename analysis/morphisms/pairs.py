"""Pairs of programs: k equivalent rewrites apart, and one rewrite apart that changes what the program does.

CatCode (arXiv 2403.01784) calls them k-eq and 1-neq. A pair's distance is the number of rewrites between its two programs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from .morphism import Morphism, Outcomes, Refused, Rewrite, outcomes_differ, rewrite_somewhere
from .registry import morphisms


@dataclass(frozen=True, slots=True)
class Pair:
    """Two programs. rewrites: from the first to the second, each made on the source that the one before gave."""

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


def chain(source: str, among: Sequence[Morphism], seed: str, length: int) -> list[Rewrite]:
    """Up to `length` rewrites one after another, each by a random morphism at a random site.

    A morphism is used again only when no unused one applies. No program comes twice. The chain is shorter where nothing applies any more.
    The same source and seed give the same chain.
    """
    rng = random.Random(f"{seed}:chain")
    seen, steps, used = {source}, list[Rewrite](), list[str]()
    while len(steps) < length:
        for candidate in sorted(rng.sample(list(among), len(among)), key=lambda m: used.count(m.NAME)):
            try:
                step = rewrite_somewhere(candidate, source, rng)
            except Refused:
                continue
            if step.of(source) not in seen:
                break
        else:
            break
        source = step.of(source)
        seen.add(source)
        steps.append(step)
        used.append(step.morphism)
    return steps


def pairs(source: str, language: str, seed: str, k: int = 2, *, outcomes: Outcomes | None = None) -> list[Pair]:
    """Pair the source with the results of 1 to k equivalent rewrites, and of one rewrite by each morphism that is not equivalent.

    Parameters:
        outcomes: runs tests. With it a pair that is not equivalent is given only where some test has another outcome. Without it such pairs
            are candidates: the caller confirms them before calling them not equivalent.

    Returns: the pairs; a morphism that does not apply gives none.
    """
    found, after, steps = list[Pair](), source, list[Rewrite]()
    for step in chain(source, morphisms(language, equivalent=True), seed, k):
        after = step.of(after)
        steps.append(step)
        found.append(Pair(source, after, tuple(steps)))
    for other in morphisms(language, equivalent=False):
        try:
            step = rewrite_somewhere(other, source, random.Random(f"{seed}:{other.NAME}"))
        except Refused:
            continue
        pair = Pair(source, step.of(source), (step,))
        if outcomes is None or outcomes_differ(pair.before, pair.after, outcomes):
            found.append(pair)
    return found
