"""A suggestion as an item of the ordinary completion menu, for editors without inline completion. Pure.

The fields of an item follow from what editors do with it. For eglot and Helix this was read in sources that are some years old; newer
versions may do more:

* The range begins at the word before the cursor, and new text, filter text and label all begin with that word. Kate replaces the whole
  word whatever the range says, and filters by label; the others filter the filter text by what stands between the range's start and the
  cursor (Neovim, nvim-cmp, VS Code) or by the word (Helix, eglot).
* Neovim's own completion inserts the first line of a plain text and drops the rest: only a snippet is inserted whole there. It puts the
  current line's indentation before each line of one, so that this must not be in it. Kate, eglot, Helix and nvim-cmp insert plain text as
  it is.
* Neovim, Kate and eglot show `detail` in the menu, Helix beside it with the documentation, others `labelDetails`: the band is in both.
* The protocol's trigger kind tells nothing: "invoked" is both typing a word and asking for the list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lsprotocol import types

from ...calibration.control_characters import escaped
from ...suggestion.positions import Encoding, Position, column_at, content, index_at, split_lines
from ...suggestion.suggestion import Suggestion
from ..confidence.explanation import fenced

# A wider menu would hide the code beside it. The documentation of the item has the whole text.
_MAX_LABEL = 60
# Sorts before the letters and digits of other servers.
_SORT_FIRST = "!"
_SPACES = re.compile(r"\s+")
_SNIPPET_SYNTAX = re.compile(r"[\\$}]")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place of the request. before: the text before it on its line. encoding: the unit of columns."""

    position: Position
    before: str
    encoding: Encoding


def completion_list(
    suggestion: Suggestion | None, cursor: Cursor, *, language: str, evidence: str, accepted: str, as_snippet: bool = False
) -> types.CompletionList:
    """A list with one item for the suggestion. It is empty without a suggestion, or if its range is not within the cursor's line.

    language: for the highlighting of what would be inserted; evidence: markdown (`hover_markdown`); accepted: the command that is run with
    the suggestion as its argument. as_snippet: for a client that inserts only the first line of a plain text (Neovim) and takes snippets; a
    text that has no more than one line, or is indented less than the cursor's line, stays plain. The list is incomplete, so that the
    client asks again at each keystroke.
    """
    item = None if suggestion is None else _item(suggestion, cursor, language, evidence, accepted, as_snippet)
    return types.CompletionList(is_incomplete=True, items=[] if item is None else [item])


def _item(
    suggestion: Suggestion, cursor: Cursor, language: str, evidence: str, accepted: str, as_snippet: bool
) -> types.CompletionItem | None:
    start, end = suggestion.range.start, suggestion.range.end
    if start.line != end.line or not start <= cursor.position <= end:
        return None
    replaced_from = _index(cursor, start.character)
    word_from = min(replaced_from, _word_start(cursor.before))
    column = start.character - _width(cursor.before[word_from:replaced_from], cursor.encoding)
    text = cursor.before[word_from:replaced_from] + suggestion.text
    typed = cursor.before[word_from:]
    first_line = content(split_lines(text)[0])
    snippet = _snippet(text, cursor.before) if as_snippet else None
    band = suggestion.confidence.text
    return types.CompletionItem(
        label=_label(text),
        label_details=types.CompletionItemLabelDetails(description=band),
        detail=band,
        kind=types.CompletionItemKind.Text if snippet is None else types.CompletionItemKind.Snippet,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, f"{fenced(suggestion.text, language)}\n\n{evidence}"),
        preselect=False,
        sort_text=_SORT_FIRST,
        filter_text=first_line if first_line.startswith(typed) else typed,
        insert_text_format=types.InsertTextFormat.PlainText if snippet is None else types.InsertTextFormat.Snippet,
        insert_text_mode=types.InsertTextMode.AsIs if snippet is None else types.InsertTextMode.AdjustIndentation,
        text_edit=types.TextEdit(
            types.Range(types.Position(start.line, column), types.Position(end.line, end.character)), text if snippet is None else snippet
        ),
        # Neovim can't send back null, or numbers with a fraction. The id is enough.
        command=types.Command(title="Suggestion accepted", command=accepted, arguments=[{"id": suggestion.id}]),
    )


def _word_start(before: str) -> int:
    """The start of the word at the end of a text."""
    index = len(before)
    while index > 0 and (before[index - 1].isalnum() or before[index - 1] == "_"):
        index -= 1
    return index


def _index(cursor: Cursor, column: int) -> int:
    """The index into `before` of a column. It is counted from the cursor, because `before` may lack the start of a long line."""
    cut = cursor.position.character - _width(cursor.before, cursor.encoding)
    return index_at(cursor.before, max(0, column - cut), cursor.encoding)


def _width(text: str, encoding: Encoding) -> int:
    return column_at(text, len(text), encoding)


def _label(text: str) -> str:
    """The first line that is not blank, shortened; with an ellipsis if that is not all."""
    first, *more = [line for line in map(str.strip, map(content, split_lines(text))) if line] or [""]
    label = escaped(_SPACES.sub(" ", first))
    return label if len(label) <= _MAX_LABEL and not more else f"{label[: _MAX_LABEL - 2].rstrip()} …"


def _snippet(text: str, before: str) -> str | None:
    """The text as a snippet, without the indentation that the client adds to each line. None for one line, or for less indentation."""
    first, *rest = map(content, split_lines(text))
    indent = before[: len(before) - len(before.lstrip(" \t"))]
    if not rest or any(line.strip() and not line.startswith(indent) for line in rest):
        return None
    lines = [first, *(line.removeprefix(indent) if line.strip() else "" for line in rest)]
    return _SNIPPET_SYNTAX.sub(r"\\\g<0>", "\n".join(lines))
