"""What `assay calibrate repo PATH` does: calibrators for a project, from its own tests. Exit code out; words for people on stderr."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import platformdirs

from ..analysis.oracle.copying import NotCopied
from ..analysis.oracle.environment import NoEnvironment, make_environment
from ..analysis.oracle.interpreter import UnusableInterpreter, interpreter_of
from ..analysis.oracle.oracle import Oracle
from ..analysis.oracle.suite import WALL_FACTOR, WALL_LEAST_S
from ..analysis.sandbox.isolation import Isolation, NoIsolation, available
from ..analysis.sandbox.jail import Jail
from ..calibration.calibrator import save
from ..calibration.files import write_atomically
from ..calibration.fit import FitError
from ..calibration.own import Own, own_calibrator, parent_for
from ..calibration.registry import PROJECT_FOLDER, folders, read_registry
from ..calibration.report.plots import PlotError
from ..calibration.report.report import summary
from ..calibration.samples import Sample, SampleError, write_samples
from ..inference.completion import Settings, Task, kind_of
from ..inference.opening import ModelChoice
from . import pool, ray_pool
from .line_completion import to_stderr
from .progress import Progress, duration
from .repository import SHARDS, TASKS, Place, Spec, places_of, records_of, regions_of, samples_of, until, write_shard
from .repository_report import Suite, summary_of, write_report
from .run import GENERATIONS, LABELS, SCHEMA, Run, RunError

DONE, FAILED, UNREADABLE = 0, 1, 2
STUDY = "repository"
PLACES = 200
# So many places in a row without an answer are no accident.
MOST_LOST = 10
EVENTS = ("tests_pass", "exact_match")


class _UsageError(ValueError):
    """The command can't be carried out as it was given; the message says why."""


class _Failure(Exception):
    """The work failed; the message says how, and what to do."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants. samples: places that tell something; with minutes alone there is no such bound. ray: a cluster's address.

    out: the run's folder, by default one in the user's cache that belongs to this very question. yes: no question is put.
    """

    project: Path
    choice: ModelChoice
    samples: int | None = None
    minutes: float | None = None
    python: Path | None = None
    make_environment: bool = False
    workers: int | None = None
    ray: str | None = None
    unprotected: bool = False
    dry_run: bool = False
    yes: bool = False
    seed: int = 0
    tasks: tuple[Task, ...] = TASKS
    out: Path | None = None
    as_json: bool = False


def calibrate_repo(asked: Asked) -> int:
    """Complete a project's own code, judge it by its tests, and fit calibrators that its files are then shown. Raises ModelError."""
    return _ended(lambda: _calibrate(asked))


def report_repository(run: Run, as_json: bool) -> None:
    """A run's report and samples again, without a model and without running a test; calibrators are not written. Raises RunError."""
    _finish(run, None, as_json)


def is_repository_run(run: Run) -> bool:
    """Whether a run is one of `assay calibrate repo`. Raises RunError."""
    asked = run.asked()
    if asked.get("study") != STUDY:
        return False
    if missing := [name for name in ("project", "prompt_block", "interpreter", "isolation") if name not in asked]:
        raise RunError(f"{run.folder / 'run.toml'}: missing: {', '.join(missing)}")
    return True


def _ended(work: Callable[[], None]) -> int:
    try:
        work()
    except (_UsageError, RunError, SampleError, NotCopied) as error:
        to_stderr(f"assay: {error}")
        return UNREADABLE
    except (_Failure, NoIsolation, NoEnvironment, UnusableInterpreter, pool.PoolError, PlotError) as error:
        to_stderr(f"assay: {error}")
        return FAILED
    except OSError as error:
        to_stderr(f"assay: {error.filename}: {error.strerror}" if error.filename else f"assay: {error}")
        return FAILED
    return DONE


