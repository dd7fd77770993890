"""Progress of work that takes a while, for editors that show it; for others a line in the log of the server."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ..model.live import LiveModel
from ..model.process import ModelUnavailable

_ANSWER_TIMEOUT_S = 2.0
# What is done sooner is not shown: it would only flicker.
_SHOW_AFTER_S = 0.3


async def progress_token(server: LanguageServer, work: str) -> str | None:
    """A new token under which the editor shows the progress of some work; None where it shows none."""
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = f"assay/{work}/{uuid.uuid4().hex[:8]}"
    try:
        await asyncio.wait_for(server.work_done_progress.create_async(token), _ANSWER_TIMEOUT_S)
    except (TimeoutError, JsonRpcException):
        return None
    return token


def log_line(server: LanguageServer, message: str) -> None:
    """Put a line into the log of this server that the editor keeps."""
    server.window_log_message(types.LogMessageParams(types.MessageType.Info, f"Assay: {message}"))


async def shown_progress(
    server: LanguageServer, work: str, message: str, token: str | int | None = None, *, or_logged: bool = False
) -> Callable[[str], None]:
    """Show that some work runs. Gives the function that says as what it ended.

    token: the client's; None for one of the server's own. or_logged: where the editor shows no progress, its log says it.
    """
    shown = await progress_token(server, work) if token is None else token
    if shown is not None:
        server.work_done_progress.begin(shown, types.WorkDoneProgressBegin(title="Assay", message=message))
        return lambda end: server.work_done_progress.end(shown, types.WorkDoneProgressEnd(message=end))
    if not or_logged:
        return lambda _: None
    log_line(server, message)
    return lambda end: log_line(server, end)


async def report_loading(server: LanguageServer, live: LiveModel) -> None:
    """Report the loading of the model in use until it is loaded or has failed, or another takes its place."""
    process = live.process
    end = await shown_progress(server, "model", "loading the model", or_logged=True)
    try:
        loaded = await process.loaded()
        message = f"{loaded.fingerprint.name} is loaded ({loaded.load_ms / 1e3:.1f} s)"
    except ModelUnavailable as error:
        message = f"no suggestions: {error}" if live.process is process else "another model is loaded in its place"
    end(message)


@asynccontextmanager
async def cancellable_progress(
    server: LanguageServer, work: str, message: str, token: str | int | None = None
) -> AsyncIterator[Callable[[str], None]]:
    """Shows the progress of a block, if it takes a while; who cancels it in the editor cancels the block.

    token: the client's; None for one of the server's own. Gives the function that tells how far the block is.
    """
    block, begun = asyncio.current_task(), False
    assert block is not None

    def cancelled(future: Future[Any]) -> None:
        if future.cancelled():
            block.cancel()

    async def begin() -> None:
        nonlocal token, begun
        if token is None:
            await asyncio.sleep(_SHOW_AFTER_S)
            token = await progress_token(server, work)
        if token is not None:
            server.work_done_progress.begin(token, types.WorkDoneProgressBegin(title="Assay", message=message, cancellable=True))
            server.work_done_progress.tokens[token].add_done_callback(cancelled)
            begun = True

    def tell(message: str) -> None:
        if begun and token is not None:
            server.work_done_progress.report(token, types.WorkDoneProgressReport(message=message, cancellable=True))

    beginning, end = asyncio.create_task(begin()), "done"
    if token is not None:
        await asyncio.sleep(0)  # a token of the client's is answered also where the block ends at once
    try:
        yield tell
    except BaseException as error:
        end = "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"
        raise
    finally:
        beginning.cancel()
        await asyncio.wait({beginning})
        if begun and token is not None:
            server.work_done_progress.end(token, types.WorkDoneProgressEnd(message=end))
            server.work_done_progress.tokens.pop(token, None)
