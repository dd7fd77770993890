"""All candidates for a repair at a place of a program, by the rules of its language: the source with one edit.

Of two rules that propose the same, the first one is named.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ..python.source_text import line_starts
from ..text_edits import Edit, edited
from .rule import Change, Rule, touches

# each a module here with RULES and parses
LANGUAGES = ("python", "java")


@dataclass(frozen=True, slots=True)
class Candidate(Edit):
    """A repair to be judged. rule: the name of the one that proposes it."""

    rule: str


def candidates(source: str, language: str, span: tuple[int, int], *, most: int) -> list[Candidate]:
    """What may be repaired in the lines of a span.

    Every candidate parses and changes something in these lines, or puts a guard before them. No two give the same program.

    Parameters:
        span: source[start:end], in characters; a cursor where they are equal. The lines that it touches are repaired.
        most: how many to give. With more, the simplest at each place are kept, and of these the nearest to the span.

    Returns: them by position, then by rule, then the simplest first; the same for the same source and span.
    Raises: UnreadableSource for a source that does not parse; ValueError for another language, or a span outside of the source.
    """
    if not 0 <= span[0] <= span[1] <= len(source):
        raise ValueError(f"characters {span[0]}-{span[1]} are no span of a source of {len(source)} characters")
    if most < 0:
        raise ValueError(f"at most {most} candidates: not a number of candidates")
    names = [*rules(language)]
    kept = sorted(islice(_sound(source, language, span), most), key=lambda p: (p[1].start, p[0], p[1].rank))
    return [Candidate(change.start, change.end, change.text, names[order]) for order, change in kept]


def _sound(source: str, language: str, span: tuple[int, int]) -> Iterator[tuple[int, Change]]:
    """The changes that parse, each result once, with the number of their rule; those to keep first come first."""
    lines, sound, seen = _lines(source, span), _of(language).parses, {source}
    proposed = [
        (order, _apart(source, change))
        for order, rule in enumerate(rules(language).values())
        for change in rule.changes(source, lines)
        if touches(change.start, change.end, lines)
    ]
    for order, change in sorted(proposed, key=lambda p: (p[1].rank, _distance(p[1], span), p[1].start, p[0])):
        after = change.of(source)
        if after not in seen and sound(source, change):
            yield order, change
        seen.add(after)


def _apart(source: str, change: Change) -> Change:
    """The change, with a blank where it would make one word with its neighbour: `return(x)` becomes `return not (x)`."""
    after = edited(source, [change])
    return replace(change, text=after[change.start : len(after) - len(source) + change.end])


def _lines(source: str, span: tuple[int, int]) -> tuple[int, int]:
    """The whole lines that a span touches. A span that ends where a line begins, as a selection of lines does, does not touch that one."""
    starts = line_starts(source)
    first = max((start for start in starts if start <= span[0]), default=0)
    last = min((start for start in starts if start > first and start >= span[1]), default=len(source))
    return first, last


def _distance(change: Change, span: tuple[int, int]) -> int:
    return max(0, span[0] - change.end, change.start - span[1])


def rules(language: str) -> Mapping[str, Rule]:
    """The rules of a language. Raises ValueError that lists what there is."""
    found: Mapping[str, Rule] = _of(language).RULES
    return found


def _of(language: str) -> Any:
    if language not in LANGUAGES:
        raise ValueError(f"no repairs for {language!r}; there are some for {', '.join(LANGUAGES)}")
    return importlib.import_module(f".{language}", __package__)
