"""The suggestion on the screen, and how much of its text is in the document while the user types along it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...calibration.log.events import By
from ...suggestion.remainder import NEWLINE
from ..documents.documents import Splice

# If a text is inserted before an equal one, an editor that compares lines may report it as inserted after that one. So far after the cursor
# such a report is corrected.
_MAX_SHIFT = 64
# How many characters an editor may insert at once after the cursor to close brackets and quotes.
_MAX_AUTO_CLOSED = 64
# What editors insert by themselves to close something, and the white space before it.
_CLOSING = ")]}>\"'` \t\n"


@dataclass(slots=True)
class LiveShowing:
    """A showing that has not ended yet.

    start: the offset where its text begins.
    in_document: what stands there up to the cursor. progress: how many characters of `text` that is.
    progress_at_start: the progress when the showing began.
    auto_closed: what the editor closed after the cursor.
    unchanged_since_s: the time of the last edit.
    inserted_parts: which characters of `text` the editor inserted, as (start, end).
    last_step: what came with the last edit, as (start, end, time).
    alternatives: texts by id that the user may switch to.
    by: who reported `inserted_parts`.
    part_reported: the client reported a partial acceptance whose edit has not come yet.
    accept_reported_s: when the client reported the acceptance, while its edit has not come yet.
    set_aside: showings that the user switched away from and may switch back to. They end with this one.
    visible_before_s: how long it was visible before it was set aside.
    """

    id: str
    uri: str
    start: int
    text: str
    began_s: float
    in_document: str = ""
    progress: int = 0
    progress_at_start: int = 0
    auto_closed: str = ""
    seen: bool = False
    unchanged_since_s: float = 0.0
    inserted_parts: list[tuple[int, int]] = field(default_factory=list)
    last_step: tuple[int, int, float] | None = None
    alternatives: dict[str, str] = field(default_factory=dict)
    by: By = "inferred"
    part_reported: bool = False
    accept_reported_s: float | None = None
    set_aside: dict[str, LiveShowing] = field(default_factory=dict)
    visible_before_s: float = 0.0

    @property
    def cursor(self) -> int:
        """The offset of the cursor, where the rest of the text is shown."""
        return self.start + len(self.in_document)

    @property
    def accepted(self) -> int:
        """How many of its characters the editor inserted."""
        return sum(end - start for start, end in self.inserted_parts)

    @property
    def remaining(self) -> str:
        """The text that is not in the document yet, without what the editor has closed, and stripped."""
        return self.text[self.progress :].rstrip().removesuffix(self.auto_closed.rstrip()).strip()

    def passes(self, cursor: int, between: Callable[[int, int], str]) -> bool:
        """Whether the cursor is where the showing is.

        Typing over a bracket that the editor had closed moves the cursor but changes no text. Such a step is taken into `in_document`.
        """
        over = cursor - self.cursor
        if over == 0:
            return True
        if not 0 < over <= len(self.auto_closed):
            return False
        there = self.auto_closed[:over]
        if not self.text.startswith(there, self.progress) or between(self.cursor, cursor) != there:
            return False
        self.in_document, self.auto_closed = self.in_document + there, self.auto_closed[over:]
        self.progress += over
        return True

    def is_at(self, start: int, end: int) -> bool:
        """Whether an edit of this range is one right before the cursor."""
        return self.start <= start <= self.cursor <= end <= self.cursor + len(self.auto_closed)


def matched_length(text: str, in_document: str) -> int | None:
    r"""How many characters of a text are in the document, where `in_document` stands. None if that is not a beginning of the text.

    Lines of both end with \n. White space at the start and end of a line may differ, because editors change it.
    """
    if text.startswith(in_document):
        return len(in_document)
    lines, (*whole, last) = text.split("\n"), in_document.split("\n")
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


def is_more_than_a_key(text: str) -> bool:
    """Whether a text is more than one key can insert. (One key may indent, and a line break may indent the next line.)"""
    return len(text.strip() if "\n" in text else text) > 1 and not text.isspace()


def with_line_feeds(text: str) -> str:
    r"""The text with lines that end with \n."""
    return NEWLINE.sub("\n", text) if "\r" in text else text


def is_same(remaining: str, text: str) -> bool:
    """Whether the rest of a suggestion equals a text, except for what editors close by themselves."""
    return remaining.rstrip(_CLOSING) == text.strip().rstrip(_CLOSING)


def at_cursor(live: LiveShowing, splice: Splice, between: Callable[[int, int], str]) -> Splice:
    """The same edit, reported at the cursor.

    Several reports of an insertion can give the same text, such as "a" inserted before or after another "a". An edit may also come after
    what was typed over.
    """
    start, cursor = splice.start, live.cursor
    if splice.removed and splice.added:
        return splice
    if splice.added and cursor < start <= cursor + _MAX_SHIFT:
        if live.passes(start, between):
            return splice
        same = between(cursor, start)
        whole = same + splice.added
        return Splice(cursor, "", whole[: len(splice.added)]) if whole.endswith(same) else splice
    if splice.removed and cursor < splice.end <= min(cursor + _MAX_SHIFT, cursor + len(splice.removed)) and not live.auto_closed:
        size = splice.end - cursor
        same = between(start - size, start) if start >= size else ""
        whole = same + splice.removed
        return Splice(start - size, whole[: len(splice.removed)], "") if same and whole.endswith(same) else splice
    return splice


def after_edit(live: LiveShowing, text: str, splice: Splice) -> tuple[str, int, str] | None:
    """How a text goes on after an edit at the cursor: (in_document, progress, auto_closed). None if the edit does not follow the text."""
    before, added = live.in_document[: splice.start - live.start], splice.added
    if len(added) > len(text) + _MAX_AUTO_CLOSED:
        return None
    auto_closed = live.auto_closed[splice.end - live.cursor :]
    in_document = before + added
    if (progress := matched_length(text, with_line_feeds(in_document))) is not None:
        return in_document, progress, auto_closed
    # An editor that closes a bracket inserts both at once.
    for end in range(len(added) - 1, max(0, len(added) - _MAX_AUTO_CLOSED), -1):
        if added[end] not in _CLOSING and added[end] != "\r":
            return None
        progress = matched_length(text, with_line_feeds(before + added[:end]))
        if progress is not None and progress > live.progress:
            return before + added[:end], progress, added[end:] + auto_closed
    return None
