"""Models that were found on this machine, each with the calibrators for it and the speed to expect: what people choose from."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..inference.found.bandwidth import reading_speed, runs_on_gpu
from ..inference.found.candidate import this_machine
from ..inference.found.find import find_models
from ..inference.found.model import FoundModel
from ..inference.found.servers import PORTS
from ..inference.hub.catalogue import catalogue
from .effective_status import effective_status
from .registry import Entry, Registry, is_kin, load_registry

# The statuses of calibrators that give no numbers.
_WITHOUT = ("uninformative", "insufficient", "refuted")


@dataclass(frozen=True, slots=True)
class Listed:
    """A found model for people.

    entries: the calibrators for it in order of precedence; None where its fingerprint is not known before it is opened.
    tokens_per_second: about how many are written; None where that can't be told.
    """

    model: FoundModel
    entries: tuple[Entry, ...] | None
    tokens_per_second: float | None

    @property
    def numbers(self) -> str:
        """Whether suggestions of it have a probability, in a few words."""
        return "" if self.model.problem else numbers_of(self.entries)

    @property
    def names(self) -> tuple[str, ...]:
        """As `--model` takes them, the catalogue's short one last."""
        known = (entry for entry in catalogue() if entry.model in self.model.names and entry.bytes in (0, self.model.size))
        return (*self.model.names, *(entry.name for entry in known))

    def as_json(self) -> dict[str, Any]:
        """The fields of the model, and what is added here."""
        facts = asdict(self.model)
        facts["names"] = list(self.names)
        speed = self.tokens_per_second
        return {
            "name": self.model.names[0],
            **facts,
            "tokens_per_second": None if speed is None else round(speed, 1),
            "calibrators": None if self.entries is None else [_calibrator(entry) for entry in self.entries],
            "numbers": self.numbers,
        }


@dataclass(frozen=True, slots=True)
class ModelList:
    """All that was found. reading_speed: bytes of weights a second; None where models run on a GPU, which has a memory of its own."""

    models: tuple[Listed, ...]
    notes: tuple[str, ...]
    reading_speed: float | None

    def as_json(self) -> dict[str, Any]:
        """As docs/formats.md has it."""
        speed = None if self.reading_speed is None else round(self.reading_speed)
        return {"models": [model.as_json() for model in self.models], "notes": list(self.notes), "reading_speed": speed}


def list_models(folders: Sequence[Path] = (), *, probe: bool = False, project: Path | None = None) -> ModelList:
    """What is on this machine. folders: to look into, too; probe: ask servers, too; project: root of the project that is worked on."""
    found = find_models(this_machine(), folders, ports=PORTS if probe else ())
    speed = None if runs_on_gpu() else reading_speed()
    registry = load_registry(project)
    models = tuple(Listed(model, entries_for(registry, model.fingerprint), speed_of(model, speed)) for model in found.models)
    return ModelList(models, found.notes, speed)


def numbers_of(entries: Sequence[Entry] | None) -> str:
    """Whether suggestions have a probability, in a few words. entries: the calibrators; None where the fingerprint is not known."""
    if entries is None:
        return "known when opened"
    events = dict.fromkeys(entry.calibrator.event for entry in entries if effective_status(entry).has_numbers)
    borrowed = " (borrowed)" if all(effective_status(entry).status in ("borrowed", *_WITHOUT) for entry in entries) else ""
    return ", ".join(events) + borrowed if events else "none" if not entries else "none: no skill"


def entries_for(registry: Registry, fingerprint: str) -> tuple[Entry, ...] | None:
    """The calibrators for the model with a fingerprint id; None where that is not known, and empty."""
    return entries_of(registry, fingerprint) if fingerprint else None


def entries_of(registry: Registry, fingerprint: str, kin: str = "") -> tuple[Entry, ...]:
    """The calibrators for the model with a fingerprint id: fitted to it, else to its kin, else for any, for each event and task."""
    own = tuple(entry for entry in registry.entries if entry.calibrator.fitted_on.model == fingerprint)
    of_kin = tuple(replace(entry, kin=True) for entry in registry.entries if is_kin(entry, fingerprint, kin))
    decided = {(each.event, each.task) for each in (entry.calibrator for entry in own + of_kin) if each.status != "insufficient"}
    common = [entry for entry in registry.entries if entry.calibrator.fitted_on.models]
    return own + of_kin + tuple(entry for entry in common if (entry.calibrator.event, entry.calibrator.task) not in decided)


@dataclass(frozen=True, slots=True)
class NextStep:
    """Advice for a user who has chosen a model. command: makes calibrators for it; None if there are some."""

    advice: str
    command: str | None


def next_step(entries: Sequence[Entry], arguments: Sequence[str]) -> NextStep:
    """The next step once a model is open. entries: the calibrators for it; arguments: what names it (`ModelChoice.arguments`)."""
    giving = [entry.calibrator for entry in entries if effective_status(entry).has_numbers]
    command = shlex.join(["assay", "calibrate", "model", *arguments])
    if giving and all(effective_status(entry).status in ("borrowed", *_WITHOUT) for entry in entries):
        return NextStep(f"Its numbers are borrowed from other models. {command} narrows them in about 5 minutes, from code here.", command)
    if giving:
        events = " and ".join(dict.fromkeys(calibrator.event for calibrator in giving))
        languages = ", ".join(sorted({language for calibrator in giving for language in calibrator.languages_with_numbers}))
        return NextStep(f"Its suggestions show how likely they are right ({events}; {languages}).", None)
    why = "The calibrators for it have no skill" if entries else "No calibrator is fitted to it yet"
    advice = f"{why}, so its suggestions show no number. {command} fits some in about 5 minutes, from code on this machine."
    return NextStep(advice, command)


def speed_of(model: FoundModel, reading: float | None) -> float | None:
    """Tokens a second: each token that a model writes goes through the weights once. reading: as `ModelList.reading_speed`."""
    if reading is None or not model.read_per_token or model.problem:
        return None
    return reading / model.read_per_token


def _calibrator(entry: Entry) -> dict[str, Any]:
    calibrator = entry.calibrator
    return {
        "event": calibrator.event,
        "task": calibrator.task,
        "languages": list(calibrator.fitted_on.languages),
        "origin": entry.origin,
        "status": effective_status(entry).status,
    }
