"""What `assay/confidence` answers: the calibrators in use with their evidence, and what this machine's log says. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ...calibration.effective_status import effective_status
from ...calibration.guards import MIN_PER_CLASS, MIN_SAMPLES, are_too_few
from ...calibration.metrics.bins import Bin, reliability
from ...calibration.metrics.intervals import Interval
from ...calibration.registry import Choice, Entry
from ...calibration.validation.sentences import whole_json
from .dial_report import LABEL
from .log_view import Decided, LogView


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
