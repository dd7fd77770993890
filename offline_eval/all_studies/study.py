"""The line twins of all studies, as one run that holds the others. Each is a folder of it, made by the functions of its own command.

run.toml of the whole has how many places of each project each of them takes, so that a resumed one takes as many.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ...inference.opening import ModelChoice
from ...suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ..errors import RunError
from ..model import StudyModel, model_of
from ..pool.choice import WAITING, Pool
from ..pool.interface import PoolError
from ..progress import counted, to_stderr
from ..run import RUN, Run, check_writable
from ..sets.items import check_suites
from ..sets.lines import TASKS
from ..sets.projects import Project, default_cache
from ..study import Results, Study, Unanswered, finish, how_far
from .planned import RUNS, sizes
from .rates import generation_seconds


def _report(run: Run, results: Results, *, as_json: bool) -> None:  # noqa: ARG001
    """The reports of its runs."""
    from ..registry import study_of

    made = list(runs_in(run.folder))
    with _quiet(as_json):
        for each in made:
            study = study_of(each)
            finish(study, each, as_json=False)
            to_stderr(f"{each.folder.name}: {how_far(study, each)}")
    _tell(run.folder, [each.folder for each in made], as_json=as_json)


STUDY = Study("all", (), (), _report)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants. minutes: as many places as they buy; None: all that are worth it. The rest as of the calibration study."""

    out: Path
    choice: ModelChoice
    projects: Sequence[Project]
    minutes: float | None = None
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    cache: Path | None = None
    python: Path | None = None
    memory: Scope = DEFAULT_SCOPE
    as_json: bool = False

    @property
    def workers(self) -> int:
        """How many work at once, as far as that is known."""
        return self.pool.workers or (WAITING if self.choice.servers else 1)

    def model(self) -> StudyModel:
        """The model, once all is checked that would fail late. Raises UsageError, UnusableInterpreter, and as `model_of`."""
        archives = self.cache or default_cache()
        check_writable(archives, "the projects' archives are kept there: name another folder with --cache")
        check_suites(self.python)
        return model_of(self.choice, TASKS, reflective=None, memory=self.memory)


def runs_in(folder: Path) -> Iterator[Run]:
    """The runs in a folder, by name. Raises RunError."""
    for path in sorted(folder.glob(f"*/{RUN}")):
        yield Run.opened(path.parent)


def run_all(asked: Asked) -> Run:
    """Run, or resume, all studies. One whose work fails does not keep the others from theirs.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError, OSError; PoolError and Unanswered once all
    others are done.
    """
    model = asked.model()
    known = question_of(asked, model)
    Run.check(asked.out, known)
    if not (asked.out / RUN).exists():
        planned = sizes(asked.minutes, len(asked.projects), asked.workers, generation_seconds(asked.choice))
        Run.begin(asked.out, known | {_size_of(name): places for name, places in planned.items()})
    run = Run.opened(asked.out)
    places = places_of(run)
    failure: PoolError | Unanswered | None = None
    with run.locked(), _quiet(asked.as_json):
        for number, each in enumerate(RUNS, 1):
            most = counted(places[each.name], "place")
            to_stderr(f"{number} of {len(RUNS)}: {each.name} ({each.what}), at most {most} of each project")
            try:
                _command(each.name, asked, places[each.name], model)()
            except (PoolError, Unanswered) as error:
                to_stderr(f"{each.name}: {error}")
                failure = failure or error
    _tell(asked.out, [asked.out / each.name for each in RUNS], as_json=asked.as_json)
    if failure is not None:
        raise failure
    to_stderr(f"now the validation tables of this model's calibrators: assay calibrate validate --all {asked.out}")
    return run


def question_of(asked: Asked, model: StudyModel) -> dict[str, str | int | Sequence[str]]:
    """What makes a run another one, besides how many places it takes."""
    question: dict[str, str | int | Sequence[str]] = {
        **model.question(STUDY.name),
        "seed": asked.seed,
        "projects": [f"{project.name} {project.version}" for project in asked.projects],
    }
    if asked.minutes is not None:
        question["minutes"] = f"{asked.minutes:g}"
    return question


def places_of(run: Run) -> dict[str, int]:
    """By the name of a run, how many places of each project it takes. Raises RunError where run.toml does not say."""
    question = run.question()
    found = {each.name: question.get(_size_of(each.name)) for each in RUNS}
    if wrong := [_size_of(name) for name, places in found.items() if type(places) is not int or places < 1]:
        raise RunError(f"{run.folder / RUN}: must be whole numbers of at least 1: {', '.join(wrong)}; make the runs again elsewhere")
    return {name: int(places) for name, places in found.items() if places}


def _size_of(name: str) -> str:
    return f"{name}_per_project"


def _command(name: str, asked: Asked, places: int, model: StudyModel) -> Callable[[], Run]:
    """What makes or resumes one of the runs."""
    from ..calibration import study as calibration
    from ..catcode.lines import study as catcode
    from ..counterfeit.lines import study as counterfeit
    from ..sets.arms import ARMS

    shared: Mapping[str, Any] = {
        "out": asked.out / name,
        "choice": asked.choice,
        "projects": asked.projects,
        "per_project": places,
        "seed": asked.seed,
        "pool": asked.pool,
        "cache": asked.cache,
        "python": asked.python,
        "memory": asked.memory,
    }
    match name:
        case "calibration":
            return partial(calibration.run_study, calibration.Asked(**shared, set="suites"))
        case "calibration_asked":
            reflective = bool(model.questions)
            return partial(calibration.run_study, calibration.Asked(**shared, set="suites", arms=tuple(ARMS), reflective=reflective))
        case "counterfeit":
            return partial(counterfeit.run_lines, counterfeit.Asked(**shared))
        case _:
            return partial(catcode.run_lines, catcode.Asked(**shared))


def _quiet(as_json: bool) -> AbstractContextManager[Any]:
    """With --json one document is printed, so what the single runs print goes elsewhere."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def _tell(folder: Path, runs: Sequence[Path], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"run": str(folder), "runs": list(map(str, runs))}))
