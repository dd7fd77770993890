"""Answers `assay/dial` and `assay/confidence`: the levels of the dial, and the calibrators in use with their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pygls.exceptions import JsonRpcInvalidParams

from ...calibration.calibrator import Calibrator
from ...calibration.effective_status import effective_status
from ...calibration.registry import Choice, Purpose, explain_choice
from ...inference.completion.task import Task, kind_of
from ...suggestion.suggest import prompt_mismatch
from ..confidence.child_process import ChildProcessFailed
from ..confidence.confidence_report import LABEL, evidence_json, log_dial_json, recalibrate_json, tasks_json
from ..confidence.log_reader import Question
from ..confidence.stops import Stops, stop_of
from ..documents.documents import Document
from ..documents.workspace import path_of
from ..protocol.pygls_protocol import fields_of
from ..session import Session

DIAL = "assay/dial"
CONFIDENCE = "assay/confidence"

TASKS: tuple[Task, ...] = get_args(Task)


async def dial(session: Session, stops: Stops, params: Any) -> dict[str, Any]:
    """`assay/dial` {textDocument?}: for each level of the dial, how much it would have shown and how much of that was right.

    event, label: `assay.event`; what `right` counts: `kept`. showAbove, stop: the level; its stop or null.
    stops: {stop, setting, target (0.75, 0.5, 0), words, thresholds: {task, languages, calibrator, showAbove, source (evidence, log,
        probability), reaches (the target), n, shown, right}}.
    n, labelled, days: automatic generations in the log with a probability, shown or hidden; known to be kept or not; since the first.
    groupedBy: project, or document if there are fewer than 5 projects, or null.
    levels: for showAbove 0.0 … 0.9: {shown, share or null, right or null}: null with fewer than 25 labels or 5 groups, or hidden ones that
        nothing represents. right: {n, positives, value (weighted with 1 / propensity), low, high}.
    byCalibrator: {calibrator, n, labelled, levels (0.00, 0.05 … 0.95)}.
    evidence: {task, languages, calibrator, event, n, levels}, only as far as the calibrator's file says them exactly.
    logTrouble: why the log can't be read, or null.
    """
    document = _document(session, params)
    settings, model_id = session.settings, _model_id(session)
    used = await _used(session, stops, document)
    answer, trouble = await _read_log(session, Question("dial", settings.event, model_id))
    log = answer or log_dial_json(None, settings.event, model_id)
    if trouble is None:
        stops.take(log["byCalibrator"])
    return {
        "event": settings.event,
        "label": LABEL,
        "showAbove": settings.show_above,
        "stop": stop_of(settings.show_above),
        "stops": stops.as_json(used),
        **log,
        "logTrouble": trouble,
        "evidence": evidence_json(used),
    }


async def confidence(session: Session, params: Any) -> dict[str, Any]:
    """`assay/confidence` {textDocument?}: the calibrators in use, their evidence, and what the log says of them.

    event: the setting. language: of the document or null. model: {id, name} or null. tasks: {task, calibrator or null, because}.
    log: null or {path, since, showings, endings, labelled, kept, reliability (of `kept`), dropped}. logTrouble: why it can't be read.
    recalibrate: {possible, labelled, needed, reason}.
    A calibrator: {id, origin, file, features, status (a calibrator's or refuted), reason, fittedOn, n, positives, groups, groupedBy,
    baseRate, ece, eceNoiseFloor, skill, auc (each {value, low, high} or null), validation (`sentences.whole_json`), reliability: {low,
    high, n, mean, rate, rateLow, rateHigh}}.
    """
    document, settings = _document(session, params), session.settings
    choices = await _choices(session, document)
    loaded, prompts = session.loaded, tuple(set(session.live.prompts(with_memory=settings.memory != "off").values()))
    used = tuple({choice.calibrator.id for choice in choices.values() if choice.calibrator is not None})
    answer, trouble = await _read_log(session, Question("confidence", settings.event, _model_id(session), prompts, used))
    return {
        "event": settings.event,
        "language": None if document is None else document.language,
        "model": None if loaded is None else {"id": loaded.fingerprint.id, "name": loaded.fingerprint.name},
        "tasks": tasks_json(choices, None if document is None else document.language, show_refuted=settings.show_refuted),
        **(answer or {"log": None, "recalibrate": recalibrate_json(None, None, frozenset(), trouble)}),
        "logTrouble": trouble,
    }


async def _used(session: Session, stops: Stops, document: Document | None) -> list[Calibrator]:
    """The calibrators that give automatic suggestions in a document a probability; without one in any language, as the status says it."""
    if document is None:
        await session.calibrators.of(session.first_root)
        return stops.used(None)
    entries = [choice.entry for choice in (await _choices(session, document)).values() if choice.entry is not None]
    show_refuted = session.settings.show_refuted
    return [entry.calibrator for entry in entries if effective_status(entry, document.language, show_refuted=show_refuted).has_numbers]


async def _read_log(session: Session, question: Question) -> tuple[dict[str, Any] | None, str | None]:
    """What the log says, and why it can't be read: (answer, None), (None, trouble), or (None, None) if nothing is logged."""
    path = session.events.path
    if path is None:
        return None, None
    try:
        return await session.log_reader.ask(path, question), None
    except ChildProcessFailed as error:
        return None, str(error)


def _model_id(session: Session) -> str | None:
    loaded = session.loaded
    return None if loaded is None else loaded.fingerprint.id


async def _choices(session: Session, document: Document | None) -> Mapping[str, Choice]:
    """By task, the calibrator for automatic suggestions in a document, and why it was chosen."""
    loaded = session.loaded
    if loaded is None:
        return {task: Choice(None, "no model is loaded", ()) for task in TASKS}
    if document is None:
        return {task: Choice(None, "no document is open, and calibrators are for languages", ()) for task in TASKS}
    registry, _ = await session.calibrators.of(session.root_of(document))
    prompts, file = session.live.prompts(with_memory=session.settings.memory != "off"), path_of(document.uri)
    return {
        task: explain_choice(
            registry,
            Purpose(loaded.fingerprint.id, prompts[task], session.settings.event, task, document.language, file, loaded.fingerprint.kin),
            prompt_mismatch=prompt_mismatch(session.live.settings, loaded.settings(), loaded.context_length, kind_of(task)),
        )
        for task in TASKS
    }


def _document(session: Session, params: Any) -> Document | None:
    """The document that the request names, or else the one that was last asked about, or else the one opened last."""
    named = fields_of(params).get("textDocument")
    if named is None:
        return session.document_in_use
    uri = named.get("uri") if isinstance(named, dict) else None
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams('"textDocument" is an object with the string "uri"')
    document = session.documents.get(uri)
    if document is None:
        raise JsonRpcInvalidParams(f"{uri} is not open")
    return document
