"""What `assay/confidence` answers: the calibrators in use with their evidence, and what this machine's log says. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ...calibration.calibrator import Calibrator
from ...calibration.effective_status import effective_status
from ...calibration.guards import MIN_PER_CLASS, MIN_SAMPLES, are_too_few
from ...calibration.log.evaluation import groups_of
from ...calibration.metrics.bins import Bin, reliability
from ...calibration.metrics.intervals import Interval
from ...calibration.monitoring.dial_levels import POSITIONS, Level, levels_of, levels_of_evidence
from ...calibration.monitoring.drift import Alarm, alarm, start, watch
from ...calibration.registry import Choice, Entry
from ...calibration.validation.sentences import whole_json
from .log_view import Decided, LogView

# The only event that the log has labels of. It does not tell an exact match, nor whether tests pass.
LABEL = "kept"
# As fine as the thresholds of a calibrator's dial.
FINE = tuple(k / 20 for k in range(20))
_DAY_MS = 86_400_000


def log_dial_json(view: LogView | None, event: str, model_id: str | None, now_ms: int | None = None) -> dict[str, Any]:
    """What the log says: {n, labelled, days, groupedBy, levels, byCalibrator}, as in docs/formats.md.

    view: None if nothing is logged. event: the one that the user wants probabilities of. model_id: None before a model is loaded.
    now_ms: milliseconds since 1970, the current time by default.
    """
    decided = decided_on(view.decided if view is not None else (), event, model_id)
    grouped_by, levels = _levels(decided, POSITIONS)
    by_calibrator: dict[str, list[Decided]] = {}
    for one in decided:
        by_calibrator.setdefault(one.calibrator or "", []).append(one)
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    return {
        "n": len(decided),
        "labelled": _labelled(decided),
        "days": (now_ms - decided[0].time_ms) / _DAY_MS if decided else 0.0,
        "groupedBy": grouped_by,
        "levels": levels,
        "byCalibrator": [
            {"calibrator": calibrator, "n": len(those), "labelled": _labelled(those), "levels": _levels(those, FINE)[1]}
            for calibrator, those in by_calibrator.items()
        ],
    }


def _labelled(decided: Sequence[Decided]) -> int:
    return sum(one.kept is not None for one in decided)


def _levels(decided: Sequence[Decided], positions: Sequence[float]) -> tuple[str | None, list[dict[str, Any]]]:
    """What is independent, and what each position does."""
    grouped_by, groups = groups_of([one.request for one in decided])
    levels = levels_of(
        np.array([one.probability for one in decided], dtype=np.float64),
        [one.kept for one in decided],
        np.array([one.shown for one in decided], dtype=np.bool_),
        np.array([1.0 if one.request.propensity is None else one.request.propensity for one in decided], dtype=np.float64),
        groups,
        positions,
    )
    return grouped_by, list(map(_level_json, levels))


def evidence_json(used: Iterable[Calibrator]) -> list[dict[str, Any]]:
    """What the held-out evidence of the calibrators says. used: those that give a probability."""
    return [
        {
            "task": calibrator.task,
            "languages": list(calibrator.fitted_on.languages),
            "calibrator": calibrator.id,
            "event": calibrator.event,
            "n": calibrator.evidence.n,
            "levels": list(map(_level_json, levels_of_evidence(calibrator))),
        }
        for calibrator in used
    ]


def decided_on(decided: Iterable[Decided], event: str, model_id: str | None) -> list[Decided]:
    """Those that the dial decides on: automatic ones with a probability of this event, made by this model."""
    return [
        one
        for one in decided
        if one.request.trigger == "automatic"
        and one.probability is not None
        and one.event == event
        and model_id is not None
        and one.request.model == model_id
    ]


def _level_json(level: Level) -> dict[str, Any]:
    right = None if level.right is None else asdict(level.right)
    return {"showAbove": level.show_above, "shown": level.shown, "share": level.share, "right": right}


def drift_json(view: LogView, tolerances: Mapping[str, float]) -> dict[str, Any]:
    """{drift, told}, for the calibrators in `tolerances`: ids, with the tolerated drift in log odds.

    drift: the alarm with the most evidence: the id of its `calibrator`, `n` labelled suggestions, and the fields of `Alarm`. None without
    an alarm. told: ids of the calibrators that the user was told of.
    """
    found = [(found, calibrator, n) for calibrator, tolerance in tolerances.items() for found, n in _alarm_of(view, calibrator, tolerance)]
    worst = max(found, key=lambda each: each[0].log_e_value, default=None)
    drift = None if worst is None else {"calibrator": worst[1], "n": worst[2], **asdict(worst[0])}
    return {"drift": drift, "told": sorted(view.drifted)}


def _alarm_of(view: LogView, calibrator: str, tolerance: float) -> list[tuple[Alarm, int]]:
    """The alarm of one calibrator with its number of labels, if there is an alarm. Suggestions are taken in the order of their times."""
    judged = [
        (one.probability, one.kept)
        for one in view.decided
        if one.calibrator == calibrator and one.probability is not None and one.kept is not None
    ]
    if not judged:
        return []
    state = watch(start(tolerance=tolerance), [p for p, _ in judged], [kept for _, kept in judged])
    raised = alarm(state)
    return [] if raised is None else [(raised, state.count)]


def tasks_json(choices: Mapping[str, Choice], language: str | None = None, *, show_refuted: bool = False) -> list[dict[str, Any]]:
    """By task, the calibrator that the registry chose with its evidence, and why. language, show_refuted: as `effective_status`."""
    return [
        {
            "task": task,
            "calibrator": None if choice.entry is None else _entry_json(choice.entry, language, show_refuted),
            "because": choice.reason,
        }
        for task, choice in choices.items()
    ]


def _entry_json(entry: Entry, language: str | None, show_refuted: bool) -> dict[str, Any]:
    calibrator, evidence = entry.calibrator, entry.calibrator.evidence
    effective = effective_status(entry, language, show_refuted=show_refuted)
    return {
        "id": calibrator.id,
        "origin": entry.origin,
        "file": entry.path.name,
        "status": effective.status,
        "reason": effective.reason,
        "features": list(calibrator.features),
        "fittedOn": calibrator.fitted_on.n,
        "n": evidence.n,
        "positives": evidence.positives,
        "groups": evidence.groups,
        "groupedBy": calibrator.fitted_on.grouped_by,
        "baseRate": evidence.base_rate,
        "skill": _interval_json(evidence.skill),
        "auc": _interval_json(evidence.auc),
        "ece": evidence.ece.value,
        "eceNoiseFloor": evidence.ece.noise_floor,
        "reliability": _bins_json(evidence.reliability),
        "validation": entry.validation and whole_json(entry.validation),
    }


def log_json(view: LogView, used: frozenset[str]) -> dict[str, Any]:
    """What the log says. used: ids of the calibrators in use; the reliability is that of their probabilities."""
    labels = [one.kept for one in view.decided if one.kept is not None]
    # The label `kept` says nothing about probabilities of another event.
    judged = [
        (one.probability, one.kept)
        for one in view.decided
        if one.kept is not None and one.probability is not None and one.event == LABEL and one.calibrator in used
    ]
    since = view.since_ms
    return {
        "path": str(view.path),
        "since": None if since is None else datetime.fromtimestamp(since / 1e3, UTC).isoformat(timespec="seconds"),
        "showings": view.showings,
        "endings": view.endings,
        "labelled": len(labels),
        "kept": sum(labels),
        "reliability": _bins_json(reliability([p for p, _ in judged], [kept for _, kept in judged])) if judged else [],
        "dropped": view.dropped,
    }


def recalibrate_json(view: LogView | None, model_id: str | None, prompts: frozenset[str], trouble: str | None = None) -> dict[str, Any]:
    """Whether the log has enough labels for `assay logs recalibrate`, for at least one task.

    Only labels of the current model and prompts count. view: None if nothing is logged, or if the log can't be read for the reason
    `trouble`. prompts: the fingerprints of what the model is shown.
    """

    def answer(reason: str, labelled: int = 0, *, possible: bool = False) -> dict[str, Any]:
        return {"possible": possible, "labelled": labelled, "needed": MIN_SAMPLES, "reason": reason}

    if trouble is not None:
        return answer(f"The log can't be read: {trouble}.")
    if view is None:
        return answer("Nothing is logged (assay.log.events), so there are no labels.")
    if model_id is None:
        return answer("No model is loaded.")
    labels: dict[tuple[str, str], list[bool]] = {}
    for one in view.decided:
        request = one.request
        if one.kept is not None and _is_sample(one) and request.model == model_id and request.prompt in prompts:
            labels.setdefault((request.task or "", request.prompt or ""), []).append(one.kept)
    if not labels:
        return answer(
            "No suggestion of this model has a label yet. Whether a suggestion was kept is known some minutes after it was accepted."
        )
    enough = [kept for kept in labels.values() if not are_too_few(np.array(kept))]
    (task, _), best = max(labels.items(), key=lambda item: (not are_too_few(np.array(item[1])), len(item[1])))
    summary = f"{task} has {len(best)} labels, {sum(best)} of them kept"
    if enough:
        return answer(f"{summary}.", len(best), possible=True)
    return answer(
        f"{summary}. One task needs at least {MIN_SAMPLES} labels, with at least {MIN_PER_CLASS} kept and {MIN_PER_CLASS} not kept.",
        len(best),
    )


def _is_sample(one: Decided) -> bool:
    request = one.request
    return one.shown and request.rank == 1 and bool(request.measures and request.task and request.text_sha256)


def _interval_json(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else asdict(interval)


def _bins_json(bins: Iterable[Bin]) -> list[dict[str, Any]]:
    return [
        {
            "low": one.low,
            "high": one.high,
            "n": one.n,
            "mean": one.mean,
            "rate": one.rate,
            "rateLow": one.rate_low,
            "rateHigh": one.rate_high,
        }
        for one in bins
    ]
