"""Watches whether the calibrators in use still hold, by what became of the suggestions that they gave a number to: while nothing else is to
be done, at the start and then each hour. Of each calibrator that does not hold the user is told once.

Only what was said of the event `kept` is looked at: the log does not tell whether a suggestion was just what the user would have written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from ...calibration.log.events import DriftFound
from ...calibration.monitoring.drift import DIRECTION_WORDS, tolerance_of
from ...calibration.registry import Entry, Purpose, Registry, choose
from .dial_report import LABEL
from .log_worker import Question, as_json
from .worker_call import SideProcessError, answer_of

if TYPE_CHECKING:
    from ..language_server import AssayServer

logger = logging.getLogger(__name__)

# Not while the editor starts and the model is loaded.
FIRST_S = 60.0
AGAIN_S = 3600.0
# How long to wait where the model is not there yet, or at work.
_BUSY_S = 1.0


@dataclass(frozen=True, slots=True)
class Drift:
    """A calibrator whose probabilities no longer hold; told: what `drift_report` says of it."""

    entry: Entry
    told: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """For `assay/status`."""
        return {name: self.told[name] for name in ("calibrator", "direction", "size", "n")}

    @property
    def message(self) -> str:
        """For people, with what to do."""
        told, task = self.told, self.entry.calibrator.task
        size = f"{told['size']:.2f} ({told['low']:.2f} to {told['high']:.2f})"
        return (
            f"The probabilities of {self.entry.path.name} (task {task}) no longer hold. By {told['n']} of your suggestions they are "
            f"{DIRECTION_WORDS[told['direction']].format(size=size)}. What to do: recalibrate from your log, by the editor's "
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


async def watch_drift(ls: AssayServer) -> None:
    """Look now and then, until cancelled."""
    wait_s = FIRST_S
    while True:
        await asyncio.sleep(wait_s)
        while ls.live.process.model is None or ls.live.scheduler.busy:
            await asyncio.sleep(_BUSY_S)
        try:
            await _look(ls)
        except SideProcessError as error:
            logger.warning("Whether calibrators still hold can't be seen: %s", error)
        wait_s = AGAIN_S


async def _look(ls: AssayServer) -> None:
    path, loaded = ls.events.path, ls.live.process.model
    registries = [(await ls.calibrators.of(root))[0] for root in ls.roots.paths or (None,)]
    entries = {} if loaded is None or ls.settings.event != LABEL else in_use(registries, loaded.fingerprint.id)
    if path is None or not path.exists() or not entries:
        ls.drift = None
        return
    tolerances = tuple(tolerance_of(entry.calibrator) for entry in entries.values())
    question = Question("drift", str(path), calibrators=tuple(entries), tolerances=tolerances)
    answer = await answer_of("-m", "assay.server.confidence.log_worker", question=as_json(question))
    if (told := answer["drift"]) is None:
        ls.drift = None
        return
    calibrator = told["calibrator"]
    ls.drift = Drift(entries[calibrator], told)
    if calibrator in ls.drifts_told or calibrator in answer["told"]:
        return
    ls.drifts_told.add(calibrator)
    ls.events.add(DriftFound(calibrator=calibrator, direction=told["direction"], size=told["size"], n=told["n"]))
    ls.show(types.MessageType.Warning, f"Assay: {ls.drift.message}")


def _is_chosen(registry: Registry, entry: Entry) -> bool:
    calibrator, made = entry.calibrator, entry.calibrator.fitted_on
    return any(
        choose(registry, Purpose(made.model, made.prompt, calibrator.event, calibrator.task, language)) is entry
        for language in made.languages
    )
