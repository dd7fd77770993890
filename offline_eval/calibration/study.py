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
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from ...analysis.sandbox.isolation.best_level import best_level
from ...inference.completion.prompt import new_tokens
from ...inference.completion.task import Task, kind_of
from ...inference.model import Model
from ..answers import Answer, Generated
from ..asked_line import ANSWERS, EVENT, Asking, Gaps, answer_at, label_id
from ..errors import StudyError
from ..model import StudyModel, begin_anew, model_of, opened_on_one_thread
from ..on_suites import ProjectOptions, SuiteOptions, environments_line, items_of_suites, limited, model_and_items
from ..plan import tell_study
from ..probe import QUESTION, spoken, workers_of
from ..progress import counted, to_stderr
from ..run import Run, Step
from ..sets.code import Code, LineDrawing, Source, check_older, code_of, folders_at, is_here, label_of, older_releases
from ..sets.lines import PLAIN, TASKS, Arm, FileWithGap, in_arm
from ..sets.packages import named as named_packages
from ..sets.projects import Project, named
from ..sets.suites import Items, Judged, Judging, Label
from ..study import Making, Results, Study, StudyOptions, all_of, carry_out
from .report import write_report
from .shots import ADDABLE, SHOTS, Shots, Shown, check_labelled, shots_of, shown_answers, with_shots, words_of_shots

# So many prompts are laid out to learn how long they are, and so many gaps filled to learn how long that takes.
_LAID_OUT, _TIMED = 50, 3


@dataclass(frozen=True, slots=True)
class Calls:
    """What the model would be asked.

    generations: at most. prompt_tokens: an estimate from some; None where a server counts them. hours: by so many workers, from the
    seconds that one gap took just now.
    """

    gaps: int
    generations: int
    questions: int
    prompt_tokens: int | None
    most_new_tokens: int
    example: str
    hours: float
    seconds_a_gap: float


def tell_plan(options: Options) -> None:
    """Say what a run would do. Raises what `run_study` raises before it begins."""
    options.check()
    plan: dict[str, Any] = {
        "set": options.set,
        "projects": [label_of(project) for project in options.chosen],
        "archives": str(options.archives),
        "arms": list(options.arms),
        "tasks": list(options.tasks),
    }
    if options.set in TESTED:
        plan |= {"isolation": str(best_level()), "most_places": options.suites.most_places}
        tell_study(STUDY.name, options, plan, [*_told(options, plan), *words_of_shots(options.shots)])
        return
    if missing := sum(not is_here(source, options.archives) for source in options.chosen):
        to_stderr(f"this plan counts the lines of the code itself, so first {counted(missing, 'project')} must be {_fetched_by(options)}")
    places, model = items_of(options).places, options.model()
    shown = [
        gap
        for place in places
        for arm in options.arms
        for task, cut in place.gaps
        if (gap := in_arm(arm, place.text, cut, task, model.settings)) is not None
    ]
    calls = calls_of(options, options.alternatives, shown, len(model.questions))
    plan |= {
        "model": model.id,
        "model_name": model.name,
        "prompt": model.prompts["line"],
        "places": len(places),
        **asdict(calls),
    }
    tell_study(STUDY.name, options, plan, [*_told(options, plan), *words_of(calls), *words_of_shots(options.shots)], calls.example)


def calls_of(options: StudyOptions, alternatives: int, shown: Sequence[FileWithGap], questions: int) -> Calls:
    """The calls for gaps, each with so many questions about what was written there."""
    drawn = random.Random(options.seed).sample(shown, min(_LAID_OUT, len(shown)))
    with opened_on_one_thread(options.choice) as model:
        prompts = [gap.prompt(model) for gap in drawn]
        counts = [len(prompt.tokens) for prompt in prompts]
        example = (model.prompt_text(prompts[0]) or "") if prompts else ""
        took = [_seconds_at(gap, model, alternatives) for gap in drawn[: _TIMED * options.wants("answers")]]
        longest = max((new_tokens(model, gap.settings, kind_of(gap.task)) for gap in drawn), default=0)
    tokens = round(sum(counts) / len(counts) * len(shown)) if counts and all(counts) else None
    if not options.wants("answers"):
        shown = ()
    made, each = len(shown) * alternatives, median(took) if took else 0.0
    hours = len(shown) * each * (1 + QUESTION * questions) / workers_of(options.pool, options.choice) / 3600
    return Calls(len(shown), made, made * questions, tokens, made * longest, example, round(hours, 2), round(each, 2))


