"""Round trips of single lines (Allamanis et al., arXiv 2402.08699), at the places whose loss the tests of 20 projects notice.

    answers    what the editor would suggest at the place, without any comment: pass@1 of the place
    describe   a comment above the line, drawn several times; of the project's own line, and of what was suggested
    rebuild    the line again below each comment, and below one that says nothing of it
    labels     what the tests say of each distinct text, in a file without any comment

Round trips of what was suggested give its samples the measures round_trip, round_trip_logprob and round_trip_lift. A description of the
project's own line knows the answer, so its round trips say something of the model alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ....calibration.measures.round_trip import measures_of_round_trips
from ....inference.opening import ModelChoice
from ....suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ...asked_line import Asking
from ...calibration.draw import ANSWERS, EVENT, Drawing, label_id
from ...calibration.plan import tell, written
from ...model import StudyModel, model_of
from ...pool.choice import Pool
from ...progress import counted, tell_if_stopped, to_stderr
from ...run import Run, check_writable
from ...sets.items import Wanted, check_suites, items_of_suites, lines_of, question_of_items
from ...sets.projects import Project, default_cache, named
from ...sets.suites import Items, Judged, Judging, Label
from ...study import Plan, Results, Step, Work, conduct
from ..options import CODES
from .facts import facts_of, is_exact
from .report import write_report
from .trips import DESCRIBE, REBUILD, Code, Draws, describe, rebuild

PER_PROJECT = 60
LABELS = Step("labels", "text", Label)
FACTS = "facts.jsonl"
# A worker may take so long for one text: a suite is run several times before it can judge.
_MAX_TEXT_S = 1800.0


class RoundTripStudy:
    """The study, as the driver sees it."""

    name = "rtc"
    steps = (ANSWERS, DESCRIBE, REBUILD, LABELS)
    needed = ("set",)

    def answers(self, run: Run) -> list[Any]:
        """Each place's suggestion, with what its tests said, and the measures of its round trips where it has some."""
        answers, question = run.records(ANSWERS).read(), run.question()
        said = _said(run)
        rebuilt = {record["id"]: record for record in run.records(REBUILD).read()} if "suggestion" in question["of"] else {}
        asked = hashlib.sha256(json.dumps([question[name] for name in Draws().question]).encode()).hexdigest()[:16]
        for answer in answers:
            for one in answer["generations"]:
                if one["inserted"] is None:
                    continue
                name = label_id(answer["id"], one["task"], one["inserted"])
                one["labels"]["tests_pass"] = True if one["labels"][EVENT] else said.get(name)
                if name in rebuilt and one.get("rank", 1) == 1:
                    measures = _measures(rebuilt[name])
                    one["measures"] |= measures
                    one["asked"] = dict.fromkeys(measures, asked)
        return answers

    def report(self, run: Run, results: Results, *, as_json: bool) -> None:
        """The facts, a page, and a summary on stderr."""
        rebuilt = {record["id"]: record for record in run.records(REBUILD).read()}
        facts = facts_of(run.records(ANSWERS).read(), rebuilt, _said(run), run.question()["of"])
        run.write_lines(FACTS, facts)
        write_report(run, results, facts, sum(len(run.lost(step)) for step in self.steps), as_json=as_json)


STUDY = RoundTripStudy()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants.

    of: what goes around, truth or suggestion. projects: where none is named, all that have a suite. per_project: at most so many places of
    each; limit: of all. forward, backward: as `Draws`. alternatives: how many are drawn at each place; the first alone goes around. The
    rest as of the calibration study.
    """

    out: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    of: tuple[str, ...] = CODES
    projects: Sequence[Project] = ()
    per_project: int | None = None
    limit: int | None = None
    seed: int = 0
    forward: int = 3
    backward: int = 1
    alternatives: int = 1
    pool: Pool = field(default_factory=Pool)
    cache: Path | None = None
    python: Path | None = None
    memory: Scope = DEFAULT_SCOPE
    steps: Sequence[str] = ()
    as_json: bool = False

    @property
    def draws(self) -> Draws:
        """What is drawn."""
        return Draws(self.forward, self.backward, self.seed)

    @property
    def archives(self) -> Path:
        """Where the projects' distributions are."""
        return self.cache or default_cache()

    @property
    def most(self) -> int:
        """At most so many places of a project."""
        return self.per_project or PER_PROJECT


