"""How a suggestion is cut: each step between the tokens of a model and the text on the screen, in order.

1. `suggestion.kind` says whether a line, a block or a function is wanted.
2. A stopping rule ends the text while the model writes: `suggestion.stopping_rule` says which, `inference.stopping.rules` lists them.
3. `AFTER_WRITING` cuts the finished text, where the model was asked. What is left is remembered by the server and recorded by the studies,
   with what the parse guard says of it (`suggestion.syntax`). In place of a line that breaks the file, `complete` looks for another.
4. `suggestion.remaining_between` takes away what the user has typed since, and brackets that the editor has closed.
5. `BEFORE_SHOWING` cuts what is left where the cursor is now, or hides it: None from any of these steps, and nothing is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...inference.model import Generation
from ..cursor import Cursor
from ..syntax.guard import breaks
from .blank import unless_blank
from .closed_brackets import without_closed_brackets
from .indentation_style import in_the_documents_style
from .newlines import with_the_documents_newlines
from .overlap import without_overlap_behind
from .repeated_lines import unless_it_repeats_lines
from .repeated_rest import unless_it_repeats_the_rest
from .trailing_space import without_trailing_space
from .unfinished_end import without_unfinished_end

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
