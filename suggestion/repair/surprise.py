"""Surprise: how much likelier a model finds its own best alternative than what stands there, of the tokens and the lines of a file.

In nats. It is a hint where to look and no probability: a line that is rare and right surprises as well.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from ...inference.model import Generation, StopReason
from .asking import Asking
from .candidate import Lines, around, indent_of

# Alternatives that are looked at for the first one that says something else.
_TRIED = 3
_NO_END = (StopReason.TOKENS, StopReason.REPETITION, StopReason.TIME)


@dataclass(frozen=True, slots=True)
class TokenSurprise:
    """A token of a line: line[start:end]. Empty at the line's end: that the line ends there.

    surprise: log p of the best other token minus log p of this one, so below 0 for the model's own choice.
    alternative: what the model would write instead; empty where it was not asked.
    """

    start: int
    end: int
    text: str
    logprob: float
    surprise: float
    alternative: str = ""

    def as_json(self) -> dict[str, Any]:
        """All fields."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class LineSurprise:
    """A line of a file, from its first character that is no white space.

    line: its number, from 0. logprob: of its code, with its end. surprise: the sum of those of its tokens that are above 0.
    tokens: in order; without those that begin within a character.
    alternative: the line that the model would write; empty where it was not asked, or came to no end.
    """

    line: int
    text: str
    logprob: float
    surprise: float
    tokens: tuple[TokenSurprise, ...]
    alternative: str = ""

    def as_json(self) -> dict[str, Any]:
        """All fields; lines count from 0, as in a range."""
        return {name: getattr(self, name) for name in self.__slots__} | {"tokens": [token.as_json() for token in self.tokens]}


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a model would write from a token of a line on.

    token: its first token, as far as it stands on the line. rest: of the line; None where the model came to no end.
    """

    token: str
    rest: str | None


def surprise_at(asking: Asking, lines: Lines, number: int) -> LineSurprise | None:
    """How much a line surprises; None for a blank line, and where the model can't say. Raises ModelError."""
    line, (before, after) = lines[number], around(lines, number, number + 1)
    indent = indent_of(line)
    if not line.strip():
        return None
    said = asking.given(before + indent, after, line[len(indent) :].rstrip())
    if said is None or math.isnan(total_logprob(said)):
        return None
    tokens = tokens_of(said, len(indent))
    return LineSurprise(number, line, total_logprob(said), math.fsum(max(0.0, token.surprise) for token in tokens), tokens)


def tokens_of(said: Generation, column: int) -> tuple[TokenSurprise, ...]:
    """The tokens of a generation that stands on a line from a column on."""
    data, at, found = said.text.encode(errors="replace"), 0, []
    for token in said.tokens:
        begin, at = min(at, len(data)), at + len(token.text)
        start, end = _characters(data, begin), _characters(data, at)
        surprise = math.nan if token.best_other_logprob is None else token.best_other_logprob - token.logprob
        if start is not None and end is not None and math.isfinite(surprise):
            found.append(TokenSurprise(column + start, column + end, said.text[start:end], token.logprob, surprise))
    return tuple(found)


def alternatives_at(asking: Asking, lines: Lines, number: int, column: int, count: int) -> list[Alternative]:
    """What the model would write from a column of a line on: `count` texts with different first tokens, the likeliest first."""
    line, (before, after) = lines[number], around(lines, number, number + 1)
    found = []
    for made in asking.written(before + line[:column], after, count=count):
        token = made.tokens[0].text.decode("utf-8", "ignore") if made.tokens else ""
        rest = None if made.stopped_by in _NO_END else made.text
        found.append(Alternative(re.split(r"[\r\n]", token, maxsplit=1)[0], rest))
    return found


def with_alternatives(asking: Asking, lines: Lines, found: LineSurprise) -> LineSurprise:
    """With the line that the model would write, and the alternative of each token that is not its own choice."""

    def told(token: TokenSurprise) -> TokenSurprise:
        if token.surprise <= 0:
            return token
        others = (other.token for other in alternatives_at(asking, lines, found.line, token.start, _TRIED))
        return replace(token, alternative=next((other for other in others if other not in ("", token.text)), ""))

    column = len(indent_of(found.text))
    own = [other.rest for other in alternatives_at(asking, lines, found.line, column, 1) if other.rest]
    return replace(found, tokens=tuple(map(told, found.tokens)), alternative=found.text[:column] + own[0].rstrip() if own else "")


def surprise_within(found: LineSurprise, start: int, end: int) -> float | None:
    """The surprise of the most surprising token of line[start:end], or beside it where it is empty; None where there is none."""
    if start == end:
        start, end = start - 1, start + 1
    return max((token.surprise for token in found.tokens if token.start < end and max(token.end, token.start + 1) > start), default=None)


def total_logprob(generation: Generation) -> float:
    """log p of all tokens; not a number where a server tells none."""
    return math.fsum(token.logprob for token in generation.tokens) if generation.tokens else math.nan


def _characters(data: bytes, size: int) -> int | None:
    """The characters of the first bytes of a text; None where they end within one."""
    try:
        return len(data[:size].decode())
    except UnicodeDecodeError:
        return None
