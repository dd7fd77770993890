"""Whether calibrators still hold, by what became of the suggestions that they gave a probability. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ...calibration.monitoring.drift import Alarm, alarm, start, watch
from .log_view import LogView


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
