"""The line twins of all studies, as one run that holds the others. Each is a folder of it, made by the functions of its own command.

run.toml of the whole has how many places of each project each of them takes, so that a resumed one takes as many: all that are worth it, or
those that a time buys.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import RunError
from ..model import StudyModel, model_of
from ..on_suites import SuiteOptions, plan_of
from ..plan import tell_study
from ..pool.interface import PoolError
from ..pool.pool import WAITING
from ..probe import QUESTION, generation_seconds
from ..progress import counted, to_stderr
from ..run import RUN, Run
from ..sets.lines import TASKS
from ..study import Results, Study, Unanswered, finish, how_far

# Seconds of one worker. docs/performance.md: two of them found 1,400 places in 25 minutes, and judged 2.4 texts a second.
FOUND_S = 2 * 25 * 60 / 1400
JUDGED_S = 2 / 2.4


@dataclass(frozen=True, slots=True)
class Place:
    """What one place takes, about.

    judged: distinct texts that the tests have not seen yet. found: 1 where the place must be found; the runs after the first take places
    that it has found.
    """

    generations: int
    questions: int
    judged: float
    found: int = 0

    def seconds(self, generation_s: float) -> float:
        """Of one worker. generation_s: what the model takes for a generation."""
        asked = (self.generations + QUESTION * self.questions) * generation_s
        return asked + self.judged * JUDGED_S + self.found * FOUND_S


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """name: its folder. what: for people. share: of the minutes, in percent. most: places of each project, where time is no matter."""

    name: str
    what: str
    share: int
    most: int
    place: Place


# The shares are those that the full runs of the embedded model take. The texts judged are those that its runs had.
RUNS: Sequence[PlannedRun] = (
    PlannedRun("calibration", "three tasks, as the editor completes them", 24, 100, Place(3, 0, 1.6, found=1)),
    PlannedRun(
        "calibration_asked", "also without docstring and without suffix, and the model asked about its answers", 6, 20,
        Place(9, 18, 2.8),
    ),
    PlannedRun(
        "counterfeit", "two tasks; of each the shown text and 10 draws, judged by the model and repaired", 47, 60,
        # Two counterfeits of a place are repaired, six times each, by the median.
        Place(2 * (1 + 10) + 2 * 6, 2 * (1 + 10), 11 + 3),
    ),
    PlannedRun("catcode", "the line and what is suggested, each rewritten so that it means the same, or not", 23, 40, Place(2, 12, 10)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run takes, about. calls: generations and questions."""

    places: int
    calls: int
    judged: int
    hours: float


def sizes(minutes: float | None, projects: int, workers: int, generation_s: float) -> dict[str, int]:
    """By run the places of each project: all that are worth it, or as many as its share of the minutes buys, at least one.

    No run has more places than the first, which finds them.
    """
    bought = {run.name: run.most for run in RUNS}
    if minutes is not None:
        for run in RUNS:
            seconds = minutes * 60 * run.share / 100 * workers
            bought[run.name] = min(run.most, max(1, int(seconds / (run.place.seconds(generation_s) * projects))))
    return {name: min(places, bought[RUNS[0].name]) for name, places in bought.items()}


def cost(run: PlannedRun, places: int, workers: int, generation_s: float) -> Cost:
    """What a run of so many places takes."""
    place = run.place
    calls, hours = (place.generations + place.questions) * places, place.seconds(generation_s) * places / workers / 3600
    return Cost(places, calls, round(place.judged * places), hours)


def whole(costs: Sequence[Cost]) -> Cost:
    """All runs together. places: of the largest, whose places the others take."""
    places, *rest = zip(*map(astuple, costs), strict=True)
    return Cost(max(places), *map(sum, rest))


def _report(run: Run, results: Results, *, as_json: bool) -> None:  # noqa: ARG001
    """The reports of its runs."""
    from ..command import study_of

    made = list(runs_in(run.folder))
    with _quiet(as_json):
        for each in made:
            study = study_of(each)
            finish(study, each, as_json=False)
            to_stderr(f"{each.folder.name}: {how_far(study, each)}")
    _tell(run.folder, [each.folder for each in made], as_json=as_json)


