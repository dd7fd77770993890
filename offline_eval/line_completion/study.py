"""The calibration study's line completion: real lines taken out of real functions, completed as in the editor, and compared.

The model sees the rest of the file as the editor would show it, and may be asked what it thinks of each generation (reflective measures).
Event: exact_match, of the file as it is once the suggestion is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...inference.completion.task import Task
from ...inference.opening import ModelChoice
from ...suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ..errors import UsageError
from ..model import model_of
from ..pool.choice import Pool
from ..progress import counted, to_stderr
from ..run import Answer, Run
from ..study import Results, Work, conduct
from .answers import Answerer
from .items import TASKS, Place, places_of
from .projects import Project, default_cache, is_fetched, measured_projects
from .report import write_report


class LineCompletion:
    """The study, as the driver sees it."""

    name = "calibration"
    answer = Answer
    needed = ()

    def counts(self, answer: Any) -> bool:
        """Every place that has a gap."""
        return bool(answer["generations"])

    def report(self, run: Run, results: Results, *, as_json: bool) -> None:
        """A summary on stderr."""
        write_report(run, results, as_json=as_json)


STUDY = LineCompletion()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants. projects: where none is named, all that are listed; cache: where their archives are kept; memory: what is read
    beside the model.
    """

    out: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    projects: Sequence[Project] = ()
    per_project: int = 150
    tasks: Sequence[Task] = TASKS
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    cache: Path | None = None
    reflective: bool = False
    alternatives: int = 1
    memory: Scope = DEFAULT_SCOPE
    as_json: bool = False


def named(names: Sequence[str]) -> list[Project]:
    """The listed projects with these names, all where there are none. Raises UsageError."""
    listed = {project.name: project for project in measured_projects()}
    if unknown := sorted(set(names) - listed.keys()):
        raise UsageError(f"no such project in the list: {', '.join(unknown)}. It has: {', '.join(sorted(listed))}")
    return [listed[name] for name in sorted(set(names) or listed)]


def run_study(asked: Asked) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, ModelError and OSError."""
    projects = asked.projects or named(())
    model = model_of(asked.choice, TASKS, reflective=asked.reflective, memory=asked.memory)
    question: dict[str, str | int | Sequence[str]] = {
        **model.question(STUDY.name),
        "seed": asked.seed,
        "per_project": asked.per_project,
        "tasks": list(asked.tasks),
        "projects": [f"{project.name} {project.version}" for project in projects],
    }
    if model.questions:
        question["questions"] = [f"{measure} {one.fingerprint}" for measure, one in model.questions.items()]
    if asked.alternatives > 1:
        question["alternatives"] = asked.alternatives
    run = Run.begin(asked.out, question)
    places = _places(asked, projects)
    files = len({(place.project, place.path) for place in places})
    to_stderr(f"{counted(len(places), 'place')} in {counted(files, 'file')} of {counted(len(projects), 'project')}")
    by_name = {project.name: project for project in projects}
    work = Work(places, Answerer(model, by_name, asked.cache or default_cache(), asked.alternatives), wanted=len(places))
    conduct(STUDY, run, work, asked.pool, as_json=asked.as_json)
    return run


def _places(asked: Asked, projects: Sequence[Project]) -> list[Place]:
    cache, places = asked.cache or default_cache(), []
    for number, project in enumerate(projects, 1):
        if not is_fetched(project, cache):
            to_stderr(f"fetching {project.name} {project.version} ({number} of {len(projects)})")
        places += places_of(project, cache, asked.per_project, asked.seed, asked.tasks)
    return places
