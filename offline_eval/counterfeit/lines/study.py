"""The line twin of the counterfeit study (Gu et al., arXiv 2402.19475): does a model know its own plausible errors?

Lines are taken out of real projects where their tests notice it. The model completes each as in the editor, and draws further texts at a
temperature. The project's tests judge each distinct text, and say how much of them it keeps (`classes`). Steps:

    draw     the suggestion that is shown, and N draws                              draws.jsonl
    label    what each test that touches a text says of it                          labels.jsonl
    judge    whether the model, asked, calls a text right                           judgements.jsonl
    repair   the model rewrites counterfeits, and tests judge what it wrote         repairs.jsonl, repair_labels.jsonl

Executing code is left out: a model of lines can't be asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....inference.completion.sampling import Sampling
from ....inference.completion.task import Task
from ....inference.opening import ModelChoice
from ....suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ...errors import UsageError
from ...model import StudyModel, model_of
from ...pool.choice import Pool
from ...progress import counted, tell_if_stopped, to_stderr
from ...run import Run
from ...sets.items import Wanted, items_of_suites, lines_of, question_of_items
from ...sets.projects import Project, default_cache, named
from ...sets.suites import Items, Judging
from ...study import Plan, Results, Work, conduct
from .draw import DRAWS, TASKS, Drawing
from .facts import labelled, write_facts
from .judge import JUDGEMENTS, MEASURE, Asking, drawn_at
from .label import LABELS, MAX_TEXT_S, Profiling, drawn_texts
from .repair import REPAIR_LABELS, REPAIRS, Mending, counterfeits, repaired_texts
from .report import write_report


class CounterfeitStudy:
    """The study, as the driver sees it."""

    name = "counterfeit"
    steps = (DRAWS, LABELS, JUDGEMENTS, REPAIRS, REPAIR_LABELS)
    needed = ("items", "prompt_sampled")

    def answers(self, run: Run) -> list[Any]:
        """Each place's generations, with what the tests and the model said of them."""
        return labelled(run)

    def report(self, run: Run, results: Results, *, as_json: bool) -> None:
        """facts.jsonl, a page, and a summary on stderr."""
        write_facts(run, results.answers)
        write_report(run, results, sum(len(run.lost(step)) for step in self.steps), as_json=as_json)


STUDY = CounterfeitStudy()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants. draws: texts at each gap, at the temperature. The rest as of the calibration study."""

    out: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    projects: Sequence[Project] = ()
    per_project: int = 60
    limit: int | None = None
    tasks: Sequence[Task] = TASKS
    draws: int = 10
    temperature: float = 0.6
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

    def model(self) -> StudyModel:
        """The model. Raises UsageError for one that a step which is named can't be done with, and as `model_of`."""
        model = model_of(self.choice, TASKS, reflective=None, memory=self.memory, sampling=Sampling(self.temperature))
        if "judge" in self.steps and MEASURE not in model.questions:
            raise UsageError(f"{model.name} can't be asked about what it wrote, so the step judge does nothing: leave it out")
        if "repair" in self.steps and not model.mends:
            raise UsageError(f"{model.name} was not trained to mend lines, so the step repair does nothing: leave it out")
        return model


def run_lines(asked: Asked) -> Run:
    """Run, or resume, the study.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError.
    """
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        model = asked.model()
        Run.check(asked.out, question_of(asked, model))
        wanted = Wanted(
            asked.out, asked.chosen, asked.archives, asked.tasks, asked.per_project, asked.limit, asked.seed, asked.python
        )  # fmt: skip
        items = items_of_suites(wanted, asked.pool)
    return ask(asked, model, items)


def ask(asked: Asked, model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `run_lines`."""
    lines = lines_of(items)
    run = Run.begin(asked.out, question_of(asked, model) | question_of_items(items, lines))
    run.keep_items(lines)
    to_stderr(f"{counted(len(items.places), 'place')} of {counted(len(items.suites), 'project')}")
    if not model.mends:
        to_stderr(f"note: {model.name} was not trained to mend lines: repair is left out")
    if MEASURE not in model.questions:
        to_stderr(f"note: {model.name} can't be asked about what it wrote: of judging only its own probability is left")
    conduct(STUDY, run, _plan(asked, run, model, items), as_json=asked.as_json)
    return run


def question_of(asked: Asked, model: StudyModel) -> dict[str, str | int | Sequence[str]]:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, str | int | Sequence[str]] = {
        **model.question(STUDY.name),
        "prompt_sampled": model.sampled["line"],
        "set": "lines",
        "seed": asked.seed,
        "draws": asked.draws,
        "temperature": f"{asked.temperature:g}",
        "per_project": asked.per_project,
        "tasks": list(asked.tasks),
        "projects": [f"{project.name} {project.version}" for project in asked.chosen],
        "mends": "yes" if model.mends else "no",
    }
    if asked.limit:
        question["limit"] = asked.limit
    if model.questions:
        question["questions"] = [f"{MEASURE} {model.questions[MEASURE].fingerprint}"] if MEASURE in model.questions else []
    return question


def _plan(asked: Asked, run: Run, model: StudyModel, items: Items) -> Plan:
    pool, waits = asked.pool, bool(asked.choice.servers)
    projects = {project.name: project for project in asked.chosen}
    drawing = Drawing(model, projects, asked.archives, asked.draws, asked.temperature, asked.seed)

    def counted_work(step: Any, found: Callable[[], Any], start: Any, **more: Any) -> Callable[[], Work[Any]]:
        """Work whose items are known once the steps before it are done."""
        return lambda: Work(step, found(), start, pool, sum(1 for _ in found()), **more)

    tests = {"max_item_s": MAX_TEXT_S}
    plan: dict[str, list[Callable[[], Work[Any]]]] = {
        "draw": [lambda: Work(DRAWS, items.places, drawing, pool, wanted=len(items.places), waits=waits)],
        "label": [counted_work(LABELS, lambda: drawn_texts(run, items), Profiling(items.contents, asked.seed), **tests)],
    }
    if MEASURE in model.questions:
        plan["judge"] = [counted_work(JUDGEMENTS, lambda: drawn_at(run, items), Asking(model), waits=waits)]
    if model.mends:
        mending = Mending(model, asked.temperature, asked.seed)
        plan["repair"] = [
            counted_work(REPAIRS, lambda: counterfeits(run, items, asked.seed), mending, waits=waits),
            counted_work(REPAIR_LABELS, lambda: repaired_texts(run, items), Judging(items.contents), **tests),
        ]
    return [work for name, works in plan.items() if not asked.steps or name in asked.steps for work in works]