STUDY = Study("all", (), (), _report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(SuiteOptions):
    """What the user wants. minutes: as many places as they buy; None: all that are worth it."""

    minutes: float | None = None

    @property
    def workers(self) -> int:
        """How many work at once, as far as that is known."""
        return self.pool.workers or (WAITING if self.choice.servers else 1)

    def model(self) -> StudyModel:
        """The model, once all is checked that would fail late. Raises as `check` and `model_of`."""
        self.check()
        return model_of(self.choice, TASKS, reflective=None, memory=self.memory)


def runs_in(folder: Path) -> Iterator[Run]:
    """The runs in a folder, by name. Raises RunError."""
    for path in sorted(folder.glob(f"*/{RUN}")):
        yield Run.opened(path.parent)


def run_all(options: Options) -> Run:
    """Run, or resume, all studies. One whose work fails does not keep the others from theirs.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError, OSError; PoolError and Unanswered once all
    others are done.
    """
    model = options.model()
    known = question_of(options, model)
    Run.check(options.out, known)
    if options.dry_run:
        tell_study(known, options.out, _plan(options), as_json=options.as_json)
        return Run(options.out)
    if not (options.out / RUN).exists():
        planned = sizes(options.minutes, len(options.projects), options.workers, generation_seconds(options.choice))
        Run.begin(options.out, known | {_size_of(name): places for name, places in planned.items()})
    run = Run.opened(options.out)
    places = places_of(run)
    failure: PoolError | Unanswered | None = None
    with run.locked(), _quiet(options.as_json):
        for number, each in enumerate(RUNS, 1):
            most = counted(places[each.name], "place")
            to_stderr(f"{number} of {len(RUNS)}: {each.name} ({each.what}), at most {most} of each project")
            try:
                _command(each.name, options, places[each.name], model)()
            except (PoolError, Unanswered) as error:
                to_stderr(f"{each.name}: {error}")
                failure = failure or error
    _tell(options.out, [options.out / each.name for each in RUNS], as_json=options.as_json)
    if failure is not None:
        raise failure
    to_stderr(f"now the validation tables of this model's calibrators: assay calibrate validate --all {options.out}")
    return run


def _plan(options: Options) -> dict[str, Any]:
    """What a dry run says: of a run that has begun, as many places as it takes. Raises RunError."""
    generation_s, projects = generation_seconds(options.choice), len(options.projects)
    begun = (options.out / RUN).exists()
    places = places_of(Run.opened(options.out)) if begun else sizes(options.minutes, projects, options.workers, generation_s)
    costs = {each.name: cost(each, places[each.name] * projects, options.workers, generation_s) for each in RUNS}
    together = whole(list(costs.values()))
    return {
        **plan_of(options),
        "most_places": together.places,
        "rates": f"of one worker: a generation {generation_s:.3f} s (timed just now); a place found {FOUND_S:.1f} s, a text judged "
        f"{JUDGED_S:.2f} s (measured, docs/performance.md). {counted(options.workers, 'worker')}. The environments of the tests, made "
        "once, are not counted",
        "runs": {each.name: {"share": each.share, **asdict(costs[each.name])} for each in RUNS},
        "whole": asdict(together),
    }


def question_of(options: Options, model: StudyModel) -> dict[str, str | int | Sequence[str]]:
    """What makes a run another one, besides how many places it takes."""
    question: dict[str, str | int | Sequence[str]] = {
        **model.question(STUDY.name),
        "seed": options.seed,
        "projects": [f"{project.name} {project.version}" for project in options.projects],
    }
    if options.minutes is not None:
        question["minutes"] = f"{options.minutes:g}"
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


def _command(name: str, options: Options, places: int, model: StudyModel) -> Callable[[], Run]:
    """What makes or resumes one of the runs."""
    from ..calibration import study as calibration
    from ..catcode.lines import study as catcode
    from ..counterfeit.lines import study as counterfeit
    from ..sets.lines import ARMS

    alike = ("choice", "projects", "seed", "pool", "cache", "python", "memory")
    shared: dict[str, Any] = {each: getattr(options, each) for each in alike} | {"out": options.out / name, "per_project": places}
    match name:
        case "calibration":
            return partial(calibration.run_study, calibration.Options(**shared, set="suites"))
        case "calibration_asked":
            reflective = bool(model.questions)
            return partial(calibration.run_study, calibration.Options(**shared, set="suites", arms=tuple(ARMS), reflective=reflective))
        case "counterfeit":
            return partial(counterfeit.run_lines, counterfeit.Options(**shared))
        case _:
            return partial(catcode.run_lines, catcode.Options(**shared))


def _quiet(as_json: bool) -> AbstractContextManager[Any]:
    """With --json one document is printed, so what the single runs print goes elsewhere."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def _tell(folder: Path, runs: Sequence[Path], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"run": str(folder), "runs": list(map(str, runs))}))
