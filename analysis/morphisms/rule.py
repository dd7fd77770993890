"""What a rule is, in any language: it names the places where its shape is found, and rewrites one of them or refuses with the reason.

A rule is a module: NAME, EQUIVALENT, EXAMPLE, `sites` and `apply`; its docstring states the rewrite and its precondition. Offsets are in
characters of the source text, which comes back byte for byte outside of the span that changed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ..python.lines import UnreadableSource as UnreadableSource

Outcomes = Callable[[str], Mapping[str, str] | None]


class Refused(ValueError):
    """The rule does not apply at this place; the message says why."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place that has a rule's shape: source[start:end]. what: which of several at the same place, or what it is about ("x", "<")."""

    start: int
    end: int
    what: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """source[start:end] becomes text; start == end inserts."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rule applied once: source[start:end] became text. equivalent: whether the rule keeps what the program does."""

    rule: str
    equivalent: bool
    site: Site
    start: int
    end: int
    text: str

    def of(self, source: str) -> str:
        """The source with this rewrite made."""
        return source[: self.start] + self.text + source[self.end :]


class Rule(Protocol):
    """A module that is a rule.

    sites: every place that has the shape, in the order of the text, the same for the same source; raises UnreadableSource.
    apply: the whole source after the rewrite; whatever is random in it is drawn from rng alone. Raises Refused.
    """

    NAME: str
    EQUIVALENT: bool
    EXAMPLE: tuple[str, str]

    def sites(self, source: str) -> list[Site]: ...  # noqa: D102
    def apply(self, source: str, site: Site, rng: random.Random) -> str: ...  # noqa: D102


def edited(source: str, edits: Iterable[Edit]) -> str:
    """The source after all edits, which are given in offsets of the source as it was.

    A blank parts words that an edit would join: `if(n) < 0` gives `if 0 > (n)`. Edits at the same place are made in the order in which they
    come. Raises ValueError where two overlap.
    """
    parts, at = [], 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < at:
            raise ValueError(f"two edits overlap at character {edit.start}")
        before, after = _joins(source, edit.start, edit.text[:1], 0), _joins(source, edit.end, edit.text[-1:], 1)
        parts += [source[at : edit.start], " " * before, edit.text, " " * after]
        at = edit.end
    return "".join([*parts, source[at:]])


def _joins(source: str, at: int, end: str, side: int) -> bool:
    """Whether a text that ends so would make one word with what stands on that side (0: before, 1: behind) of a place between words."""
    around = source[max(at - 1, 0) : at], source[at : at + 1]
    return _word(end) and _word(around[side]) and not all(map(_word, around))


def _word(character: str) -> bool:
    return character.isalnum() or character == "_"


def changed_span(before: str, after: str) -> tuple[int, int, str]:
    """The shortest (start, end, text) for which before[:start] + text + before[end:] is after."""
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    tail = next((i for i in range(most - start) if before[-1 - i] != after[-1 - i]), most - start)
    return start, len(before) - tail, after[start : len(after) - tail]


def rewrite(rule: Rule, source: str, site: Site, rng: random.Random) -> Rewrite:
    """The rule applied at one of its sites. Raises Refused, also where nothing would change."""
    after = rule.apply(source, site, rng)
    if after == source:
        raise Refused(f"{rule.NAME} changes nothing here")
    return Rewrite(rule.NAME, rule.EQUIVALENT, site, *changed_span(source, after))


def rewritten_somewhere(rule: Rule, source: str, rng: random.Random) -> Rewrite:
    """The rule applied at a random one of its sites where it can be. Raises Refused with the reasons where it can be at none."""
    sites = rule.sites(source)
    if not sites:
        raise Refused(f"{rule.NAME} finds no place here")
    reasons: dict[str, None] = {}
    for site in rng.sample(sites, len(sites)):
        try:
            return rewrite(rule, source, site, rng)
        except Refused as refusal:
            reasons[str(refusal)] = None
    raise Refused("; ".join(reasons))


def confirmed(before: str, after: str, outcomes: Outcomes) -> bool | None:
    """Whether the two programs differ by execution: some test has another outcome. None where the outcomes of either are unknown.

    outcomes: of a program, the outcome of each of its tests by the test's name, or None where they could not be had. A pair is called not
    equivalent only where this is True.
    """
    first = outcomes(before)
    if first is None:
        return None
    second = outcomes(after)
    return None if second is None else dict(first) != dict(second)
