"""`textDocument/hover`: why an accepted suggestion had its confidence."""

from __future__ import annotations

from lsprotocol import types

from ..confidence.explanation import hover_markdown
from ..language_server import AssayServer


def hover(ls: AssayServer, params: types.HoverParams) -> types.Hover | None:
    """Why the suggestion that was accepted on this line had the confidence that it had."""
    document = ls.protocol.documents.get(params.text_document.uri)
    found = None if document is None else ls.hover_anchors.at(document, params.position.line)
    return None if found is None else types.Hover(types.MarkupContent(types.MarkupKind.Markdown, hover_markdown(found)))
