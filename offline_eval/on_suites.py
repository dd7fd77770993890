"""What the studies of lines have in common: what a user wants, the items, and the beginning of a run.

The items are places that projects' own tests judge, or lines of folders of the user's, of which it is only known what stood there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import platformdirs

from ..analysis.oracle.interpreter import existing
from ..analysis.sandbox.isolation.best_level import best_level
from ..inference.completion.task import Task
from ..suggestion.memory.scope import DEFAULT_SCOPE, Scope
from .model import StudyModel
from .progress import counted, tell_if_stopped, to_stderr
from .run import RUN, Question, Run, check_writable
from .sets.code import Code, Folder, LineDrawing, Source, check_older, code_of, label_of, older_releases
from .sets.projects import Project, default_cache, named
from .sets.suites import Finding, Items, prepared, watched
from .study import Study, StudyOptions, Works, carry_out


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectOptions(StudyOptions):
    """What the user wants of a study of projects' code.

    cache: where the projects' archives are kept. python: makes the environments of their tests. memory: what is read beside the model.
    """

    cache: Path | None = None
    python: Path | None = None
    memory: Scope = DEFAULT_SCOPE

    @property
    def archives(self) -> Path:
        """Where the projects' distributions are."""
        return self.cache or default_cache()

    def check(self) -> None:
        """Check what would otherwise fail late, or in a plan not at all. Raises UsageError."""
        check_writable(self.archives, "the projects' archives are kept there: name another folder with --cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions(ProjectOptions):
    """What the user wants of a study at places that projects' tests judge, or of lines of folders.

    projects: where none is named, all that have a suite. folders: instead. older: as `LineDrawing`. histories: as `Finding`. per_project:
    at most so many places of each; limit: of all. tasks: asked at each.
    """

    projects: Sequence[Project] = ()
    folders: Sequence[Folder] = ()
    older: Path | None = None
    histories: Path | None = None
    per_project: int = 60
    tasks: Sequence[Task] = ("line",)

    @property
    def set(self) -> str:
        """In a run's question."""
        return "code" if self.folders else "commits" if self.histories else "lines"

    @property
    def chosen(self) -> Sequence[Source]:
        """The projects or folders."""
        return self.folders or self.projects or named((), suite=True)

    @property
    def most_places(self) -> int:
        """At most so many places of all projects."""
        most = len(self.chosen) * self.per_project
        return min(most, self.limit or most)

    @property
    def code(self) -> Code:
        """The projects' code."""
        return code_of(self.chosen, self.archives)

    def check(self) -> None:
        """As for any projects, and what the tests' environments are made with. Raises UsageError and UnusableInterpreter."""
        check_older(self.chosen, self.older)
        if self.folders:
            return
        ProjectOptions.check(self)
        check_writable(platformdirs.user_cache_path("assay"), "the tests' environments are kept there: XDG_CACHE_HOME names another place")
        if self.python is not None:
            existing(self.python.absolute())


Options = TypeVar("Options", bound=ProjectOptions)


def question_about(options: SuiteOptions, model: StudyModel, study: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a run another one, as far as it is known before there are items. more: what only this study has."""
    return {
        **model.question(study),
        "set": options.set,
        "seed": options.seed,
        "per_project": options.per_project,
        "projects": [label_of(source) for source in options.chosen],
        **older_releases(options.chosen, options.older),
        **more,
        **options.limited,
    }


def model_and_items(
    options: Options,
    model: Callable[[], StudyModel],
    question_of: Callable[[Options, StudyModel], Question],
    items_of: Callable[[Options], Items],
) -> tuple[StudyModel, Items]:
    """The model and the items, after checking that the run can be resumed.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError.
    """
    options.check()
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        opened = model()
        Run.check(options.out, question_of(options, opened))
        return opened, items_of(options)


def ask_about(study: Study, options: SuiteOptions, question: Question, items: Items, works: Works, most: Mapping[str, int]) -> Run:
    """Run, or resume, a study about these items. most: what a dry run says besides places, as of `carry_out`. Raises as that."""
    told = f"{counted(len(items.places), 'place')} of {counted(len({place.project for place in items.places}), 'project')}"
    question = {**question, **items.question}
    return carry_out(study, options, question, items.records, works, told, plan=lambda: {**plan_of(options), **most})


def plan_of(options: SuiteOptions) -> dict[str, Any]:
    """What a dry run says of places, before anybody has looked for them. Raises NoIsolation."""
    if options.folders:
        return {"most_places": options.most_places}
    return {
        "archives": str(options.archives),
        "with_your_rights": f"pip makes an environment for each project's tests ({options.python or 'this Python'}): build code runs",
        "isolation": str(best_level()),
        "most_places": options.most_places,
    }


def items_of_suites(options: SuiteOptions, *, bugs: bool = False) -> Items:
    """The places whose loss the projects' tests notice: that takes a run of them, and no model; or places in folders. In a dry run none.

    Raises StudyError and NoIsolation.
    """
    if options.dry_run:
        return Items(())
    if options.folders:
        drawing = LineDrawing(options.per_project, options.seed, options.tasks, ("python",), options.older)
        return limited(Items(drawing.places(options.folders, options.archives)), options.limit, options.seed)
    projects = _not_left_out(options.out, options.projects or named((), suite=True))
    ready = prepared(projects, options.archives, platformdirs.user_cache_path("assay"), best_level(), options.python)
    older = options.older and options.older.resolve()  # a worker may be in another folder
    histories = options.histories and options.histories.resolve()
    finding = Finding(options.per_project, options.seed, bugs, older, histories)
    found = watched(ready, options.pool, finding, options.tasks)
    return limited(found, options.limit, options.seed)


def limited(items: Items, limit: int | None, seed: int) -> Items:
    """At most so many of the places, drawn by the seed."""
    if limit is None or limit >= len(items.places):
        return items
    drawn = random.Random(f"{seed}:limit").sample(range(len(items.places)), limit)
    return replace(items, places=[items.places[index] for index in sorted(drawn)])


def _not_left_out(out: Path, projects: Sequence[Project]) -> Sequence[Project]:
    """The projects that a run began with: one that was left out then stays out, so that the run can go on."""
    if not (out / RUN).is_file():
        return projects
    begun = Run.opened(out).question().get("suites", [])
    if left_out := [project.name for project in projects if project.name not in begun]:
        to_stderr(f"left out when the run began: {', '.join(left_out)}")
    return [project for project in projects if project.name in begun]
