"""Repairs of lines of real projects: is what the editor proposes for a wrong line right, and does its number say so?

The places are those whose loss the tests of 20 projects notice. Wrong lines are put there, and the tests must notice them.

    draw       wrong lines that the model draws for the place
    bug        one bug by a rule and one that the model drew, each with the tests that fail for it
    propose    what the editor proposes at each bug, and, as a control, at the right line
    label      what the tests say of each distinct text
    locate     how much the lines that the failing tests run surprise the model
    loop       beside it, mutation and test without a model: the rules' candidates in order until the tests pass
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from ....inference.completion.sampling import Sampling
from ....inference.opening import ModelChoice
from ....suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ....suggestion.repair.confidence import RANKS, prompt_of
from ...asked_line import Asking
from ...counterfeit.lines.label import LABELS, MAX_TEXT_S, Profiling
from ...model import StudyModel, model_of
from ...pool.choice import Pool
from ...progress import counted, tell_if_stopped, to_stderr
from ...run import Run, check_writable
from ...sets.items import Wanted, check_suites, items_of_suites, question_of_items
from ...sets.items import lines_of as lines_of_items
from ...sets.projects import Project, default_cache, named
from ...sets.suites import Items
from ...study import Plan, Results, Step, Work, conduct
from ..attempts import Attempt
from ..faults import Fault, fault_of, generations_of
from ..loop import LOOPED
from ..model import require_scores, sources_of
from ..report import attempt_of, write_report
from ..samples import answer_of
from .bugs import BUGS, DRAWN, TEMPERATURE, Breaking, Bug, draw, wrong_of
from .locating import LOCATED, failing_of, locate
from .loop import Buggy, Looping
from .proposing import CONTROL, PROPOSED, line_id, lines_of, propose_at, texts_of

PER_PROJECT = 20
# A suite is run several times before it can judge.
_MAX_BUG_S = 3600.0


class Place(TypedDict):
    """A line of items.jsonl."""

    id: str
    project: str
    file: str
    function: str
    line: int


class LineStudy:
    """The study, as the driver sees it."""

    name = "repairs"
    steps = (DRAWN, BUGS, PROPOSED, LABELS, LOCATED, LOOPED)
    needed = ("set",)

    def answers(self, run: Run) -> list[Any]:
        """The repairs at each line that have a score, with what the tests said; and the suspects of each failure."""
        made, labels = by_id(run, PROPOSED), by_id(run, LABELS)
        places = {place["id"]: place for place in run.items(Place)}
        answers = [
            answer_of(name, dict(place), made[name], labels, arm="" if bug else CONTROL) for place, name, bug in _lines(run) if name in made
        ]
        for fault in faults_of(run):
            place = places[fault.id.rpartition(":")[0]]
            answers.append({**place, "id": fault.id, "generations": list(generations_of(fault))})
        return answers

    def report(self, run: Run, results: Results, *, as_json: bool) -> None:
        """A page, and a summary on stderr."""
        lost = sum(len(run.lost(step)) for step in self.steps)
        write_report(run, results, list(attempts_of(run)), lost, by="project", faults=list(faults_of(run)), as_json=as_json)


STUDY = LineStudy()


def by_id(run: Run, step: Step) -> dict[str, Any]:
    """The records of a step. Raises RunError for damaged ones."""
    return {record["id"]: record for record in run.records(step).read()}


def attempts_of(run: Run) -> Iterator[Attempt]:
    """Each line that something was proposed for."""
    made, labels, looped = by_id(run, PROPOSED), by_id(run, LABELS), by_id(run, LOOPED)
    for place, name, bug in _lines(run):
        if name in made:
            yield attempt_of(name, place["project"], bug, made[name], labels, looped.get(name))


def faults_of(run: Run) -> Iterator[Fault]:
    """The failure of each bug whose lines the model was asked about."""
    located = by_id(run, LOCATED)
    for place, name, bug in _lines(run):
        if bug is not None and name in located:
            yield fault_of(name, place["project"], place["file"].partition("/")[2], bug, located[name]["surprises"])


def _lines(run: Run) -> Iterator[tuple[Place, str, Bug | None]]:
    """The lines of a run with their ids: as `proposing.lines_of`, but from its records alone."""
    bugs = by_id(run, BUGS)
    for place in run.items(Place):
        if place["id"] in bugs:
            yield from ((place, line_id(place["id"], bug), bug) for bug in (*bugs[place["id"]]["bugs"], None))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants. per_project: at most so many places of each; limit: of all. The rest as of the calibration study."""

    out: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    projects: Sequence[Project] = ()
    per_project: int | None = None
    limit: int | None = None
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    cache: Path | None = None
    python: Path | None = None
    memory: Scope = DEFAULT_SCOPE
    steps: Sequence[str] = ()
    as_json: bool = False

    @property
    def archives(self) -> Path:
        """Where the projects' distributions are."""
        return self.cache or default_cache()

    @property
    def chosen(self) -> Sequence[Project]:
        """Where no project is named, all that have a suite."""
        return self.projects or named((), suite=True)

    @property
    def most(self) -> int:
        """At most so many places of a project."""
        return self.per_project or PER_PROJECT

    def model(self) -> StudyModel:
        """The model. Raises as `require_scores` and `model_of`."""
        return require_scores(model_of(self.choice, ("line",), memory=self.memory, sampling=Sampling(TEMPERATURE)))

    def check(self) -> None:
        """Check what would otherwise fail late, or in a plan not at all. Raises UsageError and UnusableInterpreter."""
        check_writable(self.archives, "the projects' archives are kept there: name another folder with --cache")
        check_suites(self.python)


