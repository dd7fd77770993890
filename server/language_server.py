"""The language server: what the editor asks, answered from the open documents by a model in a process of its own."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter
from pygls.uris import to_fs_path

from .. import __version__
from ..inference.opening import ModelChoice
from .engine import Place
from .live import LiveModel
from .loop_lag import LoopLag
from .model_process import ModelProcessDied, ModelRequestFailed, ModelUnavailable, State
from .options import OptionError, Options, parse_options, unknown_options_message
from .positions import Encoding, Position, Range
from .protocol import Protocol
from .transport import FramingError, StdioTransport, TcpTransport, Transport
from .wire import take_stdio

logger = logging.getLogger(__name__)

ACCEPTED = "assay.accepted"
STATUS = "assay/status"
_PROGRESS_ANSWER_S = 2.0
_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


class AssayServer(LanguageServer):
    """One editor's server: its conversation, its options and its model."""

    protocol: Protocol

    def __init__(self, model: ModelChoice) -> None:
        super().__init__("assay", __version__, protocol_cls=Protocol, converter_factory=default_converter)
        self.default_model = model
        self.options = Options()
        self.live: LiveModel | None = None
        self.lag: LoopLag | None = None
        self.executor = ThreadPoolExecutor(1, "assay")
        self.tasks: set[asyncio.Task[None]] = set()
        self._loads = 0

    def begin(self, options: Options, project: Path | None) -> None:
        """Take the options and start to load the model and the calibrators."""
        self.options = options
        self.lag = LoopLag() if options.diagnostics else None
        self.live = LiveModel(options.model_or(self.default_model), project=project, executor=self.executor, on_state=self._on_state)
        self._spawn(self.live.start())
        self.executor.submit(self.protocol.warm_up)

    def report_loading(self) -> None:
        """Tell the editor how loading goes."""
        if self.live is not None:
            self._loads += 1
            self._spawn(_report_loading(self, self.live, f"assay/model/{self._loads}"))

    def show(self, kind: types.MessageType, message: str) -> None:
        """Show the user one message."""
        self.window_show_message(types.ShowMessageParams(kind, message))

    def note(self, message: str) -> None:
        """Put a line into the editor's log of this server."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    async def close(self) -> None:
        """End the model's process and everything that still runs. Calling it again does nothing."""
        for task in list(self.tasks):
            task.cancel()
        if self.lag is not None:
            self.lag.stop()
        if self.live is not None:
            await self.live.close()
        self.executor.shutdown(wait=False, cancel_futures=True)

    def _on_state(self, state: State) -> None:
        if self.live is None:
            return
        if state == "loading":
            self.note(f"Assay: {self.live.process.reason}")
            self.report_loading()
        elif state == "failed":
            self.show(types.MessageType.Error, f"Assay: no suggestions: {self.live.process.reason}")

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("A background task failed", exc_info=error)


def initialize(ls: AssayServer, params: types.InitializeParams) -> None:
    """Check the options and start to load the model; pygls answers with the capabilities."""
    try:
        options = parse_options(params.initialization_options)
    except OptionError as error:
        raise JsonRpcInvalidParams(str(error)) from error
    ls.protocol.documents.encoding = _ENCODINGS[str(getattr(encoding := ls.workspace.position_encoding, "value", encoding))]
    ls.protocol.initialized = True
    root = ls.workspace.root_uri or next(iter(ls.workspace.folders), None)
    path = None if root is None else to_fs_path(root)
    ls.begin(options, None if path is None else Path(path))


def initialized(ls: AssayServer, _: types.InitializedParams) -> None:
    """From here on the server may send requests: report the loading."""
    if ls.options.unknown:
        ls.show(types.MessageType.Warning, unknown_options_message(ls.options.unknown))
    ls.report_loading()


async def shutdown(ls: AssayServer, _: None) -> None:
    """End the model's process before the answer."""
    await ls.close()


async def inline_completion(ls: AssayServer, params: types.InlineCompletionParams) -> types.InlineCompletionList:
    """One suggestion at the cursor, or none: also when the text changes while the model works."""
    nothing = types.InlineCompletionList(items=[])
    document = ls.protocol.documents.get(params.text_document.uri)
    if document is None or ls.live is None:
        return nothing
    version = document.version

    def current() -> bool:
        return ls.protocol.documents.get(params.text_document.uri) is document and document.version == version

    at = Position(params.position.line, params.position.character)
    prefix, suffix = document.around(at, ls.live.window)
    path = to_fs_path(document.uri)
    file = None if path is None else Path(path)
    place = Place(prefix, suffix, Range(at, at), ls.options.kind, document.language, ls.options.event, file)
    try:
        suggestion = await ls.live.suggest(place, wanted=current)
    except (ModelUnavailable, ModelProcessDied):
        return nothing  # the user was told when it happened
    except ModelRequestFailed as error:
        ls.note(f"Assay: no suggestion: {error}")
        return nothing
    if suggestion is None or not current():
        return nothing
    here = types.Range(params.position, params.position)
    command = types.Command(title="Suggestion accepted", command=ACCEPTED, arguments=[suggestion.as_json()])
    return types.InlineCompletionList(items=[types.InlineCompletionItem(insert_text=suggestion.text, range=here, command=command)])


