"""What the studies of lines that projects' own tests judge have in common: what a user wants, the items, and the beginning of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ..analysis.sandbox.isolation.best_level import best_level
from ..inference.completion.task import Task
from ..inference.opening import ModelChoice
from ..suggestion.memory.scope import DEFAULT_SCOPE, Scope
from .model import StudyModel
from .plan import written
from .pool.choice import Pool
from .progress import counted, tell_if_stopped, to_stderr
from .run import Question, Run, check_writable
from .sets.code import Code, code_of
from .sets.items import Wanted, check_suites, items_of_suites, lines_of, question_of_items
from .sets.projects import Project, default_cache, named
from .sets.suites import Items


@dataclass(frozen=True, slots=True)
class AskedOfSuites:
    """What the user wants.

    projects: where none is named, all that have a suite. per_project: at most so many places of each; limit: of all. cache: where the
    projects' archives are kept. python: makes the environments of their tests. memory: what is read beside the model. steps: those to do.
    """

    TASKS: ClassVar[Sequence[Task]] = ("line",)
    PER_PROJECT: ClassVar[int] = 60

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
        return self.per_project or self.PER_PROJECT

    @property
    def asked_tasks(self) -> Sequence[Task]:
        """What is asked at each place."""
        return self.TASKS

    @property
    def code(self) -> Code:
        """The projects' code."""
        return code_of(self.chosen, self.archives)

    @property
    def waits(self) -> bool:
        """Whether a server is asked."""
        return bool(self.choice.servers)

    def model(self) -> StudyModel:
        """The model. Raises UsageError for one that the study can't ask, and as `model_of`."""
        raise NotImplementedError

    def check(self) -> None:
        """Check what would otherwise fail late, or in a plan not at all. Raises UsageError and UnusableInterpreter."""
        check_writable(self.archives, "the projects' archives are kept there: name another folder with --cache")
        check_suites(self.python)


Asked = TypeVar("Asked", bound=AskedOfSuites)


def question_about(asked: AskedOfSuites, model: StudyModel, study: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a run another one, as far as it is known before there are items. more: what only this study has."""
    limit = {"limit": asked.limit} if asked.limit else {}
    return {
        **model.question(study),
        "set": "lines",
        "seed": asked.seed,
        "per_project": asked.most,
        "projects": [f"{project.name} {project.version}" for project in asked.chosen],
        **more,
        **limit,
    }


def found(asked: Asked, question_of: Callable[[Asked, StudyModel], Question]) -> tuple[StudyModel, Items]:
    """The model, and the items, once it is known that a run of that question can be gone on with.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError.
    """
    asked.check()
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        model = asked.model()
        Run.check(asked.out, question_of(asked, model))
        wanted = Wanted(
            asked.out, asked.chosen, asked.archives, asked.asked_tasks, asked.most, asked.limit, asked.seed, asked.python
        )  # fmt: skip
        return model, items_of_suites(wanted, asked.pool)


def begun(asked: AskedOfSuites, question: Question, items: Items) -> Run:
    """The run about these items, begun or gone on with. Raises RunError."""
    lines = lines_of(items)
    run = Run.begin(asked.out, {**question, **question_of_items(items, lines)})
    run.keep_items(lines)
    to_stderr(f"{counted(len(items.places), 'place')} of {counted(len(items.suites), 'project')}")
    return run


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan says first, as JSON and for people, and how many places there are at most."""

    document: dict[str, Any]
    lines: list[str]
    places: int


def planned(asked: AskedOfSuites, model: StudyModel, study: str, prompt: str) -> Planned:
    """The beginning of a plan. prompt: the fingerprint of what is asked."""
    projects = [f"{project.name} {project.version}" for project in asked.chosen]
    places = min(len(projects) * asked.most, asked.limit or len(projects) * asked.most)
    document = {
        "schema": "assay/study-plan/1",
        "study": study,
        "set": "lines",
        "run": str(asked.out),
        "projects": projects,
        "archives": str(asked.archives),
        "model": model.id,
        "model_name": model.name,
        "prompt": prompt,
        "isolation": str(best_level()),
        "most_places": places,
    }
    lines = [
        f"projects     {counted(len(projects), 'project')}, fetched by pip into {asked.archives}: {', '.join(projects)}",
        f"environment  one for each project's tests, made by pip with your rights ({asked.python or 'this Python'}): build code runs",
        f"model        {model.name} {model.id}, prompt {prompt}",
        f"places       at most {places:,}, with {', '.join(asked.asked_tasks)} at each: which they are, the tests say",
        written(asked.out),
    ]
    return Planned(document, lines, places)
