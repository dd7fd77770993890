"""`assay/verify`: what the tests of a project say of changes of a document."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ...suggestion.positions import Position
from ...suggestion.repair.verified import Verification
from ..documents.documents import Document
from ..language_server import AssayServer
from ..protocol.pygls_protocol import fields_of

VERIFY = "assay/verify"
# Nobody looks at more.
_MAX_CHANGES = 100


async def verify(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/verify` {textDocument, texts or edits, maxMs?, partialResultToken?}: docs/formats.md.

    Raises JsonRpcInvalidParams, and JsonRpcException where the document is another version.
    """
    fields = fields_of(params)
    document = _document(ls, fields)
    texts = _texts(ls, document, fields)
    max_ms, token = fields.get("maxMs"), fields.get("partialResultToken")
    version, before = document.version, document.text
    limit = max_ms / 1e3 if isinstance(max_ms, int | float) else None
    found: list[dict[str, Any]] = []
    if ls.settings.repair_verify:
        with suppress(TimeoutError):
            async with asyncio.timeout(limit):
                async for said in ls.verifications.judged(document.uri, before, texts, asks="once"):
                    found.append(said.as_json() | {"title": said.title})
                    if isinstance(token, str | int):
                        ls.protocol.notify(
                            types.PROGRESS, types.ProgressParams(token, {"index": len(found) - 1, "verification": found[-1]})
                        )
        why = "not run: the time was up"
    else:
        why = "no tests are run (assay.repair.verify)"
    found += [Verification(None, 0, 0.0, why=why).as_json() | {"title": why}] * (len(texts) - len(found))
    return {"version": version, "verifications": found}


def _document(ls: AssayServer, fields: dict[str, Any]) -> Document:
    named = fields.get("textDocument")
    uri = named.get("uri") if isinstance(named, dict) else None
    document = ls.protocol.documents.get(uri) if isinstance(uri, str) else None
    if not isinstance(named, dict) or document is None:
        raise JsonRpcInvalidParams(f'{VERIFY}: "textDocument" names no open document')
    if named.get("version") not in (None, document.version):
        raise JsonRpcException(f"{VERIFY}: the text has changed", types.LSPErrorCodes.ContentModified.value)
    return document


def _texts(ls: AssayServer, document: Document, fields: dict[str, Any]) -> list[str]:
    """The whole texts that are to be judged."""
    texts, edits = fields.get("texts"), fields.get("edits")
    if isinstance(texts, list) and all(isinstance(text, str) for text in texts) and len(texts) <= _MAX_CHANGES:
        return texts
    if not isinstance(edits, list) or len(edits) > _MAX_CHANGES:
        raise JsonRpcInvalidParams(f'{VERIFY}: "texts" are strings, or "edits" are text edits, at most {_MAX_CHANGES}')
    try:
        return [_edited(document, ls.protocol.structured(edit, types.TextEdit)) for edit in edits]
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{VERIFY}: {error}") from error


def _edited(document: Document, edit: types.TextEdit) -> str:
    start, end = edit.range.start, edit.range.end
    first, last = (document.offset(document.clamp(Position(at.line, at.character))) for at in (start, end))
    return document.text[:first] + edit.new_text + document.text[last:]
