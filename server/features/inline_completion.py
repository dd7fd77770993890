"""`textDocument/inlineCompletion`: the suggestions at the cursor, and how they look on the wire."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lsprotocol import types

from ...suggestion.positions import Position, Range, bare_lines
from ...suggestion.suggestion import Suggestion
from ..language_server import AssayServer
from ..protocol.keystroke_messages import InlineAsked
from .outcome_commands import ACCEPTED
from .suggestions_at import UNKNOWN_DOCUMENT, suggestions_at

_INVOKED = types.InlineCompletionTriggerKind.Invoked.value


async def inline_completion(ls: AssayServer, asked: InlineAsked) -> dict[str, Any]:
    """The suggestions at the cursor: one, or on invoke up to `alternatives`; none also when the text changes while the model works."""
    nothing: dict[str, Any] = {"items": []}
    invoked = asked.context.trigger_kind == _INVOKED
    document = ls.protocol.documents.get(asked.text_document.uri)
    if document is None:
        ls.requests.nothing(asked.text_document.uri, UNKNOWN_DOCUMENT, invoked=invoked)
        return nothing
    at = document.clamp(Position(asked.position.line, asked.position.character))
    replaced, before = Range(at, at), ""
    if (selected := asked.context.selected_completion_info) is not None:
        # The menu's selected item counts as typed: what is suggested goes on behind it, and puts it in, too.
        start, end = selected.range.start, selected.range.end
        replaced = Range(document.clamp(Position(start.line, start.character)), document.clamp(Position(end.line, end.character)))
        if replaced.start.line != at.line or replaced.end != at or replaced.start > at:
            ls.requests.nothing(document.uri, "What is selected in the menu does not end at the cursor, on its line.", invoked=invoked)
            return nothing
        before = selected.text
    suggestions = await suggestions_at(ls, document, at, invoked=invoked, replaced=replaced, selected=before)
    whole = [replace(suggestion, text=before + suggestion.text) for suggestion in suggestions] if before else suggestions
    return {"items": [inline_item(each, line_feeds=ls.is_neovim) for each in whole]}


def inline_item(suggestion: Suggestion, *, line_feeds: bool) -> dict[str, Any]:
    """An InlineCompletionItem. line_feeds: its lines end so, whatever the document's do: the editor mends that."""
    return {
        "insertText": "\n".join(bare_lines(suggestion.text)) if line_feeds else suggestion.text,
        "range": suggestion.range.as_json(),
        "command": {"title": "Suggestion accepted", "command": ACCEPTED, "arguments": [suggestion.as_json()]},
    }