def _calibrate(asked: Asked) -> None:
    project = asked.project.resolve()
    if not project.is_dir():
        raise _UsageError(f"{asked.project} is not a folder; name the root of a Python project")
    if missing := [name for name in ("libcst", "matplotlib") if find_spec(name) is None]:
        raise _Failure(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed: pip install 'assay[studies]'")
    isolation = Isolation.NONE if asked.unprotected else available()
    # not resolved: a link to the Python of an environment is what makes it that environment's
    interpreter = asked.python.absolute() if asked.python else interpreter_of(project)
    if asked.out and asked.out.absolute().is_relative_to(project):
        raise _UsageError(f"{asked.out} is inside the project, which a run must not change: name a folder elsewhere")
    if asked.dry_run:
        _tell_plan(asked, project, isolation, interpreter)
        return
    if asked.unprotected and not asked.yes:
        _ask(f"The tests of {project}, and code that a model wrote, will run with no isolation, with your rights. Go on?")
    cache = platformdirs.user_cache_path("assay")
    if asked.make_environment:
        to_stderr("making an environment with what the tests need (kept for the next time)")
        interpreter = make_environment(project, cache / "environments", python=interpreter if asked.python else None)
    with Oracle(project, interpreter, Jail(isolation), cache=cache / "oracle") as oracle:
        suite = _suite(oracle)
        regions = regions_of(oracle, asked.seed)
        if not regions:
            raise _Failure(f"the tests execute no statement of {project} that could be asked for; see docs/repository.md")
        run, spec = _begun(asked, project, interpreter, isolation, cache, oracle.content)
        _keep_suite(run, suite)
        to_stderr(f"{len(regions):,} regions; what is done is kept in {run.folder}")
        try:
            _work(asked, spec, places_of(oracle, regions, asked.seed), run.folder / SHARDS, _most_s(suite))
        except KeyboardInterrupt:
            to_stderr(f"stopped; the same command goes on where {run.folder} is, and `assay eval report {run.folder}` reports on it")
            raise
    _finish(run, project, asked.as_json)


def _begun(asked: Asked, project: Path, interpreter: Path, isolation: Isolation, cache: Path, content: str) -> tuple[Run, Spec]:
    """The run of this question, begun or taken up, and what its workers need."""
    fingerprint, model_name, prompts = _model(asked)
    question: dict[str, str | int | Sequence[str]] = {
        "schema": SCHEMA,
        "study": STUDY,
        "model": fingerprint,
        "model_name": model_name,
        "prompt": prompts["line"],
        "prompt_block": prompts["block"],
        "seed": asked.seed,
        "project": project.name,
        "folder": str(project),
        "content": content,
        "tasks": list(asked.tasks),
        "interpreter": str(interpreter),
        "isolation": str(isolation),
    }
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]
    run = Run.begin(asked.out or cache / "repositories" / f"{project.name}-{digest}", question)
    return run, Spec(
        project, interpreter, isolation, cache / "oracle", asked.choice.on_one_thread(), Settings(), asked.tasks, asked.seed,
        content, None if asked.ray else run.folder / SHARDS,
    )  # fmt: skip


def _most_s(suite: Suite) -> float:
    """How long a worker may be at a place: five verdicts, each with a control, each by the whole suite, within the oracle's own bounds."""
    return 600 + 10 * (WALL_LEAST_S + WALL_FACTOR * suite.seconds)


def _tell_plan(asked: Asked, project: Path, isolation: Isolation, interpreter: Path) -> None:
    """What would be executed, without doing any of it."""
    wanted = _wanted(asked)
    how_many = " or ".join(filter(None, [f"{wanted} places" if wanted else "", f"{asked.minutes:g} minutes" if asked.minutes else ""]))
    where = "with NO isolation, with your rights" if isolation is Isolation.NONE else f"isolated by {isolation}, without a network"
    lines = [
        f"project      {project} (copied; nothing is written to it but {PROJECT_FOLDER}/)",
        f"tests        its pytest suite, run by {interpreter}, {where}:",
        "             three times whole for the baseline, once watched line by line; then, at each place, the tests that touch it",
        f"             with the code taken out, and with what the model wrote ({', '.join(asked.tasks)})",
        f"places       {how_many}, {_workers(asked)}",
        f"model        {asked.choice.where or 'the embedded one'}",
        f"written      samples and a report in {asked.out or platformdirs.user_cache_path('assay') / 'repositories'}, "
        f"calibrators in {project / PROJECT_FOLDER}",
    ]
    if asked.make_environment:
        lines.insert(1, "environment  made anew by pip: this runs the project's build code with your rights, with a network")
    for line in lines:
        to_stderr(line)


