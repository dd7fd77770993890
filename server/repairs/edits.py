"""A repair as an edit of the workspace."""

from __future__ import annotations

from lsprotocol import types

from ...analysis.morphisms.text_edits import changed_span
from ...suggestion.positions import Encoding, Position, Range, column_at
from ...suggestion.repair.request import Repair
from .lines import Lines


def workspace_edit(repair: Repair, lines: Lines, encoding: Encoding, *, versioned: bool) -> types.WorkspaceEdit:
    """The edit that makes a repair. versioned: for a client that compares the document's version, and refuses the edit where it differs."""
    place, text = text_edit(repair, encoding)
    start, end = (types.Position(at.line, at.character) for at in (place.start, place.end))
    edit = types.TextEdit(types.Range(start, end), text)
    if not versioned:
        return types.WorkspaceEdit(changes={lines.uri: [edit]})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=lines.uri, version=lines.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, [edit])])


def text_edit(repair: Repair, encoding: Encoding) -> tuple[Range, str]:
    """The smallest edit within one line, so that the cursor stays where it is; else whole lines. What is replaced, and by which text."""
    place, old, new = repair.suggestion.range, repair.old, repair.suggestion.text
    if place.start.line != place.end.line or "\n" in new or "\r" in new:
        return place, new
    first, last, text = changed_span(old, new)
    start, end = (Position(place.start.line, column_at(old, index, encoding)) for index in (first, last))
    return Range(start, end), text
