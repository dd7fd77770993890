"""Places in a file that a model is asked to fill, in Python and in each language that has a grammar."""

from __future__ import annotations

from ..grammars import GRAMMARS
from ..python import lines as python
from ..python.lines import Gap, Line
from . import syntax_lines
from .generated import looks_generated as looks_generated

LANGUAGES: tuple[str, ...] = ("python", *GRAMMARS)


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
