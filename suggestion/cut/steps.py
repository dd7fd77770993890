"""How a suggestion is cut: each step between the tokens of a model and the text on the screen, in order.

1. `suggestion.kind` says whether a line, a block or a function is wanted.
2. A stopping rule ends the text while the model writes: `suggestion.stopping_rule` says which, `inference.stopping.rules` lists them.
3. `AFTER_WRITING` cuts the finished text, where the model was asked. What is left is remembered by the server and recorded by the studies,
   with what the parse guard says of it (`suggestion.syntax`). In place of a line that breaks the file, `complete` looks for another.
4. `suggestion.remainder` takes away what the user has typed since, and brackets that the editor has closed.
5. `BEFORE_SHOWING` cuts what is left where the cursor is now, or hides it: None from any of these steps, and nothing is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate

from ...inference.completion.task import next_lines, start_of_line
from ...inference.model import Generation, StopReason, Token
from ...inference.stopping.rules import is_common
from ...inference.stopping.statements import open_brackets, unpaired_closing, whole_statements
from ..cursor import Cursor
from ..positions import bare_lines, content, split_lines
from ..syntax.guard import breaks
from .indentation_style import in_the_documents_style
from .overlap import without_overlap_behind


def unless_blank(text: str, _: Cursor) -> str | None:
    """The text; None where it is blank."""
    return text if text.strip() else None


def without_trailing_space(text: str, cursor: Cursor) -> str:
    """The text without white space at its end; all of it where text stands behind the cursor."""
    return text if cursor.rest_of_line.strip() else text.rstrip()


_CLOSING_RUN = re.compile(r"[)\]}]*")


def without_closed_brackets(text: str, cursor: Cursor) -> str:
    """A block or a function without the closing brackets at its end that would close what follows closes again. A line stays as it is."""
    if cursor.kind == "line":
        return text
    following = cursor.rest_of_line.strip() or "".join(next_lines(cursor.suffix, 1)).strip()
    there = _CLOSING_RUN.match(following)
    closing = unpaired_closing(text)
    if not there or not there[0] or not closing:
        return text
    opened = open_brackets(cursor.prefix)
    there_too = there[0][:opened]
    surplus = len(closing) + len(there_too) - opened
    if not 0 < surplus <= len(there_too):
        return text
    start = closing[-surplus]
    end = "".join(text[start:].split())
    return text[:start].rstrip() if len(end) == surplus and there_too.endswith(end) else text


def unless_it_repeats_the_rest(text: str, cursor: Cursor) -> str | None:
    """The text; None where what stands behind it on its line begins with the same words. A lone bracket may be one more."""
    rest, said = cursor.rest_of_line.strip(), text.strip()
    if not any(map(str.isalnum, said)) or not rest.startswith(said):
        return text
    following = rest[len(said) :][:1]
    return text if _in_word(said[-1]) and _in_word(following) else None


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


# So many characters before the cursor are looked at for the lines above it.
_NEAR = 1 << 12


def unless_it_repeats_lines(text: str, cursor: Cursor) -> str | None:
    """The text; None where the lines that come of it are those that stand right above or below."""
    made = _visible(start_of_line(cursor.prefix) + text + cursor.rest_of_line)
    below = list(next_lines(cursor.suffix, len(made)))
    above = _visible(cursor.prefix[-_NEAR:].removesuffix(start_of_line(cursor.prefix)))[-len(made) :]
    if all(map(is_common, made)):
        # A bracket or a `return` below another is none the same unless it stands in the same column.
        return None if made in (below, above) else text
    stripped = [line.strip() for line in made]
    return None if any(stripped == [line.strip() for line in lines] for lines in (below, above)) else text


def _visible(text: str) -> list[str]:
    return [line.rstrip() for line in bare_lines(text) if line.strip()]


_LINE_END = re.compile(r"\r\n|\r|\n")


def with_the_documents_newlines(text: str, cursor: Cursor) -> str:
    """The text with its lines ended as the line before the cursor's is."""
    return _newline_at(cursor).join(map(content, split_lines(text)))


def _newline_at(cursor: Cursor) -> str:
    r"""What ends the line before the cursor's; in the first line, what ends that one; `\n` where neither is in sight."""
    end = len(cursor.prefix) - len(start_of_line(cursor.prefix))
    if end:
        return "\r\n" if cursor.prefix.endswith("\r\n", 0, end) else cursor.prefix[end - 1]
    found = _LINE_END.search(cursor.suffix)
    return found[0] if found else "\n"


# Ends that came in the middle of something.
_UNFINISHED = {StopReason.TOKENS, StopReason.TIME, StopReason.REPETITION}
# Ends with tokens behind the text that are not part of it.
_OVERSHOT = _UNFINISHED | {StopReason.SUFFIX}


def without_unfinished_end(generation: Generation, cursor: Cursor) -> Generation:
    """Keep nothing of an unfinished line, and of a block or a function its whole statements with the tokens that they are made of.

    Measures then say how sure the model was of what is kept, not that it ends there. Where nothing is kept, all tokens stay.
    """
    text, tokens = generation.text, generation.tokens
    if generation.stopped_by in _UNFINISHED:
        # A loop leaves a block's lines whole, a budget may end in one.
        end = "\n" if generation.stopped_by is StopReason.REPETITION else ""
        text = "" if cursor.kind == "line" else whole_statements(text + end, cursor.prefix)
    if cursor.kind != "line" and text and generation.stopped_by in _OVERSHOT:
        tokens = _first_tokens(tokens, len(text.encode()))
    return replace(generation, text=text, tokens=tokens)


def _first_tokens(tokens: tuple[Token, ...], size: int) -> tuple[Token, ...]:
    """The tokens that the first `size` bytes of the text are made of."""
    reached = accumulate(len(token.text) for token in tokens)
    return tokens[: next((count for count, bytes in enumerate(reached, 1) if bytes >= size), len(tokens))]


AFTER_WRITING: tuple[Callable[[Generation, Cursor], Generation], ...] = (
    without_unfinished_end,
    without_overlap_behind,
)
BEFORE_SHOWING: tuple[Callable[[str, Cursor], str | None], ...] = (
    without_trailing_space,
    without_closed_brackets,
    unless_blank,
    in_the_documents_style,
    unless_it_repeats_the_rest,
    unless_it_repeats_lines,
    with_the_documents_newlines,
)


def cut_after_writing(generation: Generation, cursor: Cursor) -> Generation:
    """What is kept of a finished generation, where the model was asked, and whether it breaks the file."""
    for step in AFTER_WRITING:
        generation = step(generation, cursor)
    shown = text_to_show(generation.text, cursor)
    return replace(generation, parses=shown is None or not breaks(shown, cursor))


def text_to_show(text: str, cursor: Cursor) -> str | None:
    """The text to insert at a cursor, of what was written or is left of it; None where nothing is shown.

    Cutting a text again changes nothing.
    """
    left: str | None = text
    for step in BEFORE_SHOWING:
        if left is None:
            return None
        left = step(left, cursor)
    return left
