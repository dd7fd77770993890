"""What a morphism is, in any language: a rewrite that finds the places where it fits, and makes one or refuses with the reason.

A morphism is a module: EXAMPLE, `places` and `edits`. Its docstring states the rewrite and its precondition. Offsets are in characters of
the source. The text outside of the changed span comes back unchanged, byte for byte.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..text_edits import Edit, changed_span


class Refused(ValueError):
    """The morphism does not apply at this place; the message says why."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a morphism may apply: source[start:end].

    what: which of several at the same place it is, or what it is about ("x", "<").
    """

    start: int
    end: int
    what: str = ""


@dataclass(frozen=True, slots=True)
class Rewrite(Edit):
    """A morphism applied once. equivalent: whether the morphism keeps what the program does."""

    morphism: str
    equivalent: bool
    site: Site


class Rule(Protocol):
    """A module that is a morphism.

    EXAMPLE: a program before and after.
    places: every place where it may apply in a parsed source, the same for the same source, each with what `edits` takes of it.
    edits: the edits of the source that make the rewrite at one place; every random choice is drawn from rng. Raises Refused.
    """

    EXAMPLE: tuple[str, str]

    def places(self, parsed: Any) -> Iterable[tuple[Site, Any]]: ...  # noqa: D102
    def edits(self, parsed: Any, place: Any, rng: random.Random) -> Sequence[Edit]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Morphism:
    """A rule with its name, and how sources of its language are parsed and edited. equivalent: whether it keeps what a program does."""

    name: str
    equivalent: bool
    rule: Rule
    parse: Callable[[str], Any]
    edited: Callable[[str, Sequence[Edit]], str]

    def sites(self, source: str) -> list[Site]:
        """Every place where it may apply, in the order of the text. Raises UnreadableSource."""
        return sorted((site for site, _ in self.rule.places(self.parse(source))), key=lambda site: site.start)

    def apply(self, source: str, site: Site, rng: random.Random) -> str:
        """The whole source after the rewrite at one of its sites. Raises Refused."""
        parsed = self.parse(source)
        for found, place in self.rule.places(parsed):
            if found == site:
                return self.edited(source, self.rule.edits(parsed, place, rng))
        raise Refused(f"{self.name} has no place at characters {site.start} to {site.end}")


def rewrite(morphism: Morphism, source: str, site: Site, rng: random.Random) -> Rewrite:
    """Apply a morphism at one of its sites. Raises Refused, also where nothing would change."""
    after = morphism.apply(source, site, rng)
    if after == source:
        raise Refused(f"{morphism.name} changes nothing here")
    return Rewrite(*changed_span(source, after), morphism.name, morphism.equivalent, site)


def rewrite_somewhere(morphism: Morphism, source: str, rng: random.Random) -> Rewrite:
    """Apply a morphism at a random site, the next one where it refuses. Raises Refused, with all reasons, where it refuses everywhere."""
    sites = morphism.sites(source)
    if not sites:
        raise Refused(f"{morphism.name} finds no place here")
    reasons: dict[str, None] = {}
    for site in rng.sample(sites, len(sites)):
        try:
            return rewrite(morphism, source, site, rng)
        except Refused as refusal:
            reasons[str(refusal)] = None
    raise Refused("; ".join(reasons))


def chain(source: str, among: Sequence[Morphism], seed: str, length: int) -> list[Rewrite]:
    """Up to `length` rewrites one after another, each by a random morphism at a random site.

    A morphism is used again only when no unused one applies. No program comes twice. The chain is shorter where nothing applies any more.
    The same source and seed give the same chain.
    """
    rng = random.Random(f"{seed}:chain")
    seen, steps, used = {source}, list[Rewrite](), list[str]()
    while len(steps) < length:
        for candidate in sorted(rng.sample(list(among), len(among)), key=lambda one: used.count(one.name)):
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