def run_lines(asked: Asked) -> Run:
    """Run, or resume, the study.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError.
    """
    projects = asked.projects or named((), suite=True)
    _check(asked)
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        model = model_of(asked.choice, ("line",), memory=asked.memory)
        Run.check(asked.out, _question(asked, projects, model))
        wanted = Wanted(asked.out, projects, asked.archives, ("line",), asked.most, asked.limit, asked.seed, asked.python)
        items = items_of_suites(wanted, asked.pool)
    return ask(asked, projects, model, items)


def _check(asked: Asked) -> None:
    """Check what would otherwise fail late, or in a plan not at all. Raises UsageError and UnusableInterpreter."""
    check_writable(asked.archives, "the projects' archives are kept there: name another folder with --cache")
    check_suites(asked.python)


def ask(asked: Asked, projects: Sequence[Project], model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `run_lines`."""
    lines = lines_of(items)
    run = Run.begin(asked.out, _question(asked, projects, model) | question_of_items(items, lines))
    run.keep_items(lines)
    of = counted(len({place.project for place in items.places}), "project")
    to_stderr(f"{counted(len(items.places), 'place')} of {of}")
    conduct(STUDY, run, _plan(asked, run, model, projects, items), as_json=asked.as_json)
    return run


def _question(asked: Asked, projects: Sequence[Project], model: StudyModel) -> dict[str, str | int | Sequence[str]]:
    question: dict[str, str | int | Sequence[str]] = {
        **model.question(STUDY.name),
        "set": "lines",
        "of": list(asked.of),
        "seed": asked.seed,
        "per_project": asked.most,
        "projects": [f"{project.name} {project.version}" for project in projects],
        **asked.draws.question,
    }
    if asked.limit:
        question["limit"] = asked.limit
    if asked.alternatives > 1:
        question["alternatives"] = asked.alternatives
    return question


def _plan(asked: Asked, run: Run, model: StudyModel, projects: Sequence[Project], items: Items) -> Plan:
    by_name, archives, waits = {project.name: project for project in projects}, asked.archives, bool(asked.choice.servers)

    def asking(step: Step, what: Callable[..., dict[str, Any]], codes: Sequence[Code]) -> Work[Any]:
        return Work(step, codes, Asking(model, by_name, archives, asked.draws, what), asked.pool, len(codes), waits=waits)

    def answers() -> Work[Any]:
        drawing = Drawing(model, by_name, archives, alternatives=asked.alternatives)
        return Work(ANSWERS, items.places, drawing, asked.pool, wanted=len(items.places), waits=waits)

    def labels() -> Work[Any]:
        judged = list(_judged(run, items))
        return Work(LABELS, judged, Judging(items.contents), asked.pool, len(judged), max_item_s=_MAX_TEXT_S)

    plan: dict[str, Callable[[], Work[Any]]] = {
        "answers": answers,
        "describe": lambda: asking(DESCRIBE, describe, list(_codes(asked, run, items))),
        "rebuild": lambda: asking(REBUILD, rebuild, list(_described(asked, run, items))),
        "labels": labels,
    }
    return [work for name, work in plan.items() if not asked.steps or name in asked.steps]


def _codes(asked: Asked, run: Run, items: Items) -> Iterator[Code]:
    """Each distinct line that goes around: what is suggested may be what stands there."""
    places, known = {place.id: place for place in items.places}, set[str]()
    for answer in run.records(ANSWERS).read():
        for one in answer["generations"][:1]:
            for text in (one["truth"] if "truth" in asked.of else None, one["inserted"] if "suggestion" in asked.of else None):
                if text is not None and (code := Code(places[answer["id"]], text)).id not in known:
                    known.add(code.id)
                    yield code


def _described(asked: Asked, run: Run, items: Items) -> Iterator[Code]:
    descriptions = {record["id"]: tuple(record["descriptions"]) for record in run.records(DESCRIBE).read()}
    for code in _codes(asked, run, items):
        if code.id in descriptions:
            yield Code(code.place, code.text, descriptions[code.id])


def _judged(run: Run, items: Items) -> Iterator[Judged]:
    """Each distinct text that was written at a place, unless it is what stood there."""
    places, known = {place.id: place for place in items.places}, set[str]()
    for place_id, text in _written(run):
        place = places[place_id]
        gap = dict(place.gaps)["line"]
        name = label_id(place_id, "line", text)
        if name in known or is_exact(text, place.text[gap.start : gap.end]):
            continue
        known.add(name)
        assert place.judged, "places of suites are judged"
        file = place.text[: gap.start] + text + place.text[gap.end :]
        yield Judged(name, items.suites[place.project], place.path.partition("/")[2], file, place.judged)


def _written(run: Run) -> Iterator[tuple[str, str]]:
    """The texts that a model wrote, each with its place's id, in the order of the records."""
    for answer in run.records(ANSWERS).read():
        yield from ((answer["id"], one["inserted"]) for one in answer["generations"] if one["inserted"] is not None)
    for record in run.records(REBUILD).read():
        place = record["id"].rsplit(":", 2)[0]
        for trip in (*record["trips"], record["uninformed"]):
            yield from ((place, one["inserted"]) for one in trip["rebuilt"] if one["inserted"] is not None)


def _said(run: Run) -> dict[str, bool | None]:
    return {label["id"]: label["tests_pass"] for label in run.records(LABELS).read()}


def _measures(record: Mapping[str, Any]) -> dict[str, float]:
    trips = record["trips"]
    equal = [one["equal"] for trip in trips for one in trip["rebuilt"]]
    return measures_of_round_trips(equal, [trip["logprob"] for trip in trips], record["uninformed"]["logprob"])


def tell_lines(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_lines` raises before it begins."""
    _check(asked)
    projects = list(asked.projects or named((), suite=True))
    most = min(len(projects) * asked.most, asked.limit or len(projects) * asked.most)
    draws, codes = asked.draws, most * len(asked.of)
    plan = {
        "schema": "assay/study-plan/1",
        "study": STUDY.name,
        "set": "lines",
        "of": list(asked.of),
        "projects": [f"{project.name} {project.version}" for project in projects],
        "run": str(asked.out),
        "isolation": str(best_level()),
        "most_places": most,
        "most_generations": most + codes * (draws.forward + draws.forward * draws.backward + draws.uninformed),
        "most_scored_texts": codes * (draws.forward + 1),
        "most_texts_judged": most + codes * (draws.forward * draws.backward + draws.uninformed),
        **draws.question,
    }
    lines = [
        f"projects     {counted(len(projects), 'project')}, fetched by pip: {', '.join(project.name for project in projects)}",
        f"goes around  {' and '.join(asked.of)}: {counted(draws.forward, 'description')} each ({plan['describing']}),",
        f"             from each rebuilt {counted(draws.backward, 'time')} ({plan['rebuilding']})",
        f"environment  one for each project's tests, made by pip with your rights ({asked.python or 'this Python'}): build code runs",
        f"tests        each project's own, isolated by {plan['isolation']}; at each place those that touch it, with each distinct text",
        f"places       at most {most:,}: which they are, the tests say",
        f"calls        at most {plan['most_generations']:,} generations, and {plan['most_scored_texts']:,} texts that are scored",
        f"texts        at most {plan['most_texts_judged']:,} are judged, far fewer where they repeat",
        written(asked.out),
    ]
    tell(plan, lines, as_json=asked.as_json)
