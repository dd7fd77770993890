"""Places in a file that a model is asked to fill, in Python and in each language that a grammar is installed for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ..python import lines as python
from ..python.lines import Gap, Line, UnreadableSource
from . import syntax_lines
from .generated import looks_generated as looks_generated
from .grammars import GRAMMARS

LANGUAGES: tuple[str, ...] = ("python", *(language for language, grammar in GRAMMARS.items() if grammar.is_installed))


@dataclass(frozen=True, slots=True)
class DrawnPlace:
    """A gap of a text: what stands from offset_start to offset_end is what the author wrote, and is asked for."""

    task: str
    offset_start: int
    offset_end: int


def sample_lines(text: str, language: str, seed: str, *, documented: bool = True) -> list[Line]:
    """One random line of each function of a text, the same for the same seed; none in a language that can't be drawn from here.

    documented: in Python, only of functions with a docstring, as in the studies. Raises UnreadableSource.
    """
    if language == "python":
        return python.sample_lines(text, seed, documented=documented)
    return syntax_lines.sample_lines(text, language, seed) if language in LANGUAGES else []


def gap_of(text: str, language: str, line: Line, task: str, seed: str) -> Gap | None:
    """What of a line a task asks for; None where the line has no such place. language: one that lines are drawn in."""
    match task:
        case "line":
            return python.whole(text, line)
        case "line_rest":
            return python.rest(text, line, seed)
        case "line_middle" if language == "python":
            return python.middle(text, line, seed)
        case "line_middle":
            return syntax_lines.middle(text, language, line, seed)
        case _:
            return None


def places_in(text: str, language: str, tasks: Sequence[str], *, most: int, rng: random.Random) -> list[DrawnPlace]:
    """Places of at most so many lines of a text, in order: at each line one of every task that it has a place for.

    language: the protocol's identifier. Empty where the language is not known, or the text is generated, minified, or does not parse.
    """
    if language not in LANGUAGES or looks_generated(text):
        return []
    seed = f"{rng.getrandbits(64):x}"
    try:
        lines = sample_lines(text, language, seed)
    except UnreadableSource:
        return []
    drawn = sorted(rng.sample(lines, min(most, len(lines))), key=lambda line: line.start)
    gaps = ((task, gap_of(text, language, line, task, seed)) for line in drawn for task in tasks)
    return [DrawnPlace(task, gap.start, gap.end) for task, gap in gaps if gap is not None]
