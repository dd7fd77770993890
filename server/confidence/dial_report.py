"""What `assay/dial` answers: what each level of the dial would have shown, by this machine's log and by held-out evidence. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ...calibration.calibrator import Calibrator
from ...calibration.log.evaluation import groups_of
from ...calibration.monitoring.dial_levels import POSITIONS, Level, levels_of, levels_of_evidence
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
