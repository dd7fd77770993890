"""What a morphism is, in any language: a rewrite that finds the places where it fits, and makes one or refuses with the reason.

A morphism is a module: NAME, EQUIVALENT, EXAMPLE, `sites` and `apply`. Its docstring states the rewrite and its precondition. Offsets are
in characters of the source. The text outside of the changed span comes back unchanged, byte for byte.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from .text_edits import changed_span

Outcomes = Callable[[str], Mapping[str, str] | None]
"""Runs a program's tests: the outcome of each test by its name, or None where the tests could not be run."""


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
class Rewrite:
    """A morphism applied once: source[start:end] became text. equivalent: whether the morphism keeps what the program does."""

    morphism: str
    equivalent: bool
    site: Site
    start: int
    end: int
    text: str

    def of(self, source: str) -> str:
        """The source with this rewrite made."""
        return source[: self.start] + self.text + source[self.end :]


class Morphism(Protocol):
    """A module that is a morphism.

    EXAMPLE: a program before and after.
    sites: every place where it may apply, in the order of the text, the same for the same source. Raises UnreadableSource.
    apply: the whole source after the rewrite; every random choice is drawn from rng. Raises Refused.
    """

    NAME: str
    EQUIVALENT: bool
    EXAMPLE: tuple[str, str]

    def sites(self, source: str) -> list[Site]: ...  # noqa: D102
    def apply(self, source: str, site: Site, rng: random.Random) -> str: ...  # noqa: D102


def rewrite(morphism: Morphism, source: str, site: Site, rng: random.Random) -> Rewrite:
    """Apply a morphism at one of its sites. Raises Refused, also where nothing would change."""
    after = morphism.apply(source, site, rng)
    if after == source:
        raise Refused(f"{morphism.NAME} changes nothing here")
    return Rewrite(morphism.NAME, morphism.EQUIVALENT, site, *changed_span(source, after))


def rewrite_somewhere(morphism: Morphism, source: str, rng: random.Random) -> Rewrite:
    """Apply a morphism at a random site, the next one where it refuses. Raises Refused, with all reasons, where it refuses everywhere."""
    sites = morphism.sites(source)
    if not sites:
        raise Refused(f"{morphism.NAME} finds no place here")
    reasons: dict[str, None] = {}
    for site in rng.sample(sites, len(sites)):
        try:
            return rewrite(morphism, source, site, rng)
        except Refused as refusal:
            reasons[str(refusal)] = None
    raise Refused("; ".join(reasons))


def outcomes_differ(before: str, after: str, outcomes: Outcomes) -> bool | None:
    """Whether some test has another outcome on the second program than on the first; None where the tests of either could not be run.

    Two programs are called not equivalent only where this is True.
    """
    first = outcomes(before)
    if first is None:
        return None
    second = outcomes(after)
    return None if second is None else dict(first) != dict(second)