def _workers(asked: Asked) -> str:
    if asked.ray:
        return f"with {asked.workers or 'as many workers as there are CPUs but one'} on the Ray cluster at {asked.ray}"
    return "with one worker" if (asked.workers or 1) == 1 else f"with {asked.workers} workers"


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise _UsageError(f"{question} There is nobody to ask: say --yes, or leave --sandbox none out")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise _UsageError("nothing was run")


def _model(asked: Asked) -> tuple[str, str, dict[Task, str]]:
    """Fingerprint and name of the model, and of each task's prompt."""
    settings = Settings()
    with asked.choice.open() as model:
        if not model.capabilities.logprobs:
            raise _UsageError(f"{asked.choice.where} tells no log-probabilities, so there is nothing to calibrate with")
        if asked.choice.options.get("shift_tokens"):
            raise _UsageError("with --shift log-probabilities are approximate, so no calibrator can be fitted on them: leave it out")
        prompts = {task: settings.fingerprint(model.layout, model.context_length, kind_of(task)) for task in TASKS}
        return model.fingerprint.id, model.fingerprint.name, prompts


def _suite(oracle: Oracle) -> Suite:
    """Run the suite, unless that was done for this very code, and say what it is worth."""
    to_stderr("running the tests as they are, to know which are steady and what they touch (kept for the next time)")
    baseline = oracle.baseline()
    for note in baseline.notes:
        to_stderr(f"note: {note}")
    if baseline.trouble:
        raise _Failure(
            f"{baseline.trouble}. The tests were run by {oracle.suite.interpreter.path}: name another with --python, "
            "or let one be made with --make-environment"
        )
    coverage = oracle.coverage()
    if coverage.trouble:
        raise _Failure(coverage.trouble)
    for test, outcomes in list(baseline.flaky.items())[:5]:
        to_stderr(f"note: left out, its outcomes differ: {test} ({outcomes})")
    seconds = baseline.start_wall_s + sum(baseline.wall_s.values())
    found = Suite(
        len(baseline.outcomes), len(baseline.flaky), len(coverage.tests), sum(map(len, coverage.tests.values())), round(seconds, 3)
    )
    passed = sum(outcome == "passed" for outcome in baseline.outcomes.values())
    to_stderr(
        f"{found.tests:,} tests with a steady outcome ({passed:,} pass), {found.flaky:,} flaky, {duration(seconds)} in all; "
        f"they execute {found.covered_lines:,} lines of {found.files:,} files"
    )
    return found


def _wanted(asked: Asked) -> int | None:
    return asked.samples or (None if asked.minutes else PLACES)


def _work(asked: Asked, spec: Spec, places: Iterable[Place], shards: Path, most_s_of_one: float) -> None:
    """Ask the places that are still to be asked."""
    done = sum(record["deletion"] == "seen" for record in records_of(shards.parent))
    wanted, most_s = _wanted(asked), asked.minutes * 60 if asked.minutes else None
    if wanted is not None and done >= wanted:
        to_stderr(f"{done} places are done already")
        return
    progress = Progress("places", wanted - done if wanted else None, most_s)
    lost = in_a_row = 0
    items = until(places, shards, wanted, most_s, lambda: done)
    with closing(_finished(asked, spec, items, most_s_of_one)) as finished:
        for each in finished:
            if each.answer is None:
                lost, in_a_row = lost + 1, in_a_row + 1
                progress.say(f"{each.item.id} has no answer: {each.lost}")
                if in_a_row == MOST_LOST:
                    raise _Failure(f"{MOST_LOST} places in a row have no answer; what is finished is kept, and the same command goes on")
                continue
            in_a_row = 0
            if spec.shards is None:
                write_shard(shards, each.answer)
            told = each.answer["deletion"] == "seen"
            done += told
            progress.step(int(told))
    progress.end()
    if lost:
        to_stderr(f"{lost} places have no answer and are asked again by the same command")
    if wanted is not None and done < wanted and most_s is None:
        to_stderr(f"the project has no more than {done} places whose tests see that the code is gone")


