"""What a run on own code came to: whose code was used, the calibrators, and whether suggestions have a number now."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...calibration.project_folder import PROJECT_FOLDER
from ...calibration.registry import Registry, load_registry
from ...calibration.report.report import summary
from ...calibration.samples import Sample
from ..calibration.draw import EVENT
from ..calibration.report import rate
from ..progress import counted, to_stderr
from ..repository import calibrators as own_calibrators
from ..run import Run
from ..study import Results
from .numbers import ENOUGH_WITHIN, Made, fitted, written

SCHEMA = "assay/model-numbers/1"
_WHOSE = {"you": "your own code", "others": "code of others in your folders", "unknown": "code in your folders", "public": "public code"}


@dataclass(frozen=True, slots=True)
class Ending:
    """Where calibrators are written, and why asking ended: "enough", "all", "samples" or "time". project: None for all projects."""

    project: Path | None
    why: str
    minutes: float | None


def write_numbers(run: Run, results: Results, ending: Ending | None, *, as_json: bool) -> None:
    """Fit calibrators to a run's samples and write them. ending: None writes none, and tells of what is there.

    On stdout the paths of the calibrators, or of the samples where there are none; or one JSON document. Raises OSError.
    """
    question = run.question()
    project = ending.project if ending else None
    registry = load_registry(project)
    notes: list[str] = []
    if project:
        made = _for_project(results.samples, project, question["tasks"], notes)
    else:
        made = fitted(results.samples, question["tasks"])
        made = written(made, registry) if ending else made
    used = Counter(answer.get("author", "public") for answer in results.answers)
    said = sentence(made, question["model_name"] or question["model"], registry_after(registry, project))
    ours = any(entry.origin == "shipped" and entry.calibrator.fitted_on.model == question["model"] for entry in registry.entries)
    told = [*_words(made, results.samples), *(f"note: {note}" for note in notes), *_used(used, never_seen=ours), *_why_ended(ending), said]
    for line in told:
        to_stderr(line)
    files = [one.file for one in made if one.file]
    if as_json:
        print(json.dumps(_document(run, ending, made, results, used, said)))
        return
    for path in files or results.paths:
        print(path)


def registry_after(before: Registry, project: Path | None) -> Registry:
    """The registry as a server reads it now, with what was written."""
    for reason in (after := load_registry(project)).skipped:
        if reason not in before.skipped:
            to_stderr(f"note: {reason}")
    return after


def sentence(made: Sequence[Made], model: str, registry: Registry) -> str:
    """What that means for the user, in one sentence."""
    having = [one.task for one in made if _gets_number(one, registry)]
    lacking = [one.task for one in made if one.task not in having]
    if not having:
        few = all(one.calibrator is None or one.calibrator.status == "insufficient" for one in made)
        why = "too little was asked to tell; the same command goes on" if few else "no skill was found, so none is shown"
        return f"suggestions of {model} have no number: {why}"
    rest = f", and none for {', '.join(lacking)}" if lacking else ""
    return f"suggestions of {model} have a number for {', '.join(having)}{rest}"


def _gets_number(made: Made, registry: Registry) -> bool:
    if made.has_number:
        return True
    if made.calibrator is None:
        return False
    of = made.calibrator.fitted_on
    same = [e.calibrator for e in registry.entries if (e.calibrator.event, e.calibrator.task) == (EVENT, made.task)]
    return any((c.fitted_on.model, c.fitted_on.prompt, c.status) == (of.model, of.prompt, "informative") for c in same)


def _for_project(samples: Mapping[str, Sequence[Sample]], project: Path, tasks: Sequence[str], notes: list[str]) -> list[Made]:
    """The calibrators of one project: adapted from one for all projects where there is one, and kept in the project's folder."""
    owns, found = own_calibrators.fitted(samples, project, (EVENT,))
    notes += found
    files = own_calibrators.write(owns, project / PROJECT_FOLDER, notes)
    of_task = {own.fit.calibrator.task: own.fit.calibrator for own in owns}
    made = []
    for task in tasks:
        calibrator = of_task.get(task)
        file = next((path for path in files if calibrator and f"-{task}-" in path.name), None)
        made.append(Made(task, calibrator, calibrator.reason if calibrator else "no suggestions to learn from", file))
    return made


def _words(made: Sequence[Made], samples: Mapping[str, Sequence[Sample]]) -> Iterator[str]:
    width = max(len(one.task) for one in made)
    for one in made:
        if one.calibrator is None:
            yield f"{one.task:{width}s} no calibrator, from {counted(len(samples.get(one.task, ())), 'suggestion')}: {one.why}"
        else:
            yield f"{one.task:{width}s} {summary(one.calibrator)}"
            yield f"{'':{width}s} {one.why}"


def _used(used: Mapping[str, int], *, never_seen: bool) -> Iterator[str]:
    """never_seen: the model was trained on none of the public code."""
    if used:
        of = ", ".join(f"{used[who]:,} in {words}" for who, words in _WHOSE.items() if used.get(who))
        yield f"{counted(sum(used.values()), 'place')} in all: {of}"
    if used.get("public", 0) > sum(used.values()) / 2 and not never_seen:
        yield (
            "note: more than half is public code, which a model may have been trained on: it is then right there more often than in yours. "
            "Name folders of yours to have it judged by them"
        )


def _why_ended(ending: Ending | None) -> Iterator[str]:
    if ending is None:
        return
    if ending.why == "enough":
        yield f"asking ended early: the skill of each task is known to within {ENOUGH_WITHIN:g}"
    elif ending.why == "all":
        yield "there are no more places in this code"
    elif ending.why == "time" and ending.minutes:
        yield f"asking ended after {ending.minutes:g} minutes; the same command goes on from there"


def _document(
    run: Run, ending: Ending | None, made: Sequence[Made], results: Results, used: Mapping[str, int], said: str
) -> dict[str, Any]:
    question = run.question()
    calibrators = [
        {
            "task": one.task,
            "status": one.calibrator.status if one.calibrator else None,
            "why": one.why,
            "file": str(one.file) if one.file else None,
            "skill": asdict(skill) if one.calibrator and (skill := one.calibrator.evidence.skill) else None,
            EVENT: rate(results.samples.get(one.task, ())),
        }
        for one in made
    ]
    return {
        "schema": SCHEMA,
        "run": str(run.folder),
        "model": question["model"],
        "model_name": question["model_name"],
        "project": str(ending.project) if ending and ending.project else None,
        "ended": ending.why if ending else None,
        "places": dict(used),
        "calibrators": calibrators,
        "said": said,
    }
