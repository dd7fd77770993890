"""Which lines of a document are to be repaired, as a code action carries them to the client and back."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from ...suggestion.positions import Range
from ..documents.documents import Document

# More lines are no place of a mistake, and a whole file is not hashed while a lightbulb waits.
MAX_LINES = 200
# A line of more characters is data, or written by a program (as in suggestion/repair/asking.py).
MAX_CHARACTERS = 1_000
# So far from where they stood lines are looked for in a text that has changed, and so many lines are compared for it.
_REACH, _MAX_COMPARED = 500, 20_000
_MAX_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class Lines:
    """lines[first:end] of a document at a version. digest: of their text. message: what another tool says is wrong there, or empty."""

    uri: str
    version: int
    first: int
    end: int
    digest: str
    message: str = ""

    def as_json(self) -> dict[str, Any]:
        """The `data` of a code action, and the argument of the commands."""
        told = {"message": self.message} if self.message else {}
        span = {"start": {"line": self.first, "character": 0}, "end": {"line": self.end, "character": 0}}
        return {"uri": self.uri, "version": self.version, "range": span, "lines": self.digest, **told}

    @property
    def name(self) -> str:
        """What they are called in the user interface."""
        return "line" if self.end - self.first == 1 else "block"


def lines_at(document: Document, place: Range, message: str = "", *, max_characters: float = MAX_CHARACTERS) -> Lines | None:
    """The lines of a range; None where nothing is to be repaired there: no such line, blank ones alone, too many, or one that is too long.

    A selection that ends before the first character of a line does not have that line.
    """
    first, last = place.start.line, place.end.line
    if last > first and place.end.character == 0:
        last -= 1
    count = document.line_count
    if not 0 <= first <= last < count or last - first >= MAX_LINES:
        return None
    texts = [document.line(number) for number in range(first, last + 1)]
    if not any(text.strip() for text in texts) or max(map(len, texts)) > max_characters:
        return None
    return Lines(document.uri, document.version, first, last + 1, _digest(texts), message[:_MAX_MESSAGE])


def lines_in(data: Any) -> Lines:
    """The lines that `as_json` gave. Raises ValueError."""
    try:
        span = data["range"]
        numbers = [data["version"], span["start"]["line"], span["end"]["line"]]
        texts = [data["uri"], data["lines"], data.get("message", "")]
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError("it is no object with uri, version, range and lines, as the server gave it") from error
    if not all(isinstance(number, int) for number in numbers) or not all(isinstance(text, str) for text in texts):
        raise ValueError("version and lines are numbers, uri and lines are texts")
    return Lines(texts[0], numbers[0], numbers[1], numbers[2], texts[1], texts[2])


def found_again(document: Document, lines: Lines) -> Lines | None:
    """The same lines as the document is now; None where they are gone.

    They are looked for near where they stood. Where several there are the same, nobody can say which are meant: None as well.
    """
    size, count = lines.end - lines.first, document.line_count
    if not (0 < size <= MAX_LINES and lines.first >= 0):
        return None
    if document.version == lines.version:
        places = [lines.first]
    else:
        reach = min(_REACH, _MAX_COMPARED // size)
        places = list(range(max(0, lines.first - reach), lines.first + reach))
    texts = {number: document.line(number) for number in range(places[0], min(places[-1] + size, count))}
    same = [at for at in places if at + size <= count and _digest([texts[at + number] for number in range(size)]) == lines.digest]
    return replace(lines, version=document.version, first=same[0], end=same[0] + size) if len(same) == 1 else None


def _digest(texts: list[str]) -> str:
    """Of lines, whatever ends them."""
    text = "\n".join(text.rstrip("\r\n") for text in texts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
