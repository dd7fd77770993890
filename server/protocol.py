"""pygls's protocol with its gaps closed: every request is answered, malformed ones too, and documents are our own.

pygls 2.1.1 answers nothing to a request whose params it can't read, splits documents at form feeds, and keeps a future per notification
for ever; here messages are checked before pygls sees them and document notifications are plain functions.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import cattrs
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, LanguageServerProtocol, lsp_method

from .documents import Change, Documents, OutOfSync
from .positions import Position, Range

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

_DOCUMENT_CHANGES = (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE)


class Protocol(LanguageServerProtocol):
    """One conversation with a client. exit_code is set when the client has sent `exit`."""

    def __init__(self, server: LanguageServer, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        self.documents = Documents("utf-16")
        self.initialized = False
        self.exit_code: int | None = None
        self._ending = False

    def receive(self, body: bytes) -> None:
        """Act on one message. Whatever it is, a request in it gets an answer."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            self._refuse(None, JsonRpcParseError(f"The message is not JSON: {error}"))
            return
        if (fault := _envelope_fault(data)) is not None:
            number = data.get("id") if isinstance(data, dict) else None
            self._refuse(number if _is_id(number) else None, JsonRpcInvalidRequest(fault))
            return
        method = data.get("method")
        if method is not None and (refusal := self._out_of_turn(method)) is not None:
            if "id" in data:
                self._refuse(data["id"], refusal)
            return
        self._ending = self._ending or method == types.SHUTDOWN
        try:
            message = self._structure(data)
        except JsonRpcException as error:
            self._malformed(data, error)
        else:
            self.handle_message(message)

    def warm_up(self) -> None:
        """Read and write one message of each kind that comes while the user types: the converter compiles its code at the first (10 ms)."""
        place = {"textDocument": {"uri": ""}, "position": {"line": 0, "character": 0}, "context": {"triggerKind": 1}}
        start = place["position"]
        changes = [{"range": {"start": start, "end": start}, "text": ""}, {"text": ""}]
        requests = {types.TEXT_DOCUMENT_INLINE_COMPLETION: place, types.WORKSPACE_EXECUTE_COMMAND: {"command": "", "arguments": []}}
        notifications = {
            types.TEXT_DOCUMENT_DID_OPEN: {"textDocument": {"uri": "", "languageId": "", "version": 0, "text": ""}},
            types.TEXT_DOCUMENT_DID_CHANGE: {"textDocument": {"uri": "", "version": 0}, "contentChanges": changes},
            types.CANCEL_REQUEST: {"id": 0},
        }
        for method, params in requests.items():
            self._structure({"jsonrpc": self.VERSION, "id": 0, "method": method, "params": params})
        for method, params in notifications.items():
            self._structure({"jsonrpc": self.VERSION, "method": method, "params": params})
        at = types.Position(0, 0)
        item = types.InlineCompletionItem("", range=types.Range(at, at), command=types.Command("", "", arguments=[{}]))
        self._converter.unstructure(types.InlineCompletionList([item]))

    async def settle(self) -> None:
        """Let features that still run come to their answer: a client may send `exit` without waiting for that of `shutdown`."""
        futures: dict[Any, Any] = self._request_futures
        running = [future for future in futures.values() if isinstance(future, asyncio.Task)]
        if running:
            await asyncio.wait(running, timeout=2.0)

    def lose(self, uri: str | None, why: str) -> None:
        """Stop using a document (None: every one) whose edits could not be followed, and tell the user."""
        self.documents.lose(uri)
        name = "the open files" if uri is None else uri
        text = f"Assay lost track of {name}: {why}. No suggestions there until the file is closed and opened again."
        self.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(types.MessageType.Warning, text))

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Keep a document."""
        item = params.text_document
        self.documents.open(item.uri, item.language_id, item.version, item.text)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply edits; a document that can't follow them is not used any more."""
        uri = params.text_document.uri
        try:
            self.documents.change(uri, params.text_document.version, [_change(change) for change in params.content_changes])
        except OutOfSync as error:
            self.lose(uri, str(error))

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        self.documents.close(params.text_document.uri)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]
        """Note that the client wants the end: 0 after `shutdown`, else 1. Whoever feeds `receive` then stops."""
        self.exit_code = 0 if self._ending else 1

    def _handle_response(self, msg_id: str | int, result: Any = None, error: Any = None) -> None:
        future: Any = self._request_futures.get(msg_id)
        if isinstance(future, concurrent.futures.Future) and not future.done():
            super()._handle_response(msg_id, result, error)
        else:  # an answer to what we no longer wait for, never asked, or were asked ourselves: pygls keeps both sides' requests together
            logger.warning("The client answered %r, which is no open request of the server", msg_id)

    def _out_of_turn(self, method: str) -> JsonRpcException | None:
        if method == types.EXIT:
            return None
        if self._ending:
            return JsonRpcInvalidRequest(f"{method} after shutdown: only exit may follow")
        if method == types.INITIALIZE:
            return JsonRpcInvalidRequest("initialize may be sent only once") if self.initialized else None
        return None if self.initialized else JsonRpcServerNotInitialized(f"{method} before initialize")

    def _structure(self, data: dict[str, Any]) -> Any:
        method = data.get("method")
        if method is None:
            return self.structure_message(data)
        kind: Any = self.get_message_type(method)
        if kind is None:
            kind = JsonRPCRequestMessage if "id" in data else JsonRPCNotification
            data = {key: data.get(key) for key in ("id", "method", "jsonrpc", "params") if key != "id" or "id" in data}
        try:
            return self._converter.structure(data, kind)
        except Exception as error:
            raise JsonRpcInvalidParams(f"{method}: {'; '.join(_faults(error))}") from error

    def _malformed(self, data: dict[str, Any], error: JsonRpcException) -> None:
        method = data.get("method")
        if method is None:
            self._handle_response(data["id"], None, error.to_response_error())
        elif "id" in data:
            self._refuse(data["id"], error)
        else:
            logger.warning("A notification could not be read: %s", error)
            if method in _DOCUMENT_CHANGES:
                self.lose(_uri(data), "a change could not be read")

    def _refuse(self, number: str | int | None, error: JsonRpcException) -> None:
        # a plain dictionary, because the converter leaves out an id of null
        self._send_data({"jsonrpc": self.VERSION, "id": number, "error": {"code": error.code, "message": error.message}})


def _envelope_fault(data: Any) -> str | None:
    if not isinstance(data, dict):
        return "A message is one JSON object"
    if data.get("jsonrpc") != "2.0":
        return 'A message has "jsonrpc": "2.0"'
    if "id" in data and not _is_id(data["id"]):
        return '"id" is a string or an integer'
    if "method" in data:
        return None if isinstance(data["method"], str) else '"method" is a string'
    if "id" in data and ("result" in data or "error" in data):
        return None
    return 'A message has a "method", or an "id" with a "result" or an "error"'


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _faults(error: Exception) -> list[str]:
    describe: Callable[..., list[str]] = cattrs.transform_error
    try:
        return describe(error)
    except Exception:
        return [str(error)]


def _change(change: types.TextDocumentContentChangeEvent) -> Change:
    if isinstance(change, types.TextDocumentContentChangePartial):
        start, end = change.range.start, change.range.end
        return Change(change.text, Range(Position(start.line, start.character), Position(end.line, end.character)))
    return Change(change.text)


def _uri(data: dict[str, Any]) -> str | None:
    params = data.get("params")
    document = params.get("textDocument") if isinstance(params, dict) else None
    uri = document.get("uri") if isinstance(document, dict) else None
    return uri if isinstance(uri, str) else None
