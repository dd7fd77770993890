"""pygls's protocol, changed so that every request is answered, malformed ones too, and with documents of our own.

pygls 2.1.1 answers nothing to a request whose params it can't read, nor to one with a notification's method, splits documents at form
feeds, and keeps a future per notification for ever; here messages are checked before pygls sees them, and it never sees those of documents.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import cattrs
import msgspec
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    LanguageServerProtocol,
    default_converter,
    lsp_method,
)

from ...calibration.control_characters import escaped
from ..documents.documents import Change, Document, Documents, OutOfSync, Splice
from ..documents.notebooks import Notebooks
from ..documents.workspace import leave_out_unusable
from . import keystroke_messages as sync
from .malformed import decoded, envelope_fault, faults, is_id, outline, uri_of

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

T = TypeVar("T")

# How many lost documents are remembered, so that each is reported once: more than an editor has open.
_MAX_LOST = 1_000


class Protocol(LanguageServerProtocol):
    """One conversation with a client. exit_code is set when the client has sent `exit`."""

    def __init__(self, server: LanguageServer, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        self.documents = Documents("utf-16")
        self.notebooks = Notebooks(self.documents)
        self.initialized = False
        self.exit_code: int | None = None
        self._ending = False
        self._lost: set[str | None] = set()
        # Called for each document that was opened or edited, will be closed, or was lost.
        self.on_open: Callable[[Document], None] = lambda _: None
        self.on_edit: Callable[[str, Sequence[Splice]], None] = lambda *_: None
        self.on_close: Callable[[str], None] = lambda _: None
        self.on_lost: Callable[[str], None] = lambda _: None
        # Answers requests for inline completions, in JSON.
        self.inline_completions: Callable[[sync.InlineParams], Coroutine[Any, Any, dict[str, Any]]] | None = None

    def receive(self, body: bytes) -> None:
        """Handle one message. A request is answered even if it is malformed."""
        if self.initialized and not self._ending and (message := sync.read(body)) is not None:
            self._follow(message)
            return
        try:
            data = decoded(body)
        except JsonRpcParseError as error:
            self._undecodable(outline(body), error)
            return
        if (fault := envelope_fault(data)) is not None:
            number = data.get("id") if isinstance(data, dict) else None
            self._refuse(number if is_id(number) else None, JsonRpcInvalidRequest(fault))
            return
        method = data.get("method")
        if method is not None and (refusal := self._out_of_turn(method)) is not None:
            if "id" in data:
                self._refuse(data["id"], refusal)
            return
        try:
            message = self._structure(data)
        except JsonRpcException as error:
            self._malformed(data, error)
            return
        if isinstance(message, sync.Message):
            self._follow(message)
            return
        self._ending = self._ending or method == types.SHUTDOWN
        if method == types.INITIALIZE:
            leave_out_unusable(message.params)
        self.handle_message(message)

    def warm_up(self) -> None:
        """Read and write one message of each kind that is sent during typing: the converter compiles its code at the first one (10 ms)."""
        place = {"textDocument": {"uri": ""}, "position": {"line": 0, "character": 0}}
        span = {"start": place["position"], "end": place["position"]}
        told = {"range": span, "message": "", "source": "", "severity": 1}
        requests = {
            types.TEXT_DOCUMENT_COMPLETION: place,
            types.WORKSPACE_EXECUTE_COMMAND: {"command": "", "arguments": []},
            types.TEXT_DOCUMENT_CODE_ACTION: {"textDocument": {"uri": ""}, "range": span, "context": {"diagnostics": [told]}},
        }
        for method, params in requests.items():
            self._structure({"jsonrpc": self.VERSION, "id": 0, "method": method, "params": params})
        self._converter.unstructure(types.CompletionList(False, [types.CompletionItem("")]))
        self._converter.unstructure(types.CodeAction("", types.CodeActionKind.QuickFix, command=types.Command("", "")))

    async def settle(self) -> None:
        """Wait for handlers that still run: a client may send `exit` without waiting for the answer to `shutdown`."""
        futures: dict[Any, Any] = self._request_futures
        running = [future for future in futures.values() if isinstance(future, asyncio.Task)]
        if running:
            await asyncio.wait(running, timeout=2.0)

    def lose(self, uri: str | None, why: str) -> None:
        """Stop using a document or notebook whose edits could not be followed, and tell the user once. None: all of them."""
        self.documents.lose(uri)
        self.notebooks.lose(uri)
        if uri in self._lost:
            return
        while len(self._lost) >= _MAX_LOST:
            self._lost.pop()
        self._lost.add(uri)
        name = "the open files" if uri is None else uri
        text = f"Assay lost track of {name}: {why}. No suggestions there until the file is closed and opened again."
        self.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(types.MessageType.Warning, text))

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]
        """Set the exit code: 0 after `shutdown`, else 1. The caller of `receive` then stops."""
        self.exit_code = 0 if self._ending else 1

    def _follow(self, message: sync.Message) -> None:
        """Apply a change of documents, or begin or cancel a request."""
        match message:
            case sync.DidOpen():
                self._open(message.params.text_document)
            case sync.DidChange():
                changed = message.params
                self._edit(changed.text_document.uri, changed.text_document.version, changed.content_changes)
            case sync.InlineCompletion():
                self._begin(message.id, message.params)
            case sync.CancelRequest():
                if (running := self._request_futures.pop(message.params.id, None)) is not None:
                    running.cancel()
            case sync.DidClose():
                self._close(message.params.text_document.uri)
            case sync.DidOpenNotebook():
                for document in message.params.cell_text_documents:
                    self._open(document)
                notebook = message.params.notebook_document
                self.notebooks.open(notebook.uri, notebook.cells)
                self._found(notebook.uri)
            case sync.DidChangeNotebook():
                if (cells := message.params.change.cells) is not None:
                    self._change_cells(message.params.notebook_document.uri, cells)
            case sync.DidCloseNotebook():
                for closed in message.params.cell_text_documents:
                    self._close(closed.uri)
                self.notebooks.close(message.params.notebook_document.uri)

    def _begin(self, number: int | str, asked: sync.InlineParams) -> None:
        if self.inline_completions is None:
            self._refuse(number, JsonRpcMethodNotFound.of(types.TEXT_DOCUMENT_INLINE_COMPLETION))
            return
        answering = asyncio.get_running_loop().create_task(self.inline_completions(asked))
        futures: dict[Any, Any] = self._request_futures
        futures[number] = answering
        answering.add_done_callback(partial(self._send_result, number))

    def _send_result(self, number: int | str, answering: asyncio.Task[dict[str, Any]]) -> None:
        """Send the answer as pygls does, but encode the result with msgspec."""
        futures: dict[Any, Any] = self._request_futures
        if futures.get(number) is answering:
            del futures[number]
        if answering.cancelled() or answering.exception() is not None:
            self._send_handler_result(cast("concurrent.futures.Future[Any]", answering), msg_id=number)
            return
        answer = {"jsonrpc": self.VERSION, "id": number, "result": answering.result()}
        try:
            body = msgspec.json.encode(answer)
        except UnicodeEncodeError:  # a lone surrogate, which can only be written as an escape
            body = json.dumps(answer).encode()
        if self.writer is not None:
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _execute_handler(self, msg_id: str | int, *arguments: Any, **more: Any) -> None:
        """As in pygls, but forgets the futures of notifications and commands. (pygls keeps 1.4 KiB for each accepted suggestion.)"""
        super()._execute_handler(msg_id, *arguments, **more)
        futures: dict[Any, Any] = self._request_futures
        if (running := futures.get(msg_id)) is not None:
            running.add_done_callback(lambda _: futures.pop(msg_id) if futures.get(msg_id) is running else None)

    def _open(self, opened: sync.TextDocument) -> None:
        if self.documents.get(opened.uri) is not None:
            self.on_close(opened.uri)
        self.on_open(self.documents.open(opened.uri, opened.language_id, opened.version, opened.text))
        self._found(opened.uri)

    def _close(self, uri: str) -> None:
        self.on_close(uri)
        self.documents.close(uri)
        self._lost.discard(uri)

    def _edit(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        try:
            did = self.documents.change(uri, version, changes)
        except OutOfSync as error:
            self.on_lost(uri)
            self.lose(uri, str(error))
        else:
            self.on_edit(uri, did)
            if self.documents.get(uri) is not None:
                self._found(uri)

    def _change_cells(self, notebook: str, cells: sync.Cells) -> None:
        try:
            if (structure := cells.structure) is not None:
                array = structure.array
                self.notebooks.splice(notebook, array.start, array.delete_count, array.cells or [])
                for closed in structure.did_close or []:
                    self._close(closed.uri)
                for document in structure.did_open or []:
                    self._open(document)
            if cells.data:
                self.notebooks.revise(notebook, cells.data)
        except OutOfSync as error:
            self.lose(notebook, str(error))
        for content in cells.text_content or []:
            self._edit(content.document.uri, content.document.version, content.changes)

    def _found(self, uri: str) -> None:
        """The document can be followed again. If it is lost once more, the user is told again."""
        self._lost -= {uri, None}

    def _handle_response(self, msg_id: str | int, result: Any = None, error: Any = None) -> None:
        future: Any = self._request_futures.get(msg_id)
        if isinstance(future, concurrent.futures.Future) and not future.done():
            super()._handle_response(msg_id, result, error)
        else:  # an answer that nobody waits for, or with the id of a request by the client: pygls keeps the requests of both sides together
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
            return self._structured(data, self._answer_type(data), "An answer")
        kind: Any = self.get_message_type(method)
        if "id" in data and kind is not None and self.get_result_type(method) is None:
            raise JsonRpcInvalidRequest(f"{method} is a notification: it has no id")
        if method in sync.METHODS:
            try:
                return sync.structure(data)
            except ValueError as error:
                raise JsonRpcInvalidParams(f"{method}: {error}") from error
        if kind is None:
            kind = JsonRPCRequestMessage if "id" in data else JsonRPCNotification
            data = {key: data.get(key) for key in ("id", "method", "jsonrpc", "params") if key != "id" or "id" in data}
        return self._structured(data, kind, method)

    def _answer_type(self, data: dict[str, Any]) -> Any:
        known = self._result_types.pop(data["id"], None)
        return types.ResponseErrorMessage if "error" in data else known or JsonRPCResponseMessage

    def _structured(self, data: dict[str, Any], kind: Any, name: str) -> Any:
        try:
            return self._converter.structure(data, kind)
        except Exception as error:
            raise JsonRpcInvalidParams(f"{name}: {'; '.join(faults(error))}") from error

    def _undecodable(self, known: dict[str, Any], error: JsonRpcException) -> None:
        """known: what can be said of the message all the same."""
        if envelope_fault(known) is None or is_id(known.get("id")):
            self._malformed(known, error)
        else:
            self._refuse(None, error)

    def _malformed(self, data: dict[str, Any], error: JsonRpcException) -> None:
        method = data.get("method")
        if "method" not in data:
            self._handle_response(data["id"], None, error.to_response_error())
            return
        if "id" in data:
            self._refuse(data["id"], error)
        else:
            logger.warning("A notification could not be read: %s", error)
        if method in sync.CHANGES:
            self.lose(uri_of(data), "a change could not be read")

    def _send_data(self, data: Any) -> None:
        _escape_words(getattr(data, "params", None))
        if isinstance(error := getattr(data, "error", None), types.ResponseError):
            error.message = escaped(error.message)
        super()._send_data(data)

    def _refuse(self, number: str | int | None, error: JsonRpcException) -> None:
        # a plain dictionary, because the converter leaves out an id of null
        self._send_data({"jsonrpc": self.VERSION, "id": number, "error": {"code": error.code, "message": error.message}})


def _escape_words(params: Any) -> None:
    """What the user is told may have names of a project in it, and the words of a model or a server."""
    match params:
        case types.ShowMessageParams() | types.ShowMessageRequestParams() | types.LogMessageParams():
            # VS Code makes links of "[text](address)".
            params.message = escaped(params.message).replace("](", "] (")
        case types.ProgressParams(
            value=types.WorkDoneProgressBegin() | types.WorkDoneProgressReport() | types.WorkDoneProgressEnd() as value
        ):
            value.message = None if value.message is None else escaped(value.message)


@cache
def converter() -> cattrs.Converter:
    """Between JSON and the protocol's types."""
    made: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]
    return made


def structured(params: Any, kind: type[T]) -> T:
    """The checked params of one of our own methods. Raises ValueError."""
    try:
        return converter().structure(as_json(params), kind)
    except Exception as error:
        raise ValueError("; ".join(faults(error))) from error


def as_json(params: Any) -> Any:
    """JSON from params of a method that pygls does not know. pygls makes named tuples of their objects."""
    if isinstance(params, list):
        return [as_json(item) for item in params]
    if hasattr(params, "_asdict"):
        params = params._asdict()
    return {name: as_json(value) for name, value in params.items()} if isinstance(params, dict) else params


def fields_of(params: Any) -> dict[str, Any]:
    """The fields of such params; empty if they are no object."""
    fields = as_json(params)
    return fields if isinstance(fields, dict) else {}


def token_of(params: Any) -> str | int | None:
    """The token under which the client shows progress, if such params have one."""
    token = fields_of(params).get("workDoneToken")
    return token if isinstance(token, str | int) else None


def request_failed(reason: str) -> JsonRpcException:
    """The error of a request that was right, and came to nothing."""
    return JsonRpcException(reason, types.LSPErrorCodes.RequestFailed.value)