def _seconds_at(gap: FileWithGap, model: Model, alternatives: int) -> float:
    begin_anew(model)
    begun = time.perf_counter()
    list(gap.suggestions(model, alternatives))
    return time.perf_counter() - begun


def words_of(calls: Calls) -> list[str]:
    """The calls, for people."""
    tokens = "the server counts them" if calls.prompt_tokens is None else f"about {calls.prompt_tokens:,} in all prompts"
    return [
        f"calls        {calls.generations:,} generations, {calls.questions:,} questions about them",
        f"tokens       {tokens}; at most {calls.most_new_tokens:,} new ones",
        f"time         about {spoken(calls.hours)} of the model ({calls.seconds_a_gap:.1f} s for each gap just now)",
    ]


def _fetched_by(options: Options) -> str:
    if options.set == "code":
        return "read where they are"
    return f"fetched by {'npm and apt-get' if options.set == 'packages' else 'pip'} into {options.archives}"


def _told(options: Options, plan: dict[str, Any]) -> list[str]:
    lines = [
        f"projects     {counted(len(plan['projects']), 'project')}, {_fetched_by(options)}: {', '.join(plan['projects'])}",
        f"asked        {', '.join(plan['tasks'])}; arms: {', '.join(plan['arms'])}",
    ]
    if options.set in TESTED:
        change = "a bug in its line" if options.set == "bugs" else "the code taken out"
        return [
            *lines,
            environments_line(options),
            f"tests        each project's own, isolated by {plan['isolation']}: whole, to know which are steady; then, at each place,",
            f"             those that touch it, with {change}, and with each text that the model wrote",
            f"places       at most {plan['most_places']:,}: which they are, the tests say",
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
STEPS = (ANSWERS, LABELS, SHOTS)
# A worker may take so long for one text: a suite is run several times before it can judge.
_MAX_TEXT_S = 1800.0


def _answers(run: Run) -> list[Any]:
    """Each place's generations, with what the model said of them in words."""
    answers = with_shots(run, _labelled(run))
    if run.question()["set"] == "bugs":
        for one in (one for answer in answers for one in answer["generations"]):
            # lines in which a bug fits are not drawn as an editor's are: no calibrator of lines is to speak of them
            one["task"] = "bugs"
    return answers


def _labelled(run: Run) -> list[Any]:
    """Those of a project with a suite have what its tests said; exact ones pass without being run."""
    answers = run.records(ANSWERS).read()
    if run.question()["set"] not in TESTED:
        return answers
    said = run.by_id(LABELS, "tests_pass")
    for answer in answers:
        for one in answer["generations"]:
            inserted = one["inserted"]
            passes = None if inserted is None else said.get(label_id(answer["id"], one["task"], inserted))
            one["labels"]["tests_pass"] = True if one["labels"][EVENT] else passes
    return answers


def _report(run: Run, results: Results, *, as_json: bool) -> None:
    """A page, and a summary on stderr."""
    write_report(run, results, STUDY.lost(run), as_json=as_json)


STUDY = Study("calibration", STEPS, ("set",), _report, answers=_answers, addable=ADDABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ProjectOptions):
    """What the user wants.

    projects: where none is named, all that are listed. languages: those that packages and folders are drawn in. older: the folder of
    older releases, in which no line that is drawn may stand.
    """

    set: Set = "projects"
    projects: Sequence[Source] = ()
    per_project: int | None = None
    tasks: Sequence[Task] = TASKS
    arms: tuple[Arm, ...] = (PLAIN,)
    reflective: bool | None = False
    shots: int | None = None
    alternatives: int = 1
    languages: Sequence[str] = ()
    older: Path | None = None

    @property
    def chosen(self) -> Sequence[Source]:
        """What is drawn from."""
        return self.projects or sources_of(self.set, (), self.languages)

    @property
    def most(self) -> int:
        """At most so many places of a project."""
        return self.per_project or PER_PROJECT[self.set]

    @property
    def code(self) -> Code:
        """The projects' code."""
        return code_of(self.chosen, self.archives)

    @property
    def suites(self) -> SuiteOptions:
        """What is wanted of the projects whose tests judge."""
        projects = [source for source in self.chosen if isinstance(source, Project)]
        alike = {name: getattr(self, name) for name in ("out", "tasks", "limit", "seed", "pool", "cache", "python", "older")}
        return SuiteOptions(projects=projects, per_project=self.most, **alike)

    def model(self) -> StudyModel:
        """The model. Raises as `model_of`."""
        return model_of(self.choice, TASKS, reflective=self.reflective, memory=self.memory)

    def check(self) -> None:
        """As of suites, where these are asked. Raises UsageError for a project without an older release."""
        if self.set in TESTED:
            self.suites.check()
        else:
            check_older(self.chosen, self.older)
            ProjectOptions.check(self)


def sources_of(of: Set, names: Sequence[str], languages: Sequence[str] = (), code: Sequence[Path] = ()) -> Sequence[Source]:
    """What is drawn from: the projects or packages with these names, all where there are none; or folders.

    Raises UsageError and StudyError.
    """
    if of == "code":
        return folders_at(code)
    return named_packages(names, languages) if of == "packages" else named(names, suite=of in TESTED)


def run_study(options: Options) -> Run:
    """Run, or resume, the study. Raises as `on_suites.model_and_items`."""
    return ask(options, *model_and_items(options, options.model, question_of, items_of))


def ask(options: Options, model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `carry_out`."""
    files = {(place.project, place.path) for place in items.places}
    of = counted(len({project for project, _ in files}), "project")
    told = f"{counted(len(items.places), 'place')} in {counted(len(files), 'file')} of {of}"
    shots = shots_of(options.choice, options.shots)
    question = {**question_of(options, model), **items.question, **(shots.question if shots else {})}
    return carry_out(STUDY, options, question, items.records, lambda run: _works(options, run, model, items, shots), told)


def question_of(options: Options, model: StudyModel) -> dict[str, Any]:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, Any] = {
        **model.question(STUDY.name),
        "set": options.set,
        "seed": options.seed,
        "per_project": options.most,
        "tasks": list(options.tasks),
        "arms": list(options.arms),
        "projects": [label_of(project) for project in options.chosen],
        **options.limited,
        **model.reflecting,
    }
    if options.languages:
        question["languages"] = list(options.languages)
    question |= older_releases(options.chosen, options.older)
    if options.alternatives > 1:
        question["alternatives"] = options.alternatives
    return question


def items_of(options: Options) -> Items:
    """The places, which take no model to find, but for those of suites a run of their tests. Raises StudyError and NoIsolation."""
    if options.set in TESTED:
        return items_of_suites(options.suites, bugs=options.set == "bugs")
    drawing = LineDrawing(options.most, options.seed, options.tasks, options.languages, options.older)
    return limited(Items(drawing.places(options.chosen, options.archives)), options.limit, options.seed)


def _works(options: Options, run: Run, model: StudyModel, items: Items, shots: Shots | None) -> dict[str, Making]:
    asking = Asking(model, Gaps(options.arms, options.alternatives), answer_at, options.code)
    plan: dict[str, Making] = {
        "answers": lambda: all_of(ANSWERS, items.places, asking, options.pool, waits=options.waits),
    }
    if items.suites:
        plan["labels"] = lambda: all_of(LABELS, _judged(run, items), Judging(items.contents), options.pool, max_item_s=_MAX_TEXT_S)
    if shots:
        plan["shots"] = lambda: shots.work(_shown(options, run, items), options.pool, waits=options.waits)
    return plan


def _shown(options: Options, run: Run, items: Items) -> list[Shown]:
    """The answers that the model is asked about in words."""
    places = items.by_id
    if not run.records(ANSWERS).read():
        raise StudyError("there are no answers to ask about: do the step answers before shots")
    if options.set in TESTED:
        check_labelled(run, LABELS, _judged(run, items))

    def code_before(answer: Answer, one: Generated) -> str:
        place = places[answer["id"]]
        return place.text[: place.gap(one["task"]).start]

    return list(shown_answers(_labelled(run), code_before, "tests_pass" if options.set in TESTED else EVENT))


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
