"""The calibration study (Spiess et al., arXiv 2402.02047): how well measures, and calibrators of them, say whether a suggestion is right.

Lines are taken out of real functions and completed as in the editor, in up to three arms (`sets.lines`); the model may be asked what it
thinks of each of its generations (reflective measures). Sets:

    projects   30 projects. Event: exact_match, of the file as it is once the suggestion is accepted. None of their code is run.
    suites     20 of them, at places whose loss their tests notice. Also: tests_pass, each test that touches the place ends as before.
    packages   packages in other languages, and code: folders of the user's, in any. As projects.
    bugs       of these, lines with an injected bug that their tests notice, to be repaired. Both events. Samples have the task "bugs".
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from ...analysis.lines.draw import LANGUAGES
from ...analysis.sandbox.isolation.best_level import best_level
from ...inference.completion.prompt import SpellsPrompts, new_tokens
from ...inference.completion.task import Task, kind_of
from ...inference.opening import ModelChoice
from ...suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ..asked_line import Asking
from ..errors import StudyError
from ..model import StudyModel, model_of
from ..plan import example_of, tell, written
from ..pool.choice import Pool
from ..progress import Progress, counted, tell_if_stopped, to_stderr
from ..run import Run, check_writable
from ..sets.code import Source, code_of, folders_at, is_here, label_of, places_from
from ..sets.items import Wanted, check_suites, items_of_suites, limited, lines_of, question_of_items
from ..sets.lines import PLAIN, TASKS, Arm, Place, in_arm
from ..sets.packages import named as named_packages
from ..sets.projects import Project, default_cache, named
from ..sets.suites import Items, Judged, Judging, Label
from ..study import Making, Plan, Results, Step, Study, all_of, chosen, conduct
from ..suggested import FileWithGap
from .draw import ANSWERS, EVENT, Gaps, answer_at, label_id
from .report import write_report

# So many prompts are laid out to learn how long they are.
_LAID_OUT = 50


@dataclass(frozen=True, slots=True)
class Calls:
    """What the model would be asked. generations: at most. prompt_tokens: an estimate from some; None where a server counts them."""

    gaps: int
    generations: int
    questions: int
    prompt_tokens: int | None
    most_new_tokens: int
    example: str


class AsksModel(Protocol):
    """What decides how a model is asked."""

    @property
    def choice(self) -> ModelChoice:
        """The model."""
        ...

    @property
    def seed(self) -> int:
        """Of the draw of examples."""
        ...

    @property
    def alternatives(self) -> int:
        """How many are drawn at each gap."""
        ...


def tell_plan(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_study` raises before it begins."""

    projects = asked.projects or sources_of(asked.set, (), asked.languages)
    plan: dict[str, Any] = {
        "schema": "assay/study-plan/1",
        "study": "calibration",
        "set": asked.set,
        "projects": [label_of(project) for project in projects],
        "archives": str(asked.archives),
        "arms": list(asked.arms),
        "tasks": list(asked.tasks),
        "run": str(asked.out),
    }
    if asked.set in TESTED:
        plan["isolation"] = str(best_level())
        plan["most_places"] = min(asked.most * len(projects), asked.limit or asked.most * len(projects))
    else:
        places = items_of(asked, projects).places
        model = model_of(asked.choice, TASKS, reflective=asked.reflective, memory=asked.memory)
        shown = [
            gap
            for place in places
            for arm in asked.arms
            for task, cut in place.gaps
            if (gap := in_arm(arm, place.text, cut, task, model.settings)) is not None
        ]
        calls = calls_of(asked, shown, len(model.questions))
        plan |= {"model": model.id, "model_name": model.name, "prompt": model.prompts["line"], "places": len(places)}
        plan |= asdict(calls)
        tell(plan, [*_told(asked, plan), *words_of(calls), written(asked.out), *example_of(calls.example)], as_json=asked.as_json)
        return
    tell(plan, _told(asked, plan), as_json=asked.as_json)


def calls_of(asked: AsksModel, shown: Sequence[FileWithGap], questions: int) -> Calls:
    """The calls for gaps, each with so many questions about what was written there."""
    drawn = random.Random(asked.seed).sample(shown, min(_LAID_OUT, len(shown)))
    with asked.choice.open() as model:
        prompts = [gap.prompt(model) for gap in drawn]
        counts = [len(prompt.tokens) for prompt in prompts]
        example = model.prompt_text(prompts[0]) if prompts and isinstance(model, SpellsPrompts) else ""
        longest = max((new_tokens(model, gap.settings, kind_of(gap.task)) for gap in drawn), default=0)
    tokens = round(sum(counts) / len(counts) * len(shown)) if counts and all(counts) else None
    made = len(shown) * asked.alternatives
    return Calls(len(shown), made, made * questions, tokens, made * longest, example)


