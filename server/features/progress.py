"""How something goes that takes a while, where the editor shows such."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..model.live import LiveModel
from ..model.process import ModelUnavailable

if TYPE_CHECKING:
    from ..language_server import AssayServer

_ANSWER_S = 2.0


async def progress_token(ls: AssayServer, what: str) -> str | None:
    """A new token by which the editor shows how something goes; None where it shows none."""
    window = ls.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = f"assay/{what}/{uuid.uuid4().hex[:8]}"
    try:
        await asyncio.wait_for(ls.work_done_progress.create_async(token), _ANSWER_S)
    except (TimeoutError, JsonRpcException):
        return None
    return token


async def report_loading(ls: AssayServer, live: LiveModel) -> None:
    """Tell the editor how the loading of a model goes, until it is loaded or can't be."""
    token = await progress_token(ls, "model")
    if token is None:
        ls.note("Assay: loading the model")
    else:
        ls.work_done_progress.begin(token, types.WorkDoneProgressBegin(title="Assay", message="loading the model"))
    try:
        loaded = await live.loaded()
        message = f"{loaded.fingerprint.name} is loaded ({loaded.load_ms / 1e3:.1f} s)"
    except ModelUnavailable as error:
        message = f"no suggestions: {error}" if live is ls.live else "another model is loaded in its place"
    if token is None:
        ls.note(f"Assay: {message}")
    else:
        ls.work_done_progress.end(token, types.WorkDoneProgressEnd(message=message))
