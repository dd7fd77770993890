"""A suggestion on the screen, and what stands of it in the document while its user types along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...calibration.log.events import By
from ...suggestion.remainder import NEWLINE
from ..documents.documents import Splice

# Characters behind the cursor that an edit may repeat. (Where a text is put in before one that begins alike, an editor that compares lines
# says that it was put in behind that beginning.)
_MAX_ALIKE = 64
# Characters that an editor closes at once.
_MAX_CLOSED = 64
# What editors close by themselves, and what they put before it.
_CLOSING = ")]}>\"'` \t\n"


@dataclass(slots=True)
class LiveShowing:
    """A showing that goes on. stood: of its text, what stands in the document up to the cursor; done: how many of its characters that is.

    given: so many of them stood there when it began; closed: what the editor put behind the cursor; parts: which characters the editor put
    in; last: the latest that came at once, and when; others: alternatives that the user may go on to; aside: showings that the user went
    on from and may come back to, which end with this one; seen_s: how long it was there before it was put aside.
    """

    id: str
    uri: str
    start: int
    text: str
    began_s: float
    stood: str = ""
    done: int = 0
    given: int = 0
    closed: str = ""
    seen: bool = False
    since_s: float = 0.0
    parts: list[tuple[int, int]] = field(default_factory=list)
    last: tuple[int, int, float] | None = None
    others: dict[str, str] = field(default_factory=dict)
    by: By = "inferred"
    part_told: bool = False
    accepting_s: float | None = None
    aside: dict[str, LiveShowing] = field(default_factory=dict)
    seen_s: float = 0.0

    @property
    def cursor(self) -> int:
        """Where it is to be seen."""
        return self.start + len(self.stood)

    @property
    def accepted(self) -> int:
        """How many of its characters the editor put in."""
        return sum(end - start for start, end in self.parts)

    @property
    def left(self) -> str:
        """What is not there yet, without what the editor has closed and without white space around it."""
        return self.text[self.done :].rstrip().removesuffix(self.closed.rstrip()).strip()

    def passes(self, cursor: int, between: Callable[[int, int], str]) -> bool:
        """Whether the cursor is at its place, perhaps behind what the editor had closed: typing that over changes no text."""
        over = cursor - self.cursor
        if over == 0:
            return True
        if not 0 < over <= len(self.closed):
            return False
        there = self.closed[:over]
        if not self.text.startswith(there, self.done) or between(self.cursor, cursor) != there:
            return False
        self.stood, self.closed = self.stood + there, self.closed[over:]
        self.done += over
        return True

    def is_at(self, start: int, end: int) -> bool:
        """Whether an edit from one offset to another is one right before the cursor."""
        return self.start <= start <= self.cursor <= end <= self.cursor + len(self.closed)


def along(text: str, stood: str) -> int | None:
    r"""How many characters of a text stand there; None where what stands does not begin the text. (Lines of both end with \n.)

    White space at a line's start and end may differ, for editors have their own ideas of it.
    """
    if text.startswith(stood):
        return len(stood)
    lines, (*whole, last) = text.split("\n"), stood.split("\n")
    if not whole or len(whole) >= len(lines) or lines[0].rstrip() != whole[0].rstrip():
        return None
    if any(line.strip() != there.strip() for line, there in zip(lines[1:], whole[1:], strict=False)):
        return None
    line, there = lines[len(whole)], last.lstrip(" \t")
    indent = len(line) - len(line.lstrip(" \t"))
    if not line.startswith(there, indent):
        return None
    start = sum(len(line) + 1 for line in lines[: len(whole)])
    return start + (indent + len(there) if there else min(indent, len(last)))


def is_at_once(text: str) -> bool:
    """Whether no single key puts in a text: a key may indent, and a line break may indent the next line."""
    return len(text.strip() if "\n" in text else text) > 1 and not text.isspace()


def plain(text: str) -> str:
    r"""The text with lines that end with \n."""
    return NEWLINE.sub("\n", text) if "\r" in text else text


def is_same(left: str, text: str) -> bool:
    """Whether what is left of a text is another, what editors close by themselves aside."""
    return left.rstrip(_CLOSING) == text.strip().rstrip(_CLOSING)


def at_cursor(live: LiveShowing, splice: Splice, between: Callable[[int, int], str]) -> Splice:
    """The same edit as one at the cursor, where it is one of several that give the same text, or comes behind what is typed over."""
    start, cursor = splice.start, live.cursor
    if splice.removed and splice.added:
        return splice
    if splice.added and cursor < start <= cursor + _MAX_ALIKE:
        if live.passes(start, between):
            return splice
        same = between(cursor, start)
        whole = same + splice.added
        return Splice(cursor, "", whole[: len(splice.added)]) if whole.endswith(same) else splice
    if splice.removed and cursor < splice.end <= min(cursor + _MAX_ALIKE, cursor + len(splice.removed)) and not live.closed:
        size = splice.end - cursor
        same = between(start - size, start) if start >= size else ""
        whole = same + splice.removed
        return Splice(start - size, whole[: len(splice.removed)], "") if same and whole.endswith(same) else splice
    return splice


def grown(live: LiveShowing, text: str, splice: Splice) -> tuple[str, int, str] | None:
    """What stands of a text up to the cursor after an edit there, how much that is, and what is closed behind it; None where it is not
    along the text."""
    before, added = live.stood[: splice.start - live.start], splice.added
    if len(added) > len(text) + _MAX_CLOSED:
        return None
    closed = live.closed[splice.end - live.cursor :]
    stood = before + added
    if (done := along(text, plain(stood))) is not None:
        return stood, done, closed
    # An editor that closes what is opened puts in both at once.
    for end in range(len(added) - 1, max(0, len(added) - _MAX_CLOSED), -1):
        if added[end] not in _CLOSING and added[end] != "\r":
            return None
        done = along(text, plain(before + added[:end]))
        if done is not None and done > live.done:
            return before + added[:end], done, added[end:] + closed
    return None