def words_of(calls: Calls) -> list[str]:
    """The calls, for people."""
    tokens = "the server counts them" if calls.prompt_tokens is None else f"about {calls.prompt_tokens:,} in all prompts"
    return [
        f"calls        {calls.generations:,} generations, {calls.questions:,} questions about them",
        f"tokens       {tokens}; at most {calls.most_new_tokens:,} new ones",
    ]


def _fetched_by(asked: Asked) -> str:
    if asked.set == "code":
        return "read where they are"
    return f"fetched by {'npm and apt-get' if asked.set == 'packages' else 'pip'} into {asked.archives}"


def _told(asked: Asked, plan: dict[str, Any]) -> list[str]:

    lines = [
        f"projects     {counted(len(plan['projects']), 'project')}, {_fetched_by(asked)}: {', '.join(plan['projects'])}",
        f"asked        {', '.join(plan['tasks'])}; arms: {', '.join(plan['arms'])}",
    ]
    if asked.set in TESTED:
        change = "a bug in its line" if asked.set == "bugs" else "the code taken out"
        return [
            *lines,
            f"environment  one for each project's tests, made by pip with your rights ({asked.python or 'this Python'}): build code runs",
            f"tests        each project's own, isolated by {plan['isolation']}: whole, to know which are steady; then, at each place,",
            f"             those that touch it, with {change}, and with each text that the model wrote",
            f"places       at most {plan['most_places']:,}: which they are, the tests say",
            written(asked.out),
        ]
    return [
        *lines,
        f"model        {plan['model_name']} {plan['model']}, prompt {plan['prompt']}",
        f"places       {plan['places']:,}, with {plan['gaps']:,} gaps",
    ]


Set = Literal["projects", "suites", "bugs", "packages", "code"]
# Those that tests judge, too.
TESTED: Sequence[Set] = ("suites", "bugs")
# At most so many places of a project, where nobody says how many.
PER_PROJECT: Mapping[Set, int] = {"projects": 150, "suites": 60, "bugs": 20, "packages": 60, "code": 150}
LABELS = Step("labels", "text", Label)
STEPS = (ANSWERS, LABELS)
# A worker may take so long for one text: a suite is run several times before it can judge.
_MAX_TEXT_S = 1800.0


def _answers(run: Run) -> list[Any]:
    """Each place's generations. Those of a project with a suite have what its tests said; exact ones pass without being run."""
    answers = run.records(ANSWERS).read()
    asked = run.question()["set"]
    if asked not in TESTED:
        return answers
    said = {label["id"]: label["tests_pass"] for label in run.records(LABELS).read()}
    for answer in answers:
        for one in answer["generations"]:
            inserted = one["inserted"]
            passes = None if inserted is None else said.get(label_id(answer["id"], one["task"], inserted))
            one["labels"]["tests_pass"] = True if one["labels"][EVENT] else passes
            if asked == "bugs":
                # lines in which a bug fits are not drawn as an editor's are: no calibrator of lines is to speak of them
                one["task"] = "bugs"
    return answers


def _report(run: Run, results: Results, *, as_json: bool) -> None:
    """A page, and a summary on stderr."""
    write_report(run, results, STUDY.lost(run), as_json=as_json)


STUDY = Study("calibration", STEPS, ("set",), _report, answers=_answers)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants.

    projects: where none is named, all that are listed. per_project: at most so many places of each; limit: of all. cache: where their
    archives are kept. memory: what is read beside the model. python: makes the environments of the projects' tests. steps: those to do.
    languages: those that packages and folders are drawn in.
    """

    out: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    set: Set = "projects"
    projects: Sequence[Source] = ()
    per_project: int | None = None
    limit: int | None = None
    tasks: Sequence[Task] = TASKS
    arms: tuple[Arm, ...] = (PLAIN,)
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    cache: Path | None = None
    python: Path | None = None
    reflective: bool = False
    alternatives: int = 1
    memory: Scope = DEFAULT_SCOPE
    steps: Sequence[str] = ()
    as_json: bool = False
    languages: Sequence[str] = ()

    @property
    def archives(self) -> Path:
        """Where the projects' distributions are."""
        return self.cache or default_cache()

    @property
    def most(self) -> int:
        """At most so many places of a project."""
        return self.per_project or PER_PROJECT[self.set]


def sources_of(of: Set, names: Sequence[str], languages: Sequence[str] = (), code: Sequence[Path] = ()) -> Sequence[Source]:
    """What is drawn from: the projects or packages with these names, all where there are none; or folders.

    Raises UsageError and StudyError.
    """
    if of == "code":
        return folders_at(code)
    return named_packages(names, languages) if of == "packages" else named(names, suite=of in TESTED)


