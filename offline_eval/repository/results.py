"""What comes of a run of `assay calibrate repo`: samples, calibrators and a report, from the places that it has finished."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...calibration.atomic_write import write_atomically
from ...calibration.calibrator import CalibratorError, load, save
from ...calibration.fitting.fit import FitError
from ...calibration.fitting.own_project import Own, own_calibrator, parent_for
from ...calibration.registry import PROJECT_FOLDER, Origin, Purpose, Registry, choose, folders, load_registry, read_registry
from ...calibration.report.report import summary
from ...calibration.samples import Sample, write_samples
from ...inference.completion.task import Task
from ..line_completion.study import to_stderr
from ..run import GENERATIONS, LABELS, Run, RunError
from .report import Suite, summary_of, write_report
from .study import TASKS, records_of, samples_of

EVENTS = ("tests_pass", "exact_match")
# Whose calibrator it is that an event's number comes from, for people.
_WHOSE: dict[Origin, str] = {"project": "its own calibrator", "user": "yours for all projects", "shipped": "the shipped one"}
_NO_NUMBER = "no number"


def keep_suite(run: Run, suite: Suite) -> None:
    """Write down what the suite is like, for the report."""
    with write_atomically(run.folder / "suite.json") as out:
        out.write(json.dumps(asdict(suite)).encode())


def _suite_of(run: Run) -> Suite:
    path = run.folder / "suite.json"
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        if any(type(value) not in (int, float) for value in found.values()):
            raise TypeError("not all numbers")
        return Suite(**found)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise RunError(f"{path}: can't be read ({error}); the command that began the run writes it again") from None


def finish(run: Run, project: Path | None, as_json: bool) -> None:
    """Samples, calibrators and report of what a run has. project: where calibrators go; None writes none."""
    asked, records = run.asked(), list(records_of(run.folder))
    prompts: dict[Task, str] = {task: asked["prompt_block" if task == "block" else "prompt"] for task in TASKS}
    by_task = samples_of(
        records, project=asked["project"], model=asked["model"], model_name=asked["model_name"], prompts=prompts, seed=asked["seed"]
    )
    _write_lines(run, records)
    paths = []
    for task, samples in sorted(by_task.items()):
        paths.append(run.folder / "samples" / f"{task}.jsonl")
        write_samples(paths[-1], samples)
    owns, notes = _owns(by_task, Path(asked["folder"]))
    for own in owns:
        to_stderr(f"{own.fit.calibrator.task}: {summary(own.fit.calibrator)}")
    facts = [f"model {asked['model_name'] or asked['model']}, tests run by {asked['interpreter']}, isolation {asked['isolation']}"]
    report = write_report(run.folder / "report", f"{asked['project']}: its own calibrators", facts, _suite_of(run), records, owns, notes)
    # last, so that whatever keeps them from being written keeps nothing else
    written = _save(owns, project / PROJECT_FOLDER, notes) if project else []
    for note in notes:
        to_stderr(f"note: {note}")
    for path in report:
        if path.suffix == ".html":
            to_stderr(f"report: {path}")
    if project:
        to_stderr(_used(load_registry(project), asked["model"], {task: prompts[task] for task in asked["tasks"]}))
    if as_json:
        document = {"run": str(run.folder), "samples": [str(p) for p in paths], "calibrators": [str(p) for p in written]}
        print(json.dumps({**document, "report": [str(p) for p in report], **summary_of(records)}))
    else:
        for path in written or paths:
            print(path)


def _used(registry: Registry, model: str, prompts: Mapping[Task, str]) -> str:
    """One line: which calibrator the project's files get their numbers from, for each event and task, and for which there is no number."""
    of_each: dict[str, dict[str, list[str]]] = {}
    for event in EVENTS:
        for task, prompt in prompts.items():
            chosen = choose(registry, Purpose(model, prompt, event, task, "python"))
            numbered = chosen is not None and chosen.calibrator.status == "informative"
            whose = _WHOSE[chosen.origin] if chosen and numbered else _NO_NUMBER
            of_each.setdefault(whose, {}).setdefault(event, []).append(task)
    told = {whose: [f"{event} of {', '.join(tasks)}" for event, tasks in about.items()] for whose, about in of_each.items()}
    lines = [f"{whose} for {' and '.join(told[whose])}" for whose in (*_WHOSE.values(), _NO_NUMBER) if whose in told]
    return f"used for this project from now on: {'; '.join(lines)}"


def _save(owns: Sequence[Own], folder: Path, notes: list[str]) -> list[Path]:
    """The files of calibrators, written; one that has a number is not replaced by one that has none, and a note says so."""
    written = []
    for own in owns:
        made = own.fit.calibrator
        path = folder / f"repo-{made.event}-{made.task}-{made.fitted_on.model[:8]}.json"
        with contextlib.suppress(CalibratorError):
            there = load(path) if path.is_file() else None
            if there and there.status == "informative" != made.status and there.fitted_on.prompt == made.fitted_on.prompt:
                stays = f"{path} stays as it was, {there.status} with n = {there.fitted_on.n}"
                notes.append(f"{stays}: this run's is {made.status}; delete it to have that")
                continue
        save(made, path)
        written.append(path)
    return written


def _owns(by_task: dict[Task, list[Sample]], project: Path) -> tuple[list[Own], list[str]]:
    """A calibrator for each event and task that has labels, and why others have none."""
    registry = read_registry(folders(project))
    owns = []
    of_note: dict[str, list[str]] = {}
    for event in EVENTS:
        for task, samples in sorted(by_task.items()):
            labelled = [sample for sample in samples if sample.labels.get(event) is not None]
            if len(labelled) < 2:
                of_note.setdefault("too few labelled suggestions to fit a calibrator to", []).append(f"{event} of {task}")
                continue
            parent, alone = parent_for(registry, labelled, event)
            try:
                owns.append(own_calibrator(labelled, event, parent, alone))
            except FitError as error:
                of_note.setdefault(str(error), []).append(f"{event} of {task}")
                continue
            for note in (*([f"fitted to these samples alone, for {alone}"] if alone else []), *owns[-1].fit.notes):
                of_note.setdefault(note, []).append(f"{event} of {task}")
    if not by_task:
        of_note["no place has a suggestion that could be labelled"] = ["no calibrator"]
    return owns, [f"{', '.join(about)}: {note}" for note, about in of_note.items()]


def _write_lines(run: Run, records: Sequence[dict[str, Any]]) -> None:
    """generations.jsonl and labels.jsonl, as every run has them."""
    answers = [(record, made) for record in records for made in record["answers"]]
    labels = [{"id": made["id"], **{event: made[event] for event in EVENTS}} for _, made in answers]
    generations = [
        {key: value for key, value in made.items() if key not in EVENTS}
        | {"project": run.asked()["project"], **{key: record[key] for key in ("file", "function", "statement", "line")}}
        for record, made in answers
    ]
    for name, lines in ((GENERATIONS, generations), (LABELS, labels)):
        with write_atomically(run.folder / name) as out:
            out.write("".join(json.dumps(line) + "\n" for line in lines).encode())
