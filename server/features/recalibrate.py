"""Answers `assay/recalibrate`: fits calibrators to what the log says was kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ..confidence.child_process import ChildProcessFailed, json_from
from ..language_server import AssayServer
from ..protocol.pygls_protocol import fields_of
from .progress import progress_token

RECALIBRATE = "assay/recalibrate"

RECALIBRATING = ("-m", "assay", "logs", "recalibrate", "--json", "--log")


async def recalibrate(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/recalibrate`. Raises JsonRpcException if it is running already, if nothing is logged, and if it fails."""
    path = ls.events.path
    if path is None:
        raise _failed("nothing is logged (assay.log.events), so there is nothing to fit to")
    if ls.recalibrating:
        raise _failed("it is running already")
    ls.recalibrating = True
    try:
        return await _with_progress(ls, path, _token(params))
    except ChildProcessFailed as error:
        raise _failed(str(error)) from error
    finally:
        ls.recalibrating = False


async def _with_progress(ls: AssayServer, path: Path, token: str | int | None) -> dict[str, Any]:
    if token is None:
        token = await progress_token(ls, "recalibrate")
    if token is not None:
        ls.work_done_progress.begin(token, types.WorkDoneProgressBegin(title="Assay", message="fitting calibrators to your log"))
    message = "not recalibrated"
    try:
        answer = await json_from(*RECALIBRATING, str(path))
        written = len(answer["written"])
        message = f"{written} calibrator{'s' * (written != 1)} written, {len(answer['refused'])} refused"
        return {name: answer[name] for name in ("written", "refused")}
    finally:
        if token is not None:
            ls.work_done_progress.end(token, types.WorkDoneProgressEnd(message=message))


def _token(params: Any) -> str | int | None:
    token = fields_of(params).get("workDoneToken")
    return token if isinstance(token, str | int) else None


def _failed(reason: str) -> JsonRpcException:
    return JsonRpcException(f"{RECALIBRATE}: {reason}", types.LSPErrorCodes.RequestFailed.value)
