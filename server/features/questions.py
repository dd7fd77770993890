"""What editors ask about a place, a suggestion or a change: contexts, explanations, hovers, verifications."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from ...suggestion.positions import Position
from ...suggestion.repair.verified import Verification
from ..confidence.explanation import hover_markdown
from ..documents.documents import Document
from ..model.process import ModelProcessDied, ModelRequestFailed, ModelUnavailable
from ..model.request import GenerationRequest
from ..protocol.pygls_protocol import fields_of, structured
from ..requests.policy import Refusal
from ..requests.requests import Requests
from ..session import Session
from ..verification.verifications import Verifications
from .completions import is_secret, request_at, with_texts
from .hover_anchors import HoverAnchors
from .progress import log_line

CONTEXT = "assay/context"


async def context(session: Session, params: Any) -> dict[str, Any]:
    """`assay/context` {textDocument, position}: what the model would be shown there. Raises JsonRpcInvalidParams, JsonRpcInternalError."""
    try:
        asked = structured(params, types.TextDocumentPositionParams)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {error}") from error
    document = session.documents.get(asked.text_document.uri)
    if document is None:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {asked.text_document.uri} is not open")
    at = document.clamp(Position(asked.position.line, asked.position.character))
    request = request_at(session, document, at, invoked=True)
    if is_secret(request):
        raise JsonRpcInvalidParams(f"{CONTEXT}: {Refusal.SECRET.sentence}")
    try:
        return await session.live.context(with_texts(session, document, at, request))
    except (ModelUnavailable, ModelProcessDied, ModelRequestFailed) as error:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {error}") from error


CURSOR_RESTS = "assay/cursorRests"
_LINE_END = 2**31 - 1


def cursor_rests(editor: LanguageServer, session: Session, requests: Requests, params: Any) -> None:
    """`assay/cursorRests` {textDocument, position}: a notification. Within a line the model reads for the line's end.

    Nobody waits for it, so bad params only go to the log.
    """
    try:
        asked = structured(params, types.TextDocumentPositionParams)
    except ValueError as error:
        log_line(editor, f"{CURSOR_RESTS}: {error}")
        return
    document = session.documents.get(asked.text_document.uri)
    if document is None:
        return
    at = document.clamp(Position(asked.position.line, asked.position.character))
    request = request_at(session, document, at, invoked=False)

    def texts() -> Iterator[GenerationRequest]:
        yield with_texts(session, document, at, request)
        end = document.clamp(Position(at.line, _LINE_END))
        yield with_texts(session, document, end, request_at(session, document, end, invoked=False))

    requests.read_ahead(request, texts, secret=is_secret(request))


EXPLAIN = "assay/explain"


async def explain(requests: Requests, params: Any) -> dict[str, Any]:
    """`assay/explain` {id}: all that is known of a suggestion's confidence. Raises JsonRpcInvalidParams for an id that is not known."""
    name = _id_in(params)
    offer = requests.find(name)
    if offer is None:
        raise JsonRpcInvalidParams(f"{EXPLAIN}: no suggestion {name!r} was given out lately")
    return (await requests.explain(offer)).as_json()


def _id_in(params: Any) -> str:
    """The id in params that pygls left as they came: a dictionary, or an object made of one."""
    value = params.get("id") if isinstance(params, dict) else getattr(params, "id", None)
    if not isinstance(value, str):
        raise JsonRpcInvalidParams(f'{EXPLAIN}: "id" is a string')
    return value


def hover(session: Session, anchors: HoverAnchors, params: types.HoverParams) -> types.Hover | None:
    """Why the suggestion that was accepted on this line had the confidence that it had."""
    document = session.documents.get(params.text_document.uri)
    found = None if document is None else anchors.at(document, params.position.line)
    return None if found is None else types.Hover(types.MarkupContent(types.MarkupKind.Markdown, hover_markdown(found)))


VERIFY = "assay/verify"
# Nobody looks at more.
_MAX_CHANGES = 100


async def verify(editor: LanguageServer, session: Session, verifications: Verifications, params: Any) -> dict[str, Any]:
    """`assay/verify` {textDocument, texts or edits, maxMs?, partialResultToken?}: docs/formats.md.

    Raises JsonRpcInvalidParams, and JsonRpcException where the document is another version.
    """
    fields = fields_of(params)
    document = _document(session, fields)
    texts = _texts(document, fields)
    max_ms, token = fields.get("maxMs"), fields.get("partialResultToken")
    version, before = document.version, document.text
    limit = max_ms / 1e3 if isinstance(max_ms, int | float) else None
    found: list[dict[str, Any]] = []
    if session.settings.repair_verify:
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                async for said in verifications.judged(document.uri, before, texts, asks="once"):
                    found.append(said.as_json() | {"title": said.title})
                    if isinstance(token, str | int):
                        editor.protocol.notify(
                            types.PROGRESS, types.ProgressParams(token, {"index": len(found) - 1, "verification": found[-1]})
                        )
        why = "not run: the time was up"
    else:
        why = "no tests are run (assay.repair.verify)"
    found += [Verification(None, 0, 0.0, why=why).as_json() | {"title": why}] * (len(texts) - len(found))
    return {"version": version, "verifications": found}


def _document(session: Session, fields: dict[str, Any]) -> Document:
    named = fields.get("textDocument")
    uri = named.get("uri") if isinstance(named, dict) else None
    document = session.documents.get(uri) if isinstance(uri, str) else None
    if not isinstance(named, dict) or document is None:
        raise JsonRpcInvalidParams(f'{VERIFY}: "textDocument" names no open document')
    if named.get("version") not in (None, document.version):
        raise JsonRpcException(f"{VERIFY}: the text has changed", types.LSPErrorCodes.ContentModified.value)
    return document


def _texts(document: Document, fields: dict[str, Any]) -> list[str]:
    """The whole texts that are to be judged."""
    texts, edits = fields.get("texts"), fields.get("edits")
    if isinstance(texts, list) and all(isinstance(text, str) for text in texts) and len(texts) <= _MAX_CHANGES:
        return texts
    if not isinstance(edits, list) or len(edits) > _MAX_CHANGES:
        raise JsonRpcInvalidParams(f'{VERIFY}: "texts" are strings, or "edits" are text edits, at most {_MAX_CHANGES}')
    try:
        return [_edited(document, structured(edit, types.TextEdit)) for edit in edits]
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{VERIFY}: {error}") from error


def _edited(document: Document, edit: types.TextEdit) -> str:
    start, end = edit.range.start, edit.range.end
    first, last = (document.offset(document.clamp(Position(at.line, at.character))) for at in (start, end))
    return document.text[:first] + edit.new_text + document.text[last:]