def _finished(
    asked: Asked, spec: Spec, items: Iterator[Place], most_s: float
) -> Generator[pool.Finished[Place, dict[str, Any]], None, None]:
    if asked.ray:
        return ray_pool.run(spec, items, asked.ray, workers=asked.workers, most_s=most_s)
    return pool.run(spec, items, asked.workers or 1, most_s=most_s)


def _keep_suite(run: Run, suite: Suite) -> None:
    with write_atomically(run.folder / "suite.json") as out:
        out.write(json.dumps(asdict(suite)).encode())


def _suite_of(run: Run) -> Suite:
    path = run.folder / "suite.json"
    try:
        return Suite(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{path}: can't be read ({error}); the command that began the run writes it again") from None


def _finish(run: Run, project: Path | None, as_json: bool) -> None:
    """Samples, calibrators and report of what a run has. project: where calibrators go; None writes none."""
    asked, records = run.asked(), list(records_of(run.folder))
    prompts: dict[Task, str] = {task: asked["prompt_block" if task == "block" else "prompt"] for task in TASKS}
    by_task = samples_of(
        records, project=asked["project"], model=asked["model"], model_name=asked["model_name"], prompts=prompts, seed=asked["seed"]
    )
    _write_lines(run, records)
    paths = []
    for task, samples in sorted(by_task.items()):
        paths.append(run.folder / "samples" / f"{task}.jsonl")
        write_samples(paths[-1], samples)
    owns, notes = _owns(by_task)
    written = []
    for own in owns:
        made = own.fit.calibrator
        to_stderr(f"{made.task}: {summary(made)}")
        if project:
            written.append(project / PROJECT_FOLDER / f"repo-{made.event}-{made.task}.json")
            save(made, written[-1])
    facts = [f"model {asked['model_name'] or asked['model']}, tests run by {asked['interpreter']}, isolation {asked['isolation']}"]
    report = write_report(run.folder / "report", f"{asked['project']}: its own calibrators", facts, _suite_of(run), records, owns, notes)
    for note in notes:
        to_stderr(f"note: {note}")
    for path in report:
        if path.suffix == ".html":
            to_stderr(f"report: {path}")
    if as_json:
        document = {"run": str(run.folder), "samples": [str(p) for p in paths], "calibrators": [str(p) for p in written]}
        print(json.dumps({**document, "report": [str(p) for p in report], **summary_of(records)}))
    else:
        for path in written or paths:
            print(path)


def _owns(by_task: dict[Task, list[Sample]]) -> tuple[list[Own], list[str]]:
    """A calibrator for each event and task that has labels, and why others have none."""
    registry = read_registry(folders())
    owns = []
    of_note: dict[str, list[str]] = {}
    for event in EVENTS:
        for task, samples in sorted(by_task.items()):
            labelled = [sample for sample in samples if sample.labels.get(event) is not None]
            if len(labelled) < 2:
                of_note.setdefault("too few labelled suggestions to fit a calibrator to", []).append(f"{event} of {task}")
                continue
            parent, alone = parent_for(registry, labelled, event)
            try:
                owns.append(own_calibrator(labelled, event, parent, alone))
            except FitError as error:
                of_note.setdefault(str(error), []).append(f"{event} of {task}")
                continue
            for note in (*([f"fitted to these samples alone, for {alone}"] if alone else []), *owns[-1].fit.notes):
                of_note.setdefault(note, []).append(f"{event} of {task}")
    return owns, [f"{', '.join(about)}: {note}" for note, about in of_note.items()]


def _write_lines(run: Run, records: Sequence[dict[str, Any]]) -> None:
    """generations.jsonl and labels.jsonl, as every run has them."""
    answers = [(record, made) for record in records for made in record["answers"]]
    labels = [{"id": made["id"], **{event: made[event] for event in EVENTS}} for _, made in answers]
    generations = [
        {key: value for key, value in made.items() if key not in EVENTS}
        | {"project": run.asked()["project"], **{key: record[key] for key in ("file", "function", "statement", "line")}}
        for record, made in answers
    ]
    for name, lines in ((GENERATIONS, generations), (LABELS, labels)):
        with write_atomically(run.folder / name) as out:
            out.write("".join(json.dumps(line) + "\n" for line in lines).encode())
