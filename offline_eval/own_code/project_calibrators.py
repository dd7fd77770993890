"""The calibrators that come of a run on a repository, and the files that they are kept in."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...calibration.calibrator import Calibrator, CalibratorError, load
from ...calibration.effective_status import effective_status
from ...calibration.fitting.fit import FitError
from ...calibration.fitting.project_fit import ProjectFit, find_parent, fit_project
from ...calibration.registry import Origin, Purpose, Registry, choose, load_registry
from ...calibration.samples import Sample
from ...calibration.save_for_project import save_for_project

EVENTS = ("tests_pass", "exact_match")
# Whose calibrator it is that an event's number comes from, for people.
_WHOSE: dict[Origin, str] = {"project": "its own calibrator", "user": "yours for all projects", "shipped": "the shipped one"}
_NO_NUMBER = "no number"
# A calibrator of so many times fewer samples than the one that is there does not replace it. Code that has changed may have a few less.
_FAR_FEWER = 1.5


def fitted(samples: Mapping[str, Sequence[Sample]], project: Path, events: Sequence[str] = EVENTS) -> tuple[list[ProjectFit], list[str]]:
    """A calibrator for each event and task that has labels, and notes on why others have none."""
    registry = load_registry(project)
    owns = []
    of_note: dict[str, list[str]] = {}
    for event in events:
        for task, found in sorted(samples.items()):
            labelled = [sample for sample in found if sample.labels.get(event) is not None]
            if len(labelled) < 2:
                of_note.setdefault("too few labelled suggestions to fit a calibrator to", []).append(f"{event} of {task}")
                continue
            parent, alone = find_parent(registry, labelled, event)
            try:
                owns.append(fit_project(labelled, event, parent, alone))
            except FitError as error:
                of_note.setdefault(str(error), []).append(f"{event} of {task}")
                continue
            for note in (*([f"fitted to these samples alone, for {alone}"] if alone else []), *owns[-1].fit.notes):
                of_note.setdefault(note, []).append(f"{event} of {task}")
    if not samples:
        of_note["no place has a suggestion that could be labelled"] = ["no calibrator"]
    return owns, [f"{', '.join(about)}: {note}" for note, about in of_note.items()]


def write(owns: Sequence[ProjectFit], folder: Path, notes: list[str]) -> list[Path]:
    """Write the calibrators' files, and note which stay: those with a number, beside one that has none or is of far fewer samples."""
    written = []
    for own in owns:
        made = own.fit.calibrator
        path = folder / f"repo-{made.event}-{made.task}-{made.fitted_on.model[:8]}.json"
        with contextlib.suppress(CalibratorError):
            there = load(path, follow=False) if path.is_file() else None
            if there and there.fitted_on.prompt == made.fitted_on.prompt and _is_better(there, made):
                stays = f"{path} stays as it was, {there.status} with n = {there.fitted_on.n}"
                notes.append(f"{stays}: this run's is {made.status} with n = {made.fitted_on.n}; delete it to have that")
                continue
        save_for_project(made, path)
        written.append(path)
    return written


def _is_better(there: Calibrator, made: Calibrator) -> bool:
    return there.status == "informative" and (made.status != "informative" or made.fitted_on.n * _FAR_FEWER < there.fitted_on.n)


def used(registry: Registry, model: str, prompts: Mapping[str, str]) -> str:
    """One line: which calibrator the project's files get their numbers from, for each event and task, and for which there is no number."""
    of_each: dict[str, dict[str, list[str]]] = {}
    for event in EVENTS:
        for task, prompt in prompts.items():
            chosen = choose(registry, Purpose(model, prompt, event, task, "python"))
            has_number = chosen is not None and effective_status(chosen).has_numbers
            whose = _WHOSE[chosen.origin] if chosen and has_number else _NO_NUMBER
            of_each.setdefault(whose, {}).setdefault(event, []).append(task)
    words = {whose: [f"{event} of {', '.join(tasks)}" for event, tasks in about.items()] for whose, about in of_each.items()}
    lines = [f"{whose} for {' and '.join(words[whose])}" for whose in (*_WHOSE.values(), _NO_NUMBER) if whose in words]
    return f"used for this project from now on: {'; '.join(lines)}"
