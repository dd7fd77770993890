"""Watches whether the calibrators in use still hold, by what became of the suggestions that they gave a probability.

The log is read a minute after the start and then each hour, while the model has nothing to do. The user is told once of each calibrator
that no longer holds. Only probabilities of the event `kept` can be checked: the log does not tell whether a suggestion was exactly what the
user would have written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ...calibration.log.events import DriftFound
from ...calibration.monitoring.drift import DIRECTION_WORDS, tolerance_of
from ...calibration.registry import Entry, Purpose, Registry, choose
from ...inference.completion.task import Task
from ...inference.model import Fingerprint
from ..documents.documents import Document
from ..model.live import LiveModel
from ..settings.settings import LiveSettings
from ..tracking.event_writer import EventWriter
from .calibrators import Calibrators
from .child_process import ChildProcessFailed
from .confidence_report import LABEL
from .log_reader import LogReader, Question

logger = logging.getLogger(__name__)

# By then the editor has started and the model is usually loaded.
FIRST_S = 60.0
AGAIN_S = 3600.0
# How long to wait while the model is not loaded yet, or works.
_BUSY_S = 1.0


class Source(Protocol):
    """What the watch, and the dial, read: the language server."""

    live: LiveModel
    settings: LiveSettings
    calibrators: Calibrators
    log_reader: LogReader
    events: EventWriter

    @property
    def document_in_use(self) -> Document | None:
        """The document that the user works on."""


async def look_hourly(source: Source, look: Callable[[], Awaitable[None]], what: str) -> None:
    """Look a minute after the start and then each hour, until cancelled. what: that the log is read for, if it can't be read."""
    wait_s = FIRST_S
    while True:
        await asyncio.sleep(wait_s)
        while source.live.process.model is None or source.live.scheduler.busy:
            await asyncio.sleep(_BUSY_S)
        try:
            await look()
        except ChildProcessFailed as error:
            logger.warning("The log can't be read for %s: %s", what, error)
        wait_s = AGAIN_S


@dataclass(frozen=True, slots=True)
class Drift:
    """A calibrator whose probabilities no longer hold. report: what `drift_report` says of it."""

    entry: Entry
    report: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """For `assay/status`."""
        return {name: self.report[name] for name in ("calibrator", "direction", "size", "n")}

    @property
    def message(self) -> str:
        """For people, with what to do."""
        report, task = self.report, self.entry.calibrator.task
        size = f"{report['size']:.2f} ({report['low']:.2f} to {report['high']:.2f})"
        return (
            f"The probabilities of {self.entry.path.name} (task {task}) no longer hold. Judged by {report['n']} of your suggestions, "
            f"they are {DIRECTION_WORDS[report['direction']].format(size=size)}. What to do: recalibrate from your log, with the editor's "
            "command for it or with `assay logs recalibrate`."
        )


def in_use(
    registries: Iterable[Registry], model: Fingerprint, prompts: Mapping[Task, str], event: str = LABEL, language: str | None = None
) -> dict[str, Entry]:
    """By id, the calibrators that give suggestions of this model their probability of the event.

    prompts: how it is asked, by task. language: None for any.
    """
    found = {}
    for registry in registries:
        having = {name for entry in registry.entries for name in entry.calibrator.fitted_on.languages}
        for task, prompt in prompts.items():
            for name in having if language is None else {language}:
                if entry := choose(registry, Purpose(model.id, prompt, event, task, name, kin=model.kin)):
                    found[entry.calibrator.id] = entry
    return found


class DriftWatch:
    """The watch of one server. found: the drift that the latest look found, None without one."""

    def __init__(self, source: Source, warn: Callable[[str], None]) -> None:
        """warn: shows the user a message."""
        self.found: Drift | None = None
        self._source = source
        self._warn = warn
        self._told: set[str] = set()

    async def run(self) -> None:
        """Look now and then, until cancelled."""
        await look_hourly(self._source, self._look, "drift")

    async def _look(self) -> None:
        source = self._source
        path, loaded = source.events.path, source.live.process.model
        prompts = (
            {} if loaded is None or source.settings.event != LABEL else source.live.prompts(with_memory=source.settings.memory != "off")
        )
        entries = in_use(source.calibrators.registries(), loaded.fingerprint, prompts) if loaded is not None else {}
        if path is None or not path.exists() or not entries:
            self.found = None
            return
        tolerances = tuple(tolerance_of(entry.calibrator) for entry in entries.values())
        question = Question("drift", calibrators=tuple(entries), tolerances=tolerances)
        answer = await source.log_reader.ask(path, question)
        if (drift := answer["drift"]) is None:
            self.found = None
            return
        calibrator = drift["calibrator"]
        self.found = Drift(entries[calibrator], drift)
        if calibrator in self._told or calibrator in answer["told"]:
            return
        self._told.add(calibrator)
        source.events.add(DriftFound(calibrator=calibrator, direction=drift["direction"], size=drift["size"], n=drift["n"]))
        self._warn(self.found.message)
