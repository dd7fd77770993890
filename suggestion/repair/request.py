"""What is asked for: repairs of some lines of a file."""

from __future__ import annotations

from dataclasses import dataclass

from ...inference.asking.asker import Asker
from ..cursor import Cursor
from ..cut.newlines import with_the_documents_newlines
from ..positions import content, split_lines
from .asking import Asking
from .candidate import Lines
from .surprise import LineSurprise


@dataclass(frozen=True, slots=True)
class Failure:
    """What a failing test said. test: its id. assertion: the line of it that failed. message: the error's. Empty where not known."""

    test: str = ""
    assertion: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """lines[first:end] of a file are to be repaired.

    Attributes
        asking: the model that is asked for texts, and that scores those of all sources.
        language: in the protocol's identifiers.
        asker: an instruct model, if there is one, and `failure`: what it is told of a failing test.
        newline: what ends a line there.
        draws, temperature, seed: of the sources that draw several texts.
        asked: those of the lines that are asked about one by one, the most surprising first, and suspects: what is known of them. Both are
            found by `propose`.
    """

    asking: Asking
    lines: Lines
    first: int
    end: int
    language: str = "plaintext"
    asker: Asker | None = None
    failure: Failure | None = None
    newline: str = "\n"
    draws: int = 5
    temperature: float = 0.6
    seed: int = 0
    asked: tuple[int, ...] = ()
    suspects: tuple[LineSurprise, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.first < self.end <= len(self.lines):
            raise ValueError(f"lines {self.first} to {self.end} of a file of {len(self.lines)}")


def request_for(
    asking: Asking,
    text: str,
    first: int,
    end: int,
    *,
    language: str = "plaintext",
    asker: Asker | None = None,
    failure: Failure | None = None,
) -> Request:
    """The request for the lines of a text from `first` up to, not including, `end`. Raises ValueError where they are not there."""
    lines = split_lines(text)
    newline = with_the_documents_newlines("\n", Cursor("".join(lines[:first]), "".join(lines[first:])))
    return Request(asking, tuple(map(content, lines)), first, end, language, asker, failure, newline)
