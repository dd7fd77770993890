"""The calibration study (Spiess et al., arXiv 2402.02047): how well measures, and calibrators of them, say whether a suggestion is right.

Lines are taken out of real functions and completed as in the editor, in up to three arms (`sets.lines`); the model may be asked what it
thinks of each of its generations (reflective measures). Sets:

    projects   30 projects. Event: exact_match, of the file as it is once the suggestion is accepted. None of their code is run.
    suites     20 of them, at places whose loss their tests notice. Also: tests_pass, each test that touches the place ends as before.
    packages   packages in other languages, and code: folders of the user's, in any. As projects.
    bugs       of these, lines with an injected bug that their tests notice, to be repaired. Both events. Samples have the task "bugs".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ...inference.completion.task import Task
from ..answers import Answer, Generated
from ..asked_line import ANSWERS, EVENT, Asking, Gaps, answer_at, label_id
from ..errors import StudyError
from ..model import StudyModel, model_of
from ..on_suites import ProjectOptions, SuiteOptions, items_of_suites, limited, model_and_items, plan_of
from ..probe import at_gaps
from ..progress import counted, to_stderr
from ..run import Run, Step
from ..sets.code import Code, LineDrawing, Source, check_older, code_of, folders_at, is_here, label_of, older_releases
from ..sets.lines import PLAIN, TASKS, Arm, in_arm
from ..sets.packages import named as named_packages
from ..sets.projects import Project, named
from ..sets.suites import Items, Judged, Judging, Label
from ..study import Making, Results, Study, all_of, carry_out
from .report import write_report
from .shots import ADDABLE, SHOTS, Shots, Shown, check_labelled, shots_of, shown_answers, with_shots

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
        alike = {name: getattr(self, name) for name in ("out", "tasks", "limit", "seed", "pool", "cache", "python", "older", "dry_run")}
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
    works, plan = partial(_works, options, model=model, items=items, shots=shots), partial(_plan, options, model, items, shots)
    return carry_out(STUDY, options, question, items.records, works, told, plan=plan)


def _plan(options: Options, model: StudyModel, items: Items, shots: Shots | None) -> dict[str, Any]:
    """What a dry run says."""
    if options.set in TESTED:
        plan, answers = plan_of(options.suites), options.suites.most_places * len(options.tasks)
    else:
        at = ((place, arm, task, cut) for place in items.places for arm in options.arms for task, cut in place.gaps)
        gaps = [gap for place, arm, task, cut in at if (gap := in_arm(arm, place.text, cut, task, model.settings)) is not None]
        plan, answers = at_gaps(options, gaps, options.alternatives, len(model.questions)), len(gaps)
    return {**plan, **(shots.plan(answers) if shots else {})}


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
    if options.dry_run and (missing := sum(not is_here(source, options.archives) for source in options.chosen)):
        by = f"{'npm and apt-get' if options.set == 'packages' else 'pip'} into {options.archives}"
        to_stderr(f"this plan counts the lines of the code itself, so first {counted(missing, 'project')} must be fetched by {by}")
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
