"""The model writes another token in the place of a suspicious one: the rest of the line stays, or is written again."""

from __future__ import annotations

from collections.abc import Iterator

from ..candidate import Candidate, change_of
from ..request import Request
from ..surprise import alternatives_at

# So many tokens of all suspects, the most surprising ones, and so many others for each.
_TOKENS, _COUNT = 6, 4


def candidates(request: Request) -> Iterator[Candidate]:
    """What the model would write from the suspicious tokens on. Raises ModelError."""
    tokens = [(token.surprise, suspect.line, token) for suspect in request.suspects for token in suspect.tokens]
    for _, number, token in sorted(tokens, key=lambda found: -found[0])[:_TOKENS]:
        line = request.lines[number]
        for other in alternatives_at(request.asking, request.lines, number, token.start, _COUNT):
            lines = [] if other.rest is None else [line[: token.start] + other.rest]
            if other.token != token.text:
                lines.append(line[: token.start] + other.token + line[token.end :])
            for text in lines:
                yield Candidate(change_of(request.lines, number, number + 1, (text.rstrip(),)), "token")
