"""`assay/context`: what the model would be shown at a place."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from ...suggestion.positions import Position
from ..language_server import AssayServer
from ..model.process import ModelProcessDied, ModelRequestFailed, ModelUnavailable
from ..requests.refusal import Refusal
from .suggestions_at import is_secret, request_at, with_texts

CONTEXT = "assay/context"


async def context(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/context` {textDocument, position}: what the model would be shown there. Raises JsonRpcInvalidParams, JsonRpcInternalError."""
    try:
        structured: types.TextDocumentPositionParams = ls.protocol.structured(params, types.TextDocumentPositionParams)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {error}") from error
    document = ls.protocol.documents.get(structured.text_document.uri)
    if document is None:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {structured.text_document.uri} is not open")
    at = document.clamp(Position(structured.position.line, structured.position.character))
    request = request_at(ls, document, at, invoked=True)
    if is_secret(request):
        raise JsonRpcInvalidParams(f"{CONTEXT}: {Refusal.SECRET.sentence}")
    try:
        return await ls.live.context(with_texts(ls, document, at, request))
    except (ModelUnavailable, ModelProcessDied, ModelRequestFailed) as error:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {error}") from error
