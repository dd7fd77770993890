"""The registry: which calibrator applies, and why.

Three folders: the ones shipped with the package, the user's, the project's. A project's goes before a user's, that before a shipped one;
within a folder the newest. One that is `insufficient` gives way to any other that matches.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import platformdirs

from .calibrator import Calibrator, CalibratorError, load

Origin = Literal["project", "user", "shipped"]
PROJECT_FOLDER = Path(".assay") / "calibrators"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One calibrator in the registry."""

    origin: Origin
    path: Path
    calibrator: Calibrator


@dataclass(frozen=True, slots=True)
class Registry:
    """All calibrators that can be read, those that go first first, and why the other files can't be read."""

    entries: tuple[Entry, ...]
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The calibrator to use, or None; why: one line on each that was considered."""

    entry: Entry | None
    why: tuple[str, ...]

    @property
    def calibrator(self) -> Calibrator | None:
        """The chosen entry's calibrator."""
        return self.entry.calibrator if self.entry else None


def folders(project: Path | None = None) -> list[tuple[Origin, Path]]:
    """Where calibrators are, those that go first first. project: root folder of the project that is worked on."""
    found: list[tuple[Origin, Path]] = [("project", project / PROJECT_FOLDER)] if project else []
    found.append(("user", Path(platformdirs.user_data_dir("assay", appauthor=False)) / "calibrators"))
    found.append(("shipped", Path(__file__).parent / "shipped"))
    return found


def project_of(path: Path) -> Path | None:
    """The nearest folder at or above an absolute path that has calibrators of its own; None where none has."""
    return next((folder for folder in (path, *path.parents) if (folder / PROJECT_FOLDER).is_dir()), None)


def read_registry(places: Sequence[tuple[Origin, Path]]) -> Registry:
    """Read every *.json of the folders; one that does not exist is empty. A file that can't be read is skipped with one logged warning."""
    entries: list[Entry] = []
    skipped: list[str] = []
    for origin, folder in places:
        here: list[Entry] = []
        for path in sorted(folder.glob("*.json")):
            try:
                here.append(Entry(origin, path, load(path)))
            except CalibratorError as error:
                _log.warning("calibrator skipped: %s", error)
                skipped.append(str(error))
        entries += sorted(here, key=lambda entry: datetime.fromisoformat(entry.calibrator.fitted_on.date), reverse=True)
    return Registry(tuple(entries), tuple(skipped))


def load_registry(project: Path | None = None) -> Registry:
    """The registry of this machine: `read_registry` of `folders`."""
    return read_registry(folders(project))


def choose(registry: Registry, model_id: str, prompt_id: str, event: str, task: str, language: str) -> Choice:
    """The calibrator for a model, a prompt and decoder (fingerprint ids), an event, a task and a language.

    Everything must match: a map fitted to another model, prompt or language says nothing here. A project's calibrator that is
    `uninformative` is still taken before a shipped one: there is evidence of no skill in this project.
    """
    matching: list[Entry] = []
    why: list[str] = []
    for entry in registry.entries:
        made = entry.calibrator.fitted_on
        differs = [
            f"{what} {theirs}, not {ours}"
            for what, theirs, ours in (
                ("the model", made.model, model_id),
                ("the prompt", made.prompt, prompt_id),
                ("the event", entry.calibrator.event, event),
                ("the task", entry.calibrator.task, task),
            )
            if theirs != ours
        ]
        if language not in made.languages:
            differs.append(f"the language {', '.join(made.languages)}, not {language}")
        if differs:
            why.append(f"passed over {_name(entry)}: it is for {'; '.join(differs)}")
        else:
            matching.append(entry)
    chosen = next((e for e in matching if e.calibrator.status != "insufficient"), matching[0] if matching else None)
    for entry in matching:
        if entry is not chosen:
            reason = "insufficient" if entry.calibrator.status == "insufficient" else "another goes before it"
            why.append(f"passed over {_name(entry)}: it matches, but {reason}")
    why += [f"skipped {reason}" for reason in registry.skipped]
    first = f"chosen: {_name(chosen)}: it matches and is {chosen.calibrator.status}" if chosen else "none matches"
    return Choice(chosen, (first, *why))


def _name(entry: Entry) -> str:
    return f"{entry.origin} {entry.path.name} ({entry.calibrator.fitted_on.date}, n = {entry.calibrator.fitted_on.n})"
