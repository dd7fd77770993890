"""`assay/cursorRests`: an editor tells where its cursor rests, so that the model has read that place when the user begins to type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from ...suggestion.positions import Position
from ..language_server import AssayServer
from ..requests.request import GenerationRequest
from .progress import log_line
from .suggestions_at import is_secret, request_at, with_texts

CURSOR_RESTS = "assay/cursorRests"
_LINE_END = 2**31 - 1


def cursor_rests(ls: AssayServer, params: Any) -> None:
    """`assay/cursorRests` {textDocument, position}: a notification. Within a line the model reads for the line's end.

    Nobody waits for it, so bad params only go to the log.
    """
    try:
        structured: types.TextDocumentPositionParams = ls.protocol.structured(params, types.TextDocumentPositionParams)
    except ValueError as error:
        log_line(ls, f"{CURSOR_RESTS}: {error}")
        return
    document = ls.protocol.documents.get(structured.text_document.uri)
    if document is None:
        return
    ls.edited_files.tell(document.uri)
    at = document.clamp(Position(structured.position.line, structured.position.character))
    request = request_at(ls, document, at, invoked=False)

    def texts() -> Iterator[GenerationRequest]:
        yield with_texts(ls, document, at, request)
        end = document.clamp(Position(at.line, _LINE_END))
        yield with_texts(ls, document, end, request_at(ls, document, end, invoked=False))

    ls.requests.read_ahead(request, texts, secret=is_secret(request))