def accepted(*arguments: Any) -> None:
    """The editor inserted a suggestion."""
    logger.debug("accepted: %s", arguments)


def status(ls: AssayServer, _: Any) -> dict[str, Any]:
    """What the server has: {state, reason, model, process, calibrators, loop_lag}."""
    lag = ls.lag.take() if ls.lag is not None else None
    return {**(ls.live.status() if ls.live is not None else {"state": "loading"}), "loop_lag": lag}


def build_server(model: ModelChoice) -> AssayServer:
    """A server with its features registered, and nothing started."""
    server = AssayServer(model)
    server.feature(types.INITIALIZE)(initialize)
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.SHUTDOWN)(shutdown)
    # without options pygls does not advertise the capability, and editors never ask
    server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(inline_completion)
    server.feature(STATUS)(status)
    server.command(ACCEPTED)(accepted)
    return server


async def converse(server: AssayServer, transport: Transport) -> int:
    """Serve one client until it sends `exit` or goes away. Returns the exit code: 0 after shutdown and exit, else 1."""
    server.protocol.set_writer(transport)
    try:
        async for body in transport.messages():
            server.protocol.receive(body)
            if server.protocol.exit_code is not None:
                break
            await asyncio.sleep(0)  # an async feature begins, and looks at the document, before the next message changes it
    except FramingError as error:
        logger.error("The client sent something that is no message: %s. The server ends.", error)
    finally:
        await server.close()
        await server.protocol.settle()
        transport.close()
        await transport.closed()
    return server.protocol.exit_code if server.protocol.exit_code is not None else 1


def serve(model: ModelChoice | None = None, *, tcp_port: int | None = None) -> int:
    """Run the language server on stdin and stdout, or for the first client that connects to 127.0.0.1:tcp_port (0: any free one).

    model: None for the embedded one; the editor's options may name another. Returns the exit code. Raises OSError
    for a port that can't be had, or where stdin or stdout is closed.
    """
    model = model or ModelChoice()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="assay: %(levelname)s: %(message)s")
    logging.getLogger("pygls").setLevel(logging.ERROR)  # it warns of every cancel that comes after the answer
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_ours)
    sys.setswitchinterval(0.001)  # a busy thread keeps the event loop waiting for at most this long
    gc.freeze()  # a collection that walks the protocol's thousands of types takes longer than the event loop may wait
    try:
        return asyncio.run(_serve_stdio(model, *take_stdio()) if tcp_port is None else _serve_tcp(model, tcp_port))
    except KeyboardInterrupt:
        return 130


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a logged error is the server's fault: what the client did wrong is in the answer that it got."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


async def _serve_stdio(model: ModelChoice, stdin: BinaryIO, stdout: BinaryIO) -> int:
    return await converse(build_server(model), StdioTransport(stdin, stdout))


async def _serve_tcp(model: ModelChoice, port: int) -> int:
    client: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.get_running_loop().create_future()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if client.done():  # one client, one server: a second one would share its documents
            writer.close()
        else:
            client.set_result((reader, writer))

    listener = await asyncio.start_server(connected, "127.0.0.1", port)
    print(f"assay: listening on 127.0.0.1:{listener.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    async with listener:
        return await converse(build_server(model), TcpTransport(*await client))


async def _report_loading(ls: AssayServer, live: LiveModel, token: str) -> None:
    progress = await _begin_progress(ls, token)
    try:
        loaded = await live.loaded()
        message = f"{loaded.fingerprint.name} is loaded ({loaded.load_ms / 1e3:.1f} s)"
    except ModelUnavailable as error:
        message = f"no suggestions: {error}"
    if progress:
        ls.work_done_progress.end(token, types.WorkDoneProgressEnd(message=message))
    else:
        ls.note(f"Assay: {message}")


async def _begin_progress(ls: AssayServer, token: str) -> bool:
    window = ls.client_capabilities.window
    if window is None or not window.work_done_progress:
        ls.note("Assay: loading the model")
        return False
    try:
        await asyncio.wait_for(ls.work_done_progress.create_async(token), _PROGRESS_ANSWER_S)
    except (TimeoutError, JsonRpcException):
        return False
    ls.work_done_progress.begin(token, types.WorkDoneProgressBegin(title="Assay", message="loading the model"))
    return True
