"""Answers `assay/calibrateModel`: fits calibrators to the model in use, from code on this machine."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ..language_server import AssayServer
from ..protocol.pygls_protocol import fields_of
from .model_calibration import MINUTES, CannotCalibrate

CALIBRATE_MODEL = "assay/calibrateModel"
MAX_MINUTES = 240.0


async def calibrate_model(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/calibrateModel` {minutes?, project?}: docs/formats.md. Cancelling it ends the work, and what was asked is kept.

    Raises JsonRpcInvalidParams, and JsonRpcException where no calibrators can be fitted.
    """
    fields = fields_of(params)
    minutes, project, token = fields.get("minutes", MINUTES), fields.get("project", False), fields.get("workDoneToken")
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= MAX_MINUTES:
        raise JsonRpcInvalidParams(f'{CALIBRATE_MODEL}: "minutes" is a number above 0, up to {MAX_MINUTES:g}')
    if not isinstance(project, bool):
        raise JsonRpcInvalidParams(f'{CALIBRATE_MODEL}: "project" is true or false')
    try:
        return await ls.model_calibration.run(minutes, project=project, token=token if isinstance(token, str | int) else None)
    except CannotCalibrate as error:
        raise JsonRpcException(f"no calibrators were fitted: {error}", types.LSPErrorCodes.RequestFailed.value) from error
