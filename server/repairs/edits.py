"""A repair as an edit of the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lsprotocol import types

from ...analysis.text_edits import changed_span
from ...suggestion.positions import Encoding, Position, Range, column_at
from ...suggestion.repair.request import Repair
from .lines import Lines


@dataclass(frozen=True, slots=True)
class ActionsOf:
    """What a client makes of code actions. literals: it knows more than commands. resolves: it asks for the edit of the chosen one.
    versioned: it compares the version of an edited document."""

    literals: bool = False
    resolves: bool = False
    versioned: bool = False


def actions_of(capabilities: types.ClientCapabilities) -> ActionsOf:
    """What a client says of itself."""
    text, workspace = capabilities.text_document, capabilities.workspace
    action = None if text is None else text.code_action
    edit = None if workspace is None else workspace.workspace_edit
    resolve = None if action is None else action.resolve_support
    literals = action is not None and action.code_action_literal_support is not None
    return ActionsOf(
        literals=literals,
        resolves=literals and resolve is not None and "edit" in resolve.properties and bool(action and action.data_support),
        versioned=edit is not None and bool(edit.document_changes),
    )


def workspace_edit(repairs: Sequence[Repair], lines: Lines, encoding: Encoding, *, versioned: bool) -> types.WorkspaceEdit:
    """The edit that makes repairs of different lines of a document.

    lines: any of the document. versioned: for a client that compares the document's version, and refuses the edit where it differs.
    """
    edits = [types.TextEdit(types.Range(*_ends(place)), text) for place, text in (text_edit(repair, encoding) for repair in repairs)]
    if not versioned:
        return types.WorkspaceEdit(changes={lines.uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=lines.uri, version=lines.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])


def _ends(place: Range) -> tuple[types.Position, types.Position]:
    return types.Position(place.start.line, place.start.character), types.Position(place.end.line, place.end.character)


def text_edit(repair: Repair, encoding: Encoding) -> tuple[Range, str]:
    """The smallest edit within one line, so that the cursor stays where it is; else whole lines. What is replaced, and by which text."""
    place, old, new = repair.suggestion.range, repair.old, repair.suggestion.text
    if place.start.line != place.end.line or "\n" in new or "\r" in new:
        return place, new
    first, last, text = changed_span(old, new)
    start, end = (Position(place.start.line, column_at(old, index, encoding)) for index in (first, last))
    return Range(start, end), text
