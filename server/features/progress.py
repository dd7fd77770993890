"""Progress of work that takes a while, for editors that show it; for others a line in the log of the server."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ..model.live import LiveModel
from ..model.process import ModelUnavailable

_ANSWER_TIMEOUT_S = 2.0


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


async def report_loading(server: LanguageServer, live: LiveModel, is_current: Callable[[LiveModel], bool]) -> None:
    """Report the loading of a model until it is loaded or has failed. is_current: whether it is still the model in use."""
    token = await progress_token(server, "model")
    if token is None:
        log_line(server, "loading the model")
    else:
        server.work_done_progress.begin(token, types.WorkDoneProgressBegin(title="Assay", message="loading the model"))
    try:
        loaded = await live.loaded()
        message = f"{loaded.fingerprint.name} is loaded ({loaded.load_ms / 1e3:.1f} s)"
    except ModelUnavailable as error:
        message = f"no suggestions: {error}" if is_current(live) else "another model is loaded in its place"
    if token is None:
        log_line(server, message)
    else:
        server.work_done_progress.end(token, types.WorkDoneProgressEnd(message=message))
