"""What a run on own code came to: whose code was used, the calibrators, and whether suggestions have a number now."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...analysis.python.lines import MIN_FUNCTION_LINES
from ...calibration.confidence import whose
from ...calibration.effective_status import effective_status
from ...calibration.guards import GIVING, MIN_PER_CLASS, MIN_SAMPLES
from ...calibration.language_names import names_of_languages
from ...calibration.plain_number import plain
from ...calibration.project_folder import PROJECT_FOLDER
from ...calibration.registry import Purpose, Registry, choose, load_registry
from ...calibration.report.report import summary
from ...calibration.samples import Sample
from ..asked_line import EVENT
from ..calibration.report import rate
from ..progress import counted, to_stderr
from ..run import Run
from ..study import Results
from . import project_calibrators as own_calibrators
from .numbers import ENOUGH_WITHIN, NARROW, Made, fitted, written

SCHEMA = "assay/model-numbers/1"
_WHOSE = {"you": "your own code", "others": "code of others in your folders", "unknown": "code in your folders", "public": "public code"}


@dataclass(frozen=True, slots=True)
class Ending:
    """Where calibrators are written, and why asking ended: "enough", "all", "samples" or "time".

    project: None for all projects. asked: how many places have an answer since the command began.
    """

    project: Path | None
    why: str
    minutes: float | None
    asked: int = 0


def write_numbers(run: Run, results: Results, *, ending: Ending | None, as_json: bool) -> None:
    """Fit calibrators to a run's samples and write them. ending: None writes none, and tells of what is there.

    On stdout the paths of the calibrators, or of the samples where there are none; or one JSON document, with places by author. In it
    project is null for all of them, and ended where no calibrators are written. Raises OSError.
    """
    question = run.question()
    project = ending.project if ending else None
    registry = load_registry(project)
    notes: list[str] = []
    if project:
        made = _for_project(results.samples, project, question["tasks"], notes)
    else:
        made = fitted(results.samples, question["tasks"], registry)
        made = written(made, registry) if ending else made
    used = Counter(answer.get("author", "public") for answer in results.answers)
    after = registry_after(registry, project)
    numbers = {task: _languages(after, question, task, results.samples.get(task, ())) for task in question["tasks"]}
    asked = {sample.language for samples in results.samples.values() for sample in samples}
    said = sentence(
        made,
        question["model_name"] or question["model"],
        {task: frozenset(of) for task, of in numbers.items()},
        asked,
        len(results.answers),
    )
    if any(why for of in numbers.values() for why in of.values()):
        said += "; some borrowed"
    ours = any(entry.origin == "shipped" and entry.calibrator.fitted_on.model == question["model"] for entry in registry.entries)
    told = [
        *_words(made, results.samples),
        *(f"note: {note}" for note in notes),
        *_used(used, never_seen=ours),
        *why_ended(ending, made, results),
        said,
    ]
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


def sentence(made: Sequence[Made], model: str, numbers: Mapping[str, frozenset[str]], asked: Collection[str], places: int) -> str:
    """What that means for the user, in one sentence.

    numbers: by task the languages that get one. asked: the languages of the samples. places: how many were asked about.
    """
    having: dict[frozenset[str], list[str]] = {}
    for one in made:
        if one.task not in (tasks := having.setdefault(numbers.get(one.task, frozenset()), [])):
            tasks.append(one.task)
    lacking = having.pop(frozenset(), [])
    before = "" if places else "nothing was asked, so nothing changed: "
    if not having:
        few = all(map(is_insufficient, made))
        why = "too little was asked to tell; the same command goes on" if few else "no skill was found, so none is shown"
        return f"{before}suggestions of {model} have no number" + (f": {why}" if places else "")
    parts = [f"{', '.join(tasks)} in {names_of_languages(tuple(languages))}" for languages, tasks in having.items()]
    rest = f"; none for {', '.join(lacking)}" if lacking else ""
    without = set(asked).difference(*having)
    return f"{before}suggestions of {model} have a number for {'; for '.join(parts)}{rest}" + (
        f"; none in {names_of_languages(tuple(without))}" if without else ""
    )


def is_insufficient(made: Made) -> bool:
    """Whether too little was asked to tell."""
    return made.calibrator is None or made.calibrator.status == "insufficient"


def _languages(registry: Registry, question: Mapping[str, Any], task: str, samples: Sequence[Sample]) -> dict[str, str]:
    """The languages in which suggestions of a task get a number, from what was fitted now or before, and where a borrowed one is from."""
    prompt = samples[0].prompt if samples else question["prompt"]
    found = {}
    for language in {language for entry in registry.entries for language in entry.calibrator.fitted_on.languages}:
        entry = choose(registry, Purpose(question["model"], prompt, EVENT, task, language, kin=question.get("kin", "")))
        if entry is not None and effective_status(entry, language).has_numbers:
            found[language] = whose(entry.calibrator, kin=entry.kin)
    return found


def _for_project(samples: Mapping[str, Sequence[Sample]], project: Path, tasks: Sequence[str], notes: list[str]) -> list[Made]:
    """The calibrators of one project: adapted from one for all projects where there is one, and kept in the project's folder."""
    owns, found = own_calibrators.fitted(samples, project, (EVENT,))
    notes += found if samples else []
    told = [own for own in owns if own.fit.calibrator.status != "insufficient"]
    files = own_calibrators.write(told, project / PROJECT_FOLDER, notes)
    of_task = {own.fit.calibrator.task: own.fit.calibrator for own in owns}
    made = []
    for task in tasks:
        calibrator = of_task.get(task)
        file = next((path for path in files if calibrator and f"-{task}-" in path.name), None)
        made.append(Made(task, calibrator, calibrator.reason if calibrator else "too few to learn from", file))
    return made