def run_lines(asked: Asked) -> Run:
    """Run, or resume, the study.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError.
    """
    asked.check()
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        model = asked.model()
        Run.check(asked.out, question_of(asked, model))
        wanted = Wanted(asked.out, asked.chosen, asked.archives, ("line",), asked.most, asked.limit, asked.seed, asked.python)
        items = items_of_suites(wanted, asked.pool)
    return ask(asked, model, items)


def ask(asked: Asked, model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `run_lines`."""
    lines = lines_of_items(items)
    run = Run.begin(asked.out, question_of(asked, model) | question_of_items(items, lines))
    run.keep_items(lines)
    to_stderr(f"{counted(len(items.places), 'place')} of {counted(len(items.suites), 'project')}")
    conduct(STUDY, run, _plan(asked, run, model, items), as_json=asked.as_json)
    return run


def question_of(asked: Asked, model: StudyModel) -> dict[str, str | int | Sequence[str]]:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, str | int | Sequence[str]] = {
        **model.question(STUDY.name),
        "prompt": prompt_of(model.prompts["line"], sources_of(model)),
        "prompt_sampled": model.sampled["line"],
        "set": "lines",
        "sources": sources_of(model),
        "alternatives": RANKS,
        "seed": asked.seed,
        "per_project": asked.most,
        "projects": [f"{project.name} {project.version}" for project in asked.chosen],
    }
    if asked.limit:
        question["limit"] = asked.limit
    return question


def _plan(asked: Asked, run: Run, model: StudyModel, items: Items) -> Plan:
    projects, pool, waits = {project.name: project for project in asked.chosen}, asked.pool, bool(asked.choice.servers)

    def asking(step: Step, what: Callable[..., dict[str, Any]], found: Sequence[Any]) -> Work[Any]:
        return Work(step, found, Asking(model, projects, asked.archives, asked.seed, what), pool, len(found), waits=waits)

    def bugs() -> Work[Any]:
        found = list(wrong_of(items.places, by_id(run, DRAWN), items.suites))
        return Work(BUGS, found, Breaking(items.contents, asked.seed), pool, len(found), max_item_s=_MAX_BUG_S)

    def labels() -> Work[Any]:
        found = list(texts_of(lines_of(items, by_id(run, BUGS)), by_id(run, PROPOSED), items))
        return Work(LABELS, found, Profiling(items.contents, asked.seed), pool, len(found), max_item_s=MAX_TEXT_S)

    def loop() -> Work[Any]:
        found = list(_buggy(items, by_id(run, BUGS)))
        return Work(LOOPED, found, Looping(items.contents), pool, len(found), max_item_s=_MAX_BUG_S)

    plan: dict[str, Callable[[], Work[Any]]] = {
        "draw": lambda: asking(DRAWN, draw, items.places),
        "bug": bugs,
        "propose": lambda: asking(PROPOSED, propose_at, list(lines_of(items, by_id(run, BUGS)))),
        "label": labels,
        "locate": lambda: asking(LOCATED, locate, list(failing_of(items, by_id(run, BUGS), asked.seed))),
        "loop": loop,
    }
    return [work for name, work in plan.items() if not asked.steps or name in asked.steps]


def _buggy(items: Items, bugs: Mapping[str, Any]) -> Iterator[Buggy]:
    yield from (Buggy(line, items.suites[line.place.project]) for line in lines_of(items, bugs) if line.bug)
