"""`assay calibrate show`: lists the calibrators of this machine, and explains which one is chosen for a task."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...calibration.control_characters import escaped_line
from ..exit_codes import DONE, UsageError
from ..options import EVENTS, TASKS, Subparsers, command_parser, model_choice, set_run
from ..terminal import print_json
from ..terminal import show as print_lines

if TYPE_CHECKING:
    from ...calibration.registry import Choice, Entry, Registry
    from ...inference.opening import ModelChoice


def register(actions: Subparsers) -> None:
    """Add `assay calibrate show`."""
    parser = command_parser(actions, "show", "list the calibrators on this machine, and explain which one is used")
    parser.add_argument(
        "--project", metavar="DIR", type=Path, help="list the calibrators of this project, too (default: the project of the current folder)"
    )
    parser.add_argument("--why", action="store_true", help="explain which calibrator is chosen for the options below")
    parser.add_argument("--event", choices=EVENTS, help="what the probability is about (default: exact_match)")
    parser.add_argument("--task", choices=TASKS, help="what the model is asked for (default: each task)")
    parser.add_argument("--language", help="language identifier (default: python)")
    set_run(parser, run, "memory", "model", "json")


def run(arguments: argparse.Namespace) -> int:
    """List the calibrators, and explain the choice with --why. Raises UsageError and ModelError."""
    from ...calibration.project_folder import project_of
    from ...inference.opening import ModelChoice

    choice, project = model_choice(arguments), arguments.project
    if project is not None and not project.is_dir():
        raise UsageError(f"{project} is not a folder")
    if not arguments.why and (arguments.event or arguments.task or arguments.language or choice != ModelChoice()):
        raise UsageError("--event, --task, --language, --model and its options only go with --why")
    question = _question(arguments, choice) if arguments.why else None
    found = show(project.absolute() if project else project_of(Path.cwd()), question)
    if arguments.json:
        print_json(found.document)
    else:
        print_lines(*found.text.split("\n"))
    return DONE


@dataclass(frozen=True, slots=True)
class Question:
    """The subject of a choice. model, kin: of its fingerprint. prompts: by task, the fingerprint of prompt and decoder."""

    model: str
    prompts: Mapping[str, str]
    event: str
    language: str
    kin: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The list for people and as a JSON document."""

    text: str
    document: dict[str, Any]


def show(project: Path | None, question: Question | None = None) -> Listing:
    """List the calibrators and, for a question, say which is chosen for each task, and why.

    project: root folder of a project whose own calibrators are listed, too.
    """
    from ...calibration.registry import folders, load_registry
    from ...calibration.report.report import summary

    places = folders(project)
    registry = load_registry(project)
    choices = {task: _chosen(registry, question, task) for task in question.prompts} if question else {}
    lines: list[str] = []
    for origin, path in places:
        here = [entry for entry in registry.entries if entry.origin == origin]
        lines.append(f"{origin}: {path}" + ("" if here else ": no calibrators"))
        for entry in here:
            lines.append(f"  {entry.path.name}  {entry.calibrator.id}  {entry.calibrator.task}")
            lines += [f"    {summary(entry.calibrator)}", f"    because: {entry.calibrator.reason}", *_languages(entry)]
            lines += [*_validated(entry), *_withheld(entry)]
    lines += [f"skipped: {reason}" for reason in registry.skipped]
    if question:
        prompts = ", ".join(dict.fromkeys(question.prompts.values()))
        subject = f"model {question.model}, prompt and decoder {prompts}, {question.event}, {question.language}"
        lines += ["", f"Chosen for {subject}:"]
    for task, choice in choices.items():
        lines += ["", *_explained(task, choice, only=len(choices) == 1)]
    document: dict[str, Any] = {
        "folders": [{"origin": origin, "path": str(path)} for origin, path in places],
        "calibrators": [_described(entry) for entry in registry.entries],
        "skipped": list(registry.skipped),
    }
    if question:
        document |= {"asked": asdict(question), "choices": [_choice_json(task, choice) for task, choice in choices.items()]}
    # so that no name or reason can add a line
    return Listing("\n".join(map(escaped_line, lines)), document)


def _languages(entry: Entry) -> Iterator[str]:
    from ...calibration.report.report import summary_of_languages

    yield from (f"      {line}" for line in summary_of_languages(entry.calibrator))


def _validated(entry: Entry) -> Iterator[str]:
    from ...calibration.validation.words import on_badges, on_failures, refuted, summary

    if entry.validation is None:
        yield "    not validated"
        return
    yield f"    {summary(entry.validation)}"
    yield from (f"      refuted: {sentence}" for sentence in refuted(entry.validation))
    if of_failures := on_failures(entry.validation):
        yield f"      {of_failures}"
    yield from (f"      {word}: {sentence}" for word, sentence in on_badges(entry.validation).items())


def _withheld(entry: Entry) -> Iterator[str]:
    from ...calibration.effective_status import REFUTED, effective_status

    if (effective := effective_status(entry)).status == REFUTED:
        yield f"    shows no number: {effective.reason}"


def _question(arguments: argparse.Namespace, choice: ModelChoice) -> Question:
    from ...inference.completion.task import kind_of
    from ...suggestion.memory.memories import memory_fingerprint

    tasks = (arguments.task,) if arguments.task else TASKS
    with choice.open() as model:
        heals, memory, settings = model.capabilities.heals, memory_fingerprint(model, arguments.memory), choice.settings_for(model)
        prompts = {
            task: settings.fingerprint(model.layout, model.context_length, kind_of(task), heals=heals, memory=memory) for task in tasks
        }
        return Question(
            model.fingerprint.id, prompts, arguments.event or "exact_match", arguments.language or "python", model.fingerprint.kin
        )


def _chosen(registry: Registry, question: Question, task: str) -> Choice:
    from ...calibration.registry import Purpose, explain_choice

    return explain_choice(
        registry, Purpose(question.model, question.prompts[task], question.event, task, question.language, kin=question.kin)
    )


def _explained(task: str, choice: Choice, only: bool) -> Iterator[str]:
    """The lines about one task. only: there is no other task; otherwise calibrators of other tasks are only counted."""
    from ...calibration.registry import name_of

    yield f"{task}: {choice.reason}"
    if choice.entry:
        yield from (line.removeprefix("  ") for line in _withheld(choice.entry))
    rejected = [passed for passed in choice.passed_over if only or passed.entry.calibrator.task == task]
    yield from (f"  not {name_of(passed.entry)}: {passed.reason}" for passed in rejected)
    if others := len(choice.passed_over) - len(rejected):
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
    from ...calibration.effective_status import effective_status
    from ...calibration.validation.sentences import whole_json

    calibrator, effective = entry.calibrator, effective_status(entry)
    return {
        "id": calibrator.id,
        "origin": entry.origin,
        "path": str(entry.path),
        "event": calibrator.event,
        "task": calibrator.task,
        "features": list(calibrator.features),
        "status": effective.status,
        "reason": effective.reason,
        "fitted_on": asdict(calibrator.fitted_on),
        "evidence": asdict(calibrator.evidence),
        "by_language": [asdict(each) for each in calibrator.by_language],
        "validation": entry.validation and whole_json(entry.validation),
    }
