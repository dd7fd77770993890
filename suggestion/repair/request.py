"""What is asked for: repairs of some lines of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...inference.asking.asker import Asker
from ...inference.model import StopReason
from ..cursor import Cursor
from ..cut.steps import with_the_documents_newlines
from ..positions import content, split_lines
from ..suggestion import Suggestion
from .asking import Asking
from .candidate import Lines
from .surprise import LineSurprise


@dataclass(frozen=True, slots=True)
class Repair:
    """A suggestion of kind "repair".

    suggestion: its text replaces whole lines; its measures are those of the new lines, and those of `measures`.
    old: what stands there. sources: those that gave it. rules: of the rules among these.
    mends: the file does not parse without it, and parses, or has fewer mistakes, with it.
    """

    suggestion: Suggestion
    old: str
    sources: tuple[str, ...]
    rules: tuple[str, ...]
    mends: bool

    def as_json(self) -> dict[str, Any]:
        """A suggestion, with more fields (docs/formats.md)."""
        more = {"old": self.old, "sources": list(self.sources), "rules": list(self.rules), "mends": self.mends}
        return self.suggestion.as_json() | more


@dataclass(frozen=True, slots=True)
class Repairs:
    """What was found.

    Attributes
        found: the repairs, the best first.
        suspects: the lines that surprise the model, the most surprising first.
        not_asked: why a source was not asked, by its name.
        stopped_by: why there may be more: TIME or CANCELLED; None where all were asked.
        lines: how many lines were to be repaired. parses: whether the file did, as far as is known.
        why_none: why there can be none, in a sentence; empty where there may be.
        nothing_better: none is likelier by as much as its size asks for, and no test is known to fail.
    """

    found: tuple[Repair, ...]
    suspects: tuple[LineSurprise, ...]
    not_asked: dict[str, str]
    stopped_by: StopReason | None
    lines: int = 1
    parses: bool = True
    why_none: str = ""
    nothing_better: bool = False

    def as_json(self) -> dict[str, Any]:
        """What `assay repair --json` prints of them; the suspects only where they are asked for."""
        why = {"why_none": self.why_none} if self.why_none else {}
        return {
            "repairs": [repair.as_json() for repair in self.found],
            "nothing_better": self.nothing_better,
            "not_asked": self.not_asked,
            "stopped_by": None if self.stopped_by is None else self.stopped_by.value,
            **why,
        }


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