def _words(made: Sequence[Made], samples: Mapping[str, Sequence[Sample]]) -> Iterator[str]:
    parts = Counter(one.task for one in made)
    names = [
        f"{one.task}, {names_of_languages(one.calibrator.fitted_on.languages)}" if parts[one.task] > 1 and one.calibrator else one.task
        for one in made
    ]
    width = max(map(len, names))
    for name, one in zip(names, made, strict=True):
        if one.calibrator is None:
            yield f"{name:{width}s} no calibrator, from {counted(len(samples.get(one.task, ())), 'suggestion')}: {one.why}"
        else:
            yield f"{name:{width}s} {summary(one.calibrator)}"
            # The skill is in the summary.
            told = one.why.removeprefix(one.calibrator.reason).removeprefix("; ") if one.calibrator.status in GIVING else one.why
            if told:
                yield f"{'':{width}s} {told}"


def _used(used: Mapping[str, int], *, never_seen: bool) -> Iterator[str]:
    """never_seen: the model was trained on none of the public code."""
    if used:
        of = ", ".join(f"{used[who]:,} in {words}" for who, words in _WHOSE.items() if used.get(who))
        yield f"{counted(sum(used.values()), 'place')} in all: {of}"
    if used.get("public", 0) > sum(used.values()) / 2 and not never_seen:
        yield (
            "note: more than half is public code, which a model may have been trained on: it is then right there more often than in yours. "
            "Name folders of yours, or more of them, to have it judged by them"
        )


def why_ended(ending: Ending | None, made: Sequence[Made], results: Results) -> Iterator[str]:
    """Why asking ended, and how much longer it takes where too little was asked."""
    if ending is None:
        return
    if ending.why == "enough":
        yield f"asking ended early: the skill of each task is known to within {ENOUGH_WITHIN:g}, or half of the ranges within {NARROW:.0%}"
    elif ending.why == "all":
        yield (
            "there are no more places in this code"
            if results.answers
            else f"there is no function of {MIN_FUNCTION_LINES} lines in this code"
        )
    elif ending.why == "time" and ending.minutes:
        said = f"asking ended after {plain(ending.minutes, 6)} minutes; the same command goes on from there"
        more = [_missing(results.samples.get(one.task, ()), len(results.answers)) for one in made if is_insufficient(one)]
        if ending.asked and more:
            minutes = math.ceil(max(more) / ending.asked * ending.minutes)
            said += f": about {counted(minutes, 'minute')} more should tell, at {plain(ending.asked / ending.minutes)} places a minute"
        yield said


def _missing(samples: Sequence[Sample], places: int) -> float:
    """About how many places more give a task samples enough for a calibrator, if they are as those before."""
    labels = [label for sample in samples if (label := sample.labels.get(EVENT)) is not None]
    fewer = min(sum(labels), len(labels) - sum(labels))
    # Until one has come of each class nothing is known of how often it comes: that it comes next is the best that can be said.
    wanted = max(MIN_SAMPLES, MIN_PER_CLASS * (len(labels) + 1) / max(fewer, 1))
    return max(0.0, wanted - len(labels)) * places / max(len(labels), 1)


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
