"""Whether the calibrators in use still hold, by what became of the suggestions that they gave a number to. Looked at while nothing else is
to be done, at the start and then each hour; of each calibrator that does not hold the user is told once.

Only what was said of the event `kept` is looked at: the log does not tell whether a suggestion was just what the user would have written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from ..calibration.drift import Alarm, alarm, start, watch
from ..calibration.drift_command import SAID, tolerance_of
from ..calibration.event_log import EventLogError
from ..calibration.events import Drifted
from ..calibration.registry import Entry, Registry, choose
from .dial_report import LABEL
from .log_view import LogView, read_log

if TYPE_CHECKING:
    from .language_server import AssayServer

logger = logging.getLogger(__name__)

# Not while the editor starts and the model is loaded.
FIRST_S = 60.0
AGAIN_S = 3600.0
# How long to wait where the model is at work.
_BUSY_S = 1.0


@dataclass(frozen=True, slots=True)
class Drift:
    """A calibrator whose probabilities no longer hold, as the alarm looks after n suggestions whose label is known."""

    entry: Entry
    alarm: Alarm
    n: int

    def as_json(self) -> dict[str, Any]:
        """For `assay/status`."""
        return {"calibrator": self.entry.calibrator.id, "direction": self.alarm.direction, "size": self.alarm.size, "n": self.n}

    @property
    def message(self) -> str:
        """For people, with what to do."""
        found = self.alarm
        size = f"{found.size:.2f} ({found.low:.2f} to {found.high:.2f})"
        return (
            f"The probabilities of {self.entry.path.name} (task {self.entry.calibrator.task}) no longer hold. By {self.n} of your "
            f"suggestions they are {SAID[found.direction].format(size=size)}. What to do: recalibrate from your log, by the editor's "
            "command for it or by `assay logs recalibrate`."
        )


def in_use(registries: Iterable[Registry], model_id: str) -> dict[str, Entry]:
    """By id the calibrators that this model's suggestions of some language have their probability of being kept from."""
    return {
        entry.calibrator.id: entry
        for registry in registries
        for entry in registry.entries
        if entry.calibrator.event == LABEL and entry.calibrator.fitted_on.model == model_id and _is_chosen(registry, entry)
    }


def drift_of(view: LogView, calibrators: Iterable[Entry]) -> Drift | None:
    """The alarm of these calibrators on the labelled suggestions that each gave a number to, in the order of their times: the one with the
    most evidence; None without one. What is tolerated is what `assay calibrate drift` tolerates."""
    found = [drift for entry in calibrators if (drift := _drift_of(view, entry)) is not None]
    return max(found, key=lambda drift: drift.alarm.log_e_value, default=None)


async def watch_drift(ls: AssayServer) -> None:
    """Look now and then, until cancelled."""
    wait_s = FIRST_S
    while True:
        await asyncio.sleep(wait_s)
        while ls.live.scheduler.busy:
            await asyncio.sleep(_BUSY_S)
        try:
            await _look(ls)
        except EventLogError as error:
            logger.warning("Whether calibrators still hold can't be seen: %s", error)
        wait_s = AGAIN_S


async def _look(ls: AssayServer) -> None:
    path, loaded = ls.events.path, ls.live.process.model
    entries = {} if loaded is None or ls.settings.event != LABEL else in_use(ls.calibrators.registries(), loaded.fingerprint.id)
    if path is None or not entries:
        ls.drift = None
        return
    view = await asyncio.to_thread(read_log, path)
    ls.drift = found = await asyncio.to_thread(drift_of, view, tuple(entries.values()))
    if found is None or (calibrator := found.entry.calibrator.id) in view.drifted | ls.drifts_told:
        return
    ls.drifts_told.add(calibrator)
    ls.events.add(Drifted(calibrator=calibrator, direction=found.alarm.direction, size=found.alarm.size, n=found.n))
    ls.show(types.MessageType.Warning, f"Assay: {found.message}")


def _is_chosen(registry: Registry, entry: Entry) -> bool:
    calibrator, made = entry.calibrator, entry.calibrator.fitted_on
    return any(
        choose(registry, made.model, made.prompt, calibrator.event, calibrator.task, language).entry is entry for language in made.languages
    )


def _drift_of(view: LogView, entry: Entry) -> Drift | None:
    calibrator = entry.calibrator
    judged = [
        (one.probability, one.kept)
        for one in view.decided
        if one.calibrator == calibrator.id and one.probability is not None and one.kept is not None
    ]
    if not judged:
        return None
    state = watch(start(tolerance=tolerance_of(calibrator)), [p for p, _ in judged], [kept for _, kept in judged])
    raised = alarm(state)
    return None if raised is None else Drift(entry, raised, state.count)
