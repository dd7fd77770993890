"""The stops of the dial while a server runs: from which probability on each shows, and what that does, in words.

The log is read a minute after the start and then each hour, and whenever the dial is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from typing import Any, get_args

from ...calibration.calibrator import Calibrator
from ...calibration.effective_status import effective_status
from ...calibration.monitoring.dial_levels import Level, Right
from ...calibration.monitoring.stops import TARGETS, Logged, Stop, Threshold, threshold_of, together, words_of
from ..settings.table import ShowAbove
from .drift_watch import Source, in_use
from .log_reader import Question

STOPS: tuple[Stop, ...] = get_args(Stop)
# What the setting `assay.showAbove` is at each stop.
SETTING_OF: dict[Stop, ShowAbove] = {"quiet": "quiet", "balanced": "auto", "everything": 0.0}


def stop_of(show_above: ShowAbove) -> Stop | None:
    """The stop that a value of the setting is; None for an exact level."""
    return next((stop for stop, setting in SETTING_OF.items() if setting == show_above), None)


class Stops:
    """The stops of one server."""

    def __init__(self, source: Source, on_change: Callable[[], None]) -> None:
        """on_change: called when the log has moved a threshold."""
        self._source = source
        self._on_change = on_change
        self._logged: dict[str, Logged] = {}
        self._found: dict[tuple[str, Stop], Threshold] = {}

    def show_above(self, calibrator_id: str | None) -> float:
        """From which probability on what this calibrator judges is shown, by the setting. None, or one that is gone: all is shown."""
        setting = self._source.settings.show_above
        if isinstance(setting, float):
            return setting
        stop = stop_of(setting)
        assert stop is not None
        if calibrator_id is None:
            return 0.0
        if (known := self._found.get((calibrator_id, stop))) is not None:
            return known.show_above
        calibrator = self._calibrator(calibrator_id)
        return 0.0 if calibrator is None else self._threshold(calibrator, stop).show_above

    def take(self, by_calibrator: Iterable[Mapping[str, Any]]) -> None:
        """What the log says of each calibrator, as `log_dial_json` has it."""
        logged = {str(one["calibrator"]): _logged(one) for one in by_calibrator}
        if logged != self._logged:
            self._logged = logged
            self._found.clear()
            self._on_change()

    async def look(self) -> None:
        """Read the log. Raises ChildProcessFailed if it can't be read."""
        source = self._source
        path, loaded = source.events.path, source.live.process.model
        if path is None or loaded is None or not path.exists():
            self.take(())
            return
        answer = await source.log_reader.ask(path, Question("dial", source.settings.event, loaded.fingerprint.id))
        self.take(answer["byCalibrator"])

    def as_json(self, used: Collection[Calibrator]) -> list[dict[str, Any]]:
        """Each stop, as `assay/dial` answers. used: the calibrators that give a probability."""
        return [
            {
                "stop": stop,
                "setting": SETTING_OF[stop],
                "words": self._words(stop, used),
                "target": TARGETS[stop],
                "thresholds": [
                    {
                        "task": calibrator.task,
                        "languages": list(calibrator.fitted_on.languages),
                        "calibrator": calibrator.id,
                        **_threshold_json(self._threshold(calibrator, stop)),
                    }
                    for calibrator in used
                ],
            }
            for stop in STOPS
        ]

    def brief(self) -> dict[str, Any]:
        """The stop that is set, for the status: `stop` and `words`, which are of the language in use. An exact level has no words."""
        stop = stop_of(self._source.settings.show_above)
        if stop is None or self._source.live.process.model is None:
            return {"stop": stop, "words": ""}
        language = self._source.document_in_use.language if self._source.document_in_use else None
        return {"stop": stop, "words": self._words(stop, self.used(language))}

    def used(self, language: str | None) -> list[Calibrator]:
        """The calibrators that give suggestions in a language a probability; None: in any language."""
        source, loaded = self._source, self._source.live.process.model
        if loaded is None:
            return []
        prompts = source.live.prompts(with_memory=source.settings.memory != "off")
        return [
            entry.calibrator
            for entry in in_use(source.calibrators.registries(), loaded.fingerprint, prompts, source.settings.event, language).values()
            if effective_status(entry, language, show_refuted=source.settings.show_refuted).has_numbers
        ]

    def _words(self, stop: Stop, used: Iterable[Calibrator]) -> str:
        found = together([self._threshold(calibrator, stop) for calibrator in used])
        if found is not None:
            return words_of(found, TARGETS[stop])
        return "there are no numbers yet, so all suggestions are " + ("shown" if self._source.settings.show_uncalibrated else "hidden")

    def _threshold(self, calibrator: Calibrator, stop: Stop) -> Threshold:
        key = (calibrator.id, stop)
        if key not in self._found:
            self._found[key] = threshold_of(calibrator, stop, self._logged.get(calibrator.id))
        return self._found[key]

    def _calibrator(self, calibrator_id: str) -> Calibrator | None:
        entries = (entry for registry in self._source.calibrators.registries() for entry in registry.entries)
        return next((entry.calibrator for entry in entries if entry.calibrator.id == calibrator_id), None)


def _threshold_json(threshold: Threshold) -> dict[str, Any]:
    said = asdict(threshold)
    return {"showAbove": said.pop("show_above"), **said}


def _logged(one: Mapping[str, Any]) -> Logged:
    levels = (Level(of["showAbove"], of["shown"], of["share"], of["right"] and Right(**of["right"])) for of in one["levels"])
    return Logged(one["labelled"], one["n"], tuple(levels))
