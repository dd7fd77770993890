"""What an editor asks of the confidence itself: the dial, whose the probabilities are, and recalibrating."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ...calibration.registry import Choice, Purpose, explain_choice
from ...inference.completion.task import Task, kind_of
from ...suggestion.suggest import unlike_usual
from ..documents.documents import Document
from ..documents.workspace import path_of, root_of
from ..features.progress import progress_token
from ..language_server import AssayServer
from ..protocol.pygls_protocol import plain
from .dial_report import LABEL, evidence_json, log_dial_json
from .log_worker import Question, as_json
from .report import recalibrate_json, tasks_json
from .worker_call import SideProcessError, answer_of

DIAL = "assay/dial"
CONFIDENCE = "assay/confidence"
RECALIBRATE = "assay/recalibrate"

RECALIBRATING = ("-m", "assay", "logs", "recalibrate", "--json", "--log")
TASKS: tuple[Task, ...] = get_args(Task)


def _failed(method: str, why: str) -> JsonRpcException:
    return JsonRpcException(f"{method}: {why}", types.LSPErrorCodes.RequestFailed.value)


async def dial(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/dial`: what each position of the dial would have shown, and how much of that was right."""
    choices = await _choices(ls, _document(ls, params))
    used = {task: choice.calibrator for task, choice in choices.items() if choice.calibrator is not None}
    settings, model_id = ls.settings, _model_id(ls)
    told, trouble = await _of_log(ls, Question("dial", "", settings.event, model_id))
    return {
        "event": settings.event,
        "label": LABEL,
        "showAbove": settings.show_above,
        **(told or log_dial_json(None, settings.event, model_id)),
        "logTrouble": trouble,
        "evidence": evidence_json(used),
    }


async def confidence(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/confidence`: the calibrators in use, their evidence, and what the log says."""
    document = _document(ls, params)
    choices = await _choices(ls, document)
    loaded, prompts = ls.live.process.model, tuple(set(_prompts(ls).values()))
    used = tuple({choice.calibrator.id for choice in choices.values() if choice.calibrator is not None})
    told, trouble = await _of_log(ls, Question("confidence", "", ls.settings.event, _model_id(ls), prompts, used))
    return {
        "event": ls.settings.event,
        "language": None if document is None else document.language,
        "model": None if loaded is None else {"id": loaded.fingerprint.id, "name": loaded.fingerprint.name},
        "tasks": tasks_json(choices),
        **(told or {"log": None, "recalibrate": recalibrate_json(None, None, frozenset(), trouble)}),
        "logTrouble": trouble,
    }


async def recalibrate_now(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/recalibrate`: fit calibrators to what the log says was kept. Raises JsonRpcException while one is under way, where
    nothing is logged, and where it fails."""
    path = ls.events.path
    if path is None:
        raise _failed(RECALIBRATE, "nothing is logged (assay.log.events), so that there is nothing to learn from")
    if ls.recalibrating:
        raise _failed(RECALIBRATE, "it is under way already")
    ls.recalibrating = True
    try:
        return await _with_progress(ls, path, _token(params))
    except SideProcessError as error:
        raise _failed(RECALIBRATE, str(error)) from error
    finally:
        ls.recalibrating = False


async def _with_progress(ls: AssayServer, path: Path, token: str | int | None) -> dict[str, Any]:
    if token is None:
        token = await progress_token(ls, "recalibrate")
    if token is not None:
        ls.work_done_progress.begin(token, types.WorkDoneProgressBegin(title="Assay", message="learning from the log of events"))
    ended = "not recalibrated"
    try:
        told = await answer_of(*RECALIBRATING, str(path))
        written = len(told["written"])
        ended = f"{written} calibrator{'s' * (written != 1)} written, {len(told['refused'])} refused"
        return {name: told[name] for name in ("written", "refused")}
    finally:
        if token is not None:
            ls.work_done_progress.end(token, types.WorkDoneProgressEnd(message=ended))


async def _of_log(ls: AssayServer, question: Question) -> tuple[dict[str, Any] | None, str | None]:
    """What the log says, None where nothing is logged; or why it can't be read: the evidence stands without it."""
    path = ls.events.path
    if path is None:
        return None, None
    try:
        return await answer_of("-m", "assay.server.confidence.log_worker", question=as_json(replace(question, path=str(path)))), None
    except SideProcessError as error:
        return None, str(error)


def _model_id(ls: AssayServer) -> str | None:
    loaded = ls.live.process.model
    return None if loaded is None else loaded.fingerprint.id


async def _choices(ls: AssayServer, document: Document | None) -> Mapping[str, Choice]:
    """By task the calibrator of what comes by itself in a document, and why."""
    loaded = ls.live.process.model
    if loaded is None:
        return {task: Choice(None, "no model is loaded", ()) for task in TASKS}
    if document is None:
        return {task: Choice(None, "no document is open, and calibrators are for languages", ()) for task in TASKS}
    root = root_of(document.uri, ls.roots) or next(iter(ls.roots.paths), None)
    registry, _ = await ls.calibrators.of(root)
    prompts, file = _prompts(ls), path_of(document.uri)
    return {
        task: explain_choice(
            registry,
            Purpose(loaded.fingerprint.id, prompts[task], ls.settings.event, task, document.language, file),
            prompt_mismatch=unlike_usual(ls.live.settings, loaded.context_length, kind_of(task)),
        )
        for task in TASKS
    }


def _prompts(ls: AssayServer) -> dict[Task, str]:
    loaded = ls.live.process.model
    if loaded is None:
        return {}
    return {task: ls.live.settings.fingerprint(loaded.layout, loaded.context_length, kind_of(task)) for task in TASKS}


def _document(ls: AssayServer, params: Any) -> Document | None:
    """The document that is named; else the one that was last asked about, if it is open, else the last one opened."""
    named = _fields(params).get("textDocument")
    if named is None:
        asked = ls.protocol.documents.get(ls.asked_in)
        return asked or next(iter([*ls.protocol.documents][-1:]), None)
    uri = named.get("uri") if isinstance(named, dict) else None
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams('"textDocument" is an object with the string "uri"')
    document = ls.protocol.documents.get(uri)
    if document is None:
        raise JsonRpcInvalidParams(f"{uri} is not open")
    return document


def _token(params: Any) -> str | int | None:
    token = _fields(params).get("workDoneToken")
    return token if isinstance(token, str | int) else None


def _fields(params: Any) -> dict[str, Any]:
    found = plain(params)
    return found if isinstance(found, dict) else {}