def run_study(asked: Asked) -> Run:
    """Run, or resume, the study.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError.
    """
    projects = asked.projects or sources_of(asked.set, (), asked.languages)
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        model = model_of(asked.choice, TASKS, reflective=asked.reflective, memory=asked.memory)
        Run.check(asked.out, question_of(asked, projects, model))
        items = items_of(asked, projects)
    return ask(asked, projects, model, items)


def check(asked: Asked) -> None:
    """Check what would otherwise fail late, or in a plan not at all. Raises UsageError and UnusableInterpreter."""
    check_writable(asked.archives, "the projects' archives are kept there: name another folder with --cache")
    if asked.set in TESTED:
        check_suites(asked.python)


def ask(asked: Asked, projects: Sequence[Source], model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `run_study`."""
    lines = lines_of(items)
    run = Run.begin(asked.out, question_of(asked, projects, model) | question_of_items(items, lines))
    run.keep_items(lines)
    files = {(place.project, place.path) for place in items.places}
    of = counted(len({project for project, _ in files}), "project")
    to_stderr(f"{counted(len(items.places), 'place')} in {counted(len(files), 'file')} of {of}")
    conduct(STUDY, run, _plan(asked, run, model, projects, items), as_json=asked.as_json)
    return run


def question_of(asked: Asked, projects: Sequence[Source], model: StudyModel) -> dict[str, str | int | Sequence[str]]:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, str | int | Sequence[str]] = {
        **model.question(STUDY.name),
        "set": asked.set,
        "seed": asked.seed,
        "per_project": asked.most,
        "tasks": list(asked.tasks),
        "arms": list(asked.arms),
        "projects": [label_of(project) for project in projects],
    }
    if asked.languages:
        question["languages"] = list(asked.languages)
    if asked.limit:
        question["limit"] = asked.limit
    if model.questions:
        question["questions"] = [f"{measure} {one.fingerprint}" for measure, one in model.questions.items()]
    if asked.alternatives > 1:
        question["alternatives"] = asked.alternatives
    return question


def items_of(asked: Asked, projects: Sequence[Source]) -> Items:
    """The places, which take no model to find, but for those of suites a run of their tests. Raises StudyError and NoIsolation."""
    if asked.set not in TESTED:
        return limited(Items(_lines(asked, projects)), asked.limit, asked.seed)
    bugs = asked.set == "bugs"
    listed = [project for project in projects if isinstance(project, Project)]
    wanted = Wanted(asked.out, listed, asked.archives, asked.tasks, asked.most, asked.limit, asked.seed, asked.python, bugs)
    return items_of_suites(wanted, asked.pool)


def _lines(asked: Asked, projects: Sequence[Source]) -> list[Place]:
    places = list[Place]()
    with Progress("projects read", len(projects), None) as progress:
        for project in projects:
            if not is_here(project, asked.archives):
                progress.say(f"fetching {label_of(project)}")
            places += places_from(project, asked.archives, asked.most, asked.seed, asked.tasks, asked.languages)
            progress.step()
    if not places:
        named = ", ".join(project.name for project in projects)
        drawn = ", ".join(asked.languages or LANGUAGES)
        raise StudyError(f"there is no line to complete in {named}: lines are drawn from functions of four lines or more in {drawn}")
    return places


def _plan(asked: Asked, run: Run, model: StudyModel, projects: Sequence[Source], items: Items) -> Plan:
    asking = Asking(model, Gaps(asked.arms, asked.alternatives), answer_at, code_of(projects, asked.archives))
    plan: dict[str, Making] = {
        "answers": lambda: all_of(ANSWERS, items.places, asking, asked.pool, waits=bool(asked.choice.servers)),
    }
    if items.suites:
        plan["labels"] = lambda: all_of(LABELS, _judged(run, items), Judging(items.contents), asked.pool, max_item_s=_MAX_TEXT_S)
    return chosen(plan, asked.steps)


def _judged(run: Run, items: Items) -> Iterator[Judged]:
    """Each distinct text that a place was given, unless it is what stood there."""
    places, known = items.by_id, set[str]()
    for answer in run.records(ANSWERS).read():
        place = places[answer["id"]]
        for one in answer["generations"]:
            if one["inserted"] is None or one["labels"][EVENT]:
                continue
            name = label_id(place.id, one["task"], one["inserted"])
            if name not in known:
                known.add(name)
                yield items.judged(name, place, place.with_text(place.gap(one["task"]), one["inserted"]))
