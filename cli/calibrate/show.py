"""What `assay calibrate show` says: the calibrators of this machine, which one is chosen for a task, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...calibration.registry import Choice, Entry, Purpose, Registry, explain_choice, folders, name_of, read_registry
from ...calibration.report.report import summary


@dataclass(frozen=True, slots=True)
class Question:
    """What a calibrator is chosen for. model: a fingerprint's id; prompts: for each task asked about, that of prompt and decoder."""

    model: str
    prompts: Mapping[str, str]
    event: str
    language: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The answer for people and as one JSON document."""

    text: str
    document: dict[str, Any]


def show(project: Path | None, question: Question | None = None) -> Shown:
    """The calibrators that there are and, for a question, the chosen one of each task with the reason.

    project: root folder of a project whose own calibrators are looked at, too.
    """
    places = folders(project)
    registry = read_registry(places)
    choices = {task: _chosen(registry, question, task) for task in question.prompts} if question else {}
    lines: list[str] = []
    for origin, path in places:
        here = [entry for entry in registry.entries if entry.origin == origin]
        lines.append(f"{origin}: {path}" + ("" if here else ": no calibrators"))
        for entry in here:
            lines.append(f"  {entry.path.name}  {entry.calibrator.id}  {entry.calibrator.task}")
            lines += [f"    {summary(entry.calibrator)}", f"    because: {entry.calibrator.reason}"]
    lines += [f"skipped: {reason}" for reason in registry.skipped]
    if question:
        prompts = ", ".join(dict.fromkeys(question.prompts.values()))
        asked = f"model {question.model}, prompt and decoder {prompts}, {question.event}, {question.language}"
        lines += ["", f"Chosen for {asked}:"]
    for task, choice in choices.items():
        lines += ["", *_explained(task, choice, only=len(choices) == 1)]
    document: dict[str, Any] = {
        "folders": [{"origin": origin, "path": str(path)} for origin, path in places],
        "calibrators": [_described(entry) for entry in registry.entries],
        "skipped": list(registry.skipped),
    }
    if question:
        document |= {"asked": asdict(question), "choices": [_choice_json(task, choice) for task, choice in choices.items()]}
    return Shown("\n".join(lines), document)


def _chosen(registry: Registry, asked: Question, task: str) -> Choice:
    return explain_choice(registry, Purpose(asked.model, asked.prompts[task], asked.event, task, asked.language))


def _explained(task: str, choice: Choice, only: bool) -> Iterator[str]:
    """only: the only task that is explained; else what is for other tasks is counted, because it is explained there."""
    yield f"{task}: {choice.reason}"
    told = [passed for passed in choice.passed_over if only or passed.entry.calibrator.task == task]
    yield from (f"  not {name_of(passed.entry)}: {passed.reason}" for passed in told)
    if others := len(choice.passed_over) - len(told):
        yield f"  not {others} for other tasks"


def _choice_json(task: str, choice: Choice) -> dict[str, Any]:
    return {
        "task": task,
        "chosen": _described(choice.entry) if choice.entry else None,
        "reason": choice.reason,
        "passed_over": [
            {"id": passed.entry.calibrator.id, "path": str(passed.entry.path), "reason": passed.reason} for passed in choice.passed_over
        ],
    }


def _described(entry: Entry) -> dict[str, Any]:
    calibrator = entry.calibrator
    return {
        "id": calibrator.id,
        "origin": entry.origin,
        "path": str(entry.path),
        "event": calibrator.event,
        "task": calibrator.task,
        "features": list(calibrator.features),
        "status": calibrator.status,
        "reason": calibrator.reason,
        "fitted_on": asdict(calibrator.fitted_on),
        "evidence": asdict(calibrator.evidence),
    }
