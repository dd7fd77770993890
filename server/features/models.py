"""Answers `assay/models`, `assay/modelsToGet`, `assay/getModel` and `assay/checkModel`.

They are the models of this machine, those that can be had, the download of one, and whether the one that was chosen works.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pygls.exceptions import JsonRpcInternalError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from ...calibration.found_models import entries_of, next_step
from ...inference.embedded_model import EMBEDDED_NAME
from ..confidence.child_process import ChildProcessFailed, CommandProcess, from_anywhere, json_from
from ..model.process import ModelUnavailable
from ..protocol.pygls_protocol import fields_of, request_failed, token_of
from ..session import Session
from ..tracking.event_writer import EventWriter
from .model_calibration import MINUTES, CannotCalibrate, ModelCalibration
from .model_list import models_here
from .progress import cancellable_progress, shown_progress

CALIBRATE_MODEL = "assay/calibrateModel"
MAX_MINUTES = 240.0


async def calibrate_model(calibration: ModelCalibration, params: Any) -> dict[str, Any]:
    """`assay/calibrateModel` {minutes?, project?}: docs/formats.md. Cancelling it ends the work, and what was asked is kept.

    Raises JsonRpcInvalidParams, and JsonRpcException where no calibrators can be fitted.
    """
    fields = fields_of(params)
    minutes, project = fields.get("minutes", MINUTES), fields.get("project", False)
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= MAX_MINUTES:
        raise JsonRpcInvalidParams(f'{CALIBRATE_MODEL}: "minutes" is a number above 0, up to {MAX_MINUTES:g}')
    if not isinstance(project, bool):
        raise JsonRpcInvalidParams(f'{CALIBRATE_MODEL}: "project" is true or false')
    try:
        return await calibration.run(minutes, project=project, token=token_of(params))
    except CannotCalibrate as error:
        raise request_failed(f"no calibrators were fitted: {error}") from error


RECALIBRATE = "assay/recalibrate"

RECALIBRATING = ("-m", "assay", "logs", "recalibrate", "--json", "--log")


async def recalibrate(editor: LanguageServer, events: EventWriter, running: asyncio.Lock, params: Any) -> dict[str, Any]:
    """`assay/recalibrate`. Raises JsonRpcException if it is running already, if nothing is logged, and if it fails."""
    path = events.path
    if path is None:
        raise request_failed(f"{RECALIBRATE}: nothing is logged (assay.log.events), so there is nothing to fit to")
    if running.locked():
        raise request_failed(f"{RECALIBRATE}: it is running already")
    try:
        async with running:
            return await _recalibrated(editor, path, token_of(params))
    except ChildProcessFailed as error:
        raise request_failed(f"{RECALIBRATE}: {error}") from error


async def _recalibrated(editor: LanguageServer, path: Path, token: str | int | None) -> dict[str, Any]:
    end, message = await shown_progress(editor, "recalibrate", "fitting calibrators to your log", token), "not recalibrated"
    try:
        answer = await json_from(*RECALIBRATING, str(path))
        written = len(answer["written"])
        message = f"{written} calibrator{'s' * (written != 1)} written, {len(answer['refused'])} refused"
        return {name: answer[name] for name in ("written", "refused")}
    finally:
        end(message)


MODELS = "assay/models"
MODELS_TO_GET = "assay/modelsToGet"
GET_MODEL = "assay/getModel"
CHECK_MODEL = "assay/checkModel"
# An editor tells of changed settings before it asks, but they are read back from it, which takes a moment.
_SETTINGS_S = 10.0
_LOOK_AGAIN_S = 0.05


async def models(session: Session, params: Any) -> dict[str, Any]:
    """`assay/models` {probe?}: docs/formats.md. Raises JsonRpcInternalError where the list can't be made."""
    probe = fields_of(params).get("probe", False)
    if not isinstance(probe, bool):
        raise JsonRpcInvalidParams(f'{MODELS}: "probe" is true or false')
    try:
        found = await models_here(sorted(session.settings.model_folders), probe=probe, project=session.first_root)
    except ChildProcessFailed as error:
        raise JsonRpcInternalError(f"the models can't be listed: {error}") from error
    loaded = session.loaded
    return {**found, "setting": session.settings.model, "fingerprint": None if loaded is None else loaded.fingerprint.id}


async def models_to_get(_: Any) -> dict[str, Any]:
    """`assay/modelsToGet`: docs/formats.md. Raises JsonRpcInternalError where the list can't be made."""
    try:
        return await json_from("-m", "assay", "model", "get", "--json")
    except ChildProcessFailed as error:
        raise JsonRpcInternalError(f"the models that can be had can't be listed: {error}") from error


async def get_model(editor: LanguageServer, params: Any) -> dict[str, Any]:
    """`assay/getModel` {name, acceptLicence?}: docs/formats.md. Cancelling it ends the download, and what has come is kept.

    Raises JsonRpcInvalidParams, and JsonRpcException where the model can't be had.
    """
    fields = fields_of(params)
    name, accepts = fields.get("name"), fields.get("acceptLicence", False)
    if not isinstance(name, str) or not isinstance(accepts, bool):
        raise JsonRpcInvalidParams(f'{GET_MODEL}: "name" is a text, "acceptLicence" is true or false')
    arguments = ["-m", "assay", "model", "get", "--json", *(["--yes"] if accepts else []), "--", name]
    async with cancellable_progress(editor, "download", f"downloading {name}", token_of(params)) as tell:
        try:
            return await CommandProcess().run(arguments, Path(Path.home().anchor), tell)
        except ChildProcessFailed as error:
            raise request_failed(str(error)) from error


async def check_model(session: Session, params: Any) -> dict[str, Any]:
    """`assay/checkModel` {model}: waits until the settings name the model and it is loaded, or can't be: docs/formats.md.

    model: as the setting has it, null for none. Raises JsonRpcInvalidParams for something else, and where the settings name another.
    """
    asked = fields_of(params).get("model")
    if asked is not None and not isinstance(asked, str):
        raise JsonRpcInvalidParams(f'{CHECK_MODEL}: "model" is a text or null')
    session.model_checks += 1
    try:
        await _until_set(session, asked)
        loaded = await session.live.loaded()
    except ModelUnavailable as error:
        return {"ok": False, "name": session.live.choice.where or EMBEDDED_NAME, "fingerprint": None, "said": str(error), "command": None}
    finally:
        session.model_checks -= 1
    registry, _ = await session.calibrators.of(session.first_root)
    step = next_step(entries_of(registry, loaded.fingerprint.id, loaded.fingerprint.kin), from_anywhere(session.live.choice).arguments)
    return {"ok": True, "name": loaded.fingerprint.name, "fingerprint": loaded.fingerprint.id, "said": step.advice, "command": step.command}


async def _until_set(session: Session, model: str | None) -> None:
    wanted = None if model is None else str(Path(model).expanduser()) if model.startswith("~") else model
    for _ in range(round(_SETTINGS_S / _LOOK_AGAIN_S)):
        # The settings change first, then the model before is closed, and a model is made for them.
        if session.settings.model == wanted and session.live.choice == session.choice and session.live.process.state != "closed":
            return
        await asyncio.sleep(_LOOK_AGAIN_S)
    raise JsonRpcInvalidParams(f"{CHECK_MODEL}: the setting assay.model is {session.settings.model!r}, not {model!r}")
