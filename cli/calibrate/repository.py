"""What `assay calibrate repo PATH` does: calibrators for a project, from its own tests. Exit code out; words for people on stderr."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from ...analysis.oracle.baseline import NO_TESTS, UNSTEADY, Baseline
from ...analysis.oracle.copying import NotCopied
from ...analysis.oracle.environment import NoEnvironment, cached_environment, make_environment
from ...analysis.oracle.interpreter import UnusableInterpreter, interpreter_of
from ...analysis.oracle.oracle import Oracle
from ...analysis.oracle.suite import MIN_WALL_S, WALL_FACTOR
from ...analysis.sandbox.isolation.best_level import NoIsolation, best_level
from ...analysis.sandbox.isolation.jail import Jail
from ...analysis.sandbox.isolation.levels import Isolation
from ...calibration.report.plots import PlotError
from ...calibration.samples import SampleError
from ...inference.completion.settings import Settings
from ...offline_eval import pool, ray_pool
from ...offline_eval.line_completion.study import to_stderr
from ...offline_eval.progress import counted, duration
from ...offline_eval.repository.asking import Unanswered, Workers, ask, done_of
from ...offline_eval.repository.folder import STUDY, AskedModel, folder_of, model_of, most_done, question_of, seen
from ...offline_eval.repository.plan import ELSEWHERE, UsageError, check, plan, plan_lines
from ...offline_eval.repository.plan import Asked as Asked
from ...offline_eval.repository.project_copy import advice_on_links, changed_since, frozen, left_out_notes
from ...offline_eval.repository.report import Suite
from ...offline_eval.repository.results import finish, keep_suite
from ...offline_eval.repository.study import SHARDS, Spec, places_of, regions_of
from ...offline_eval.run import Run, RunError, differences

DONE, FAILED, UNREADABLE = 0, 1, 2
# Tests that are told by name.
NAMED = 5
PLAN_SCHEMA = "assay/repository-plan/1"


class _Failure(Exception):
    """The work failed; the message says how, and what to do."""


def calibrate_repo(asked: Asked) -> int:
    """Complete a project's own code, judge it by its tests, and fit calibrators that its files are then shown. Raises ModelError."""
    return _ended(lambda: _calibrate(asked))


def report_repository(run: Run, as_json: bool) -> None:
    """A run's report and samples again, without a model and without running a test; calibrators are not written. Raises RunError."""
    finish(run, None, as_json)


def is_repository_run(run: Run) -> bool:
    """Whether a run is one of `assay calibrate repo`. Raises RunError."""
    asked = run.asked()
    if asked.get("study") != STUDY:
        return False
    if missing := [name for name in ("project", "folder", "prompt_block", "interpreter", "isolation") if name not in asked]:
        raise RunError(f"{run.folder / 'run.toml'}: missing: {', '.join(missing)}")
    return True


def _ended(work: Callable[[], None]) -> int:
    try:
        work()
    except (UsageError, RunError, SampleError, NotCopied) as error:
        to_stderr(f"assay: {error}")
        return UNREADABLE
    except (_Failure, Unanswered, NoIsolation, NoEnvironment, UnusableInterpreter, pool.PoolError, PlotError) as error:
        to_stderr(f"assay: {error}")
        return FAILED
    except OSError as error:
        to_stderr(f"assay: {error.filename}: {error.strerror}" if error.filename else f"assay: {error}")
        return FAILED
    return DONE


def _calibrate(asked: Asked) -> None:
    project = asked.project.resolve()
    check(asked, project)
    if missing := [name for name in ("libcst", "matplotlib") if find_spec(name) is None]:
        raise _Failure(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed: pip install 'assay[studies]'")
    isolation = Isolation.NONE if asked.unprotected else best_level()
    # not resolved: a link to the Python of an environment is what makes it that environment's
    interpreter = asked.python.absolute() if asked.python else interpreter_of(project)
    if asked.dry_run:
        known = seen(asked, project, isolation, interpreter, platformdirs.user_cache_path("assay"))
        found = plan(asked, project, isolation, interpreter, known)
        if asked.as_json:
            print(json.dumps({"schema": PLAN_SCHEMA, **found}, indent=1))
        for line in () if asked.as_json else plan_lines(found):
            to_stderr(line)
        return
    if asked.unprotected and not asked.yes:
        _ask(f"The tests of {project}, and code that a model wrote, will run with no isolation, with your rights. Go on?")
    cache = _cache()
    model = model_of(asked)
    if asked.make_environment:
        interpreter = _environment(project, cache / "environments", interpreter if asked.python else None)
    failure: pool.PoolError | Unanswered | None = None
    # other machines have no folder of this one's
    source = nullcontext((project, dict[str, str]())) if asked.ray else frozen(project)
    with source as (folder, left_out), Oracle(folder, interpreter, Jail(isolation), cache=cache / "oracle") as oracle:
        with _told_if_stopped(lambda: "stopped; nothing is lost: the tests' baseline is made again by the same command"):
            suite = _suite(oracle, left_out | oracle.suite.copied.left_out)
        regions = regions_of(oracle, asked.seed)
        if not regions:
            raise _Failure(f"the tests execute no statement of {project} that could be asked for; see docs/repository.md")
        run, spec = _begun(asked, model, project, interpreter, isolation, cache, oracle.content)
        spec = replace(spec, project=folder)
        keep_suite(run, suite)
        to_stderr(f"{counted(len(regions), 'region')}; what is done is kept in {run.folder}")
        try:
            with _told_if_stopped(lambda: _kept(run)):
                ask(
                    run.folder, places_of(oracle, regions, asked.seed), _workers(asked, spec, _most_s(suite)),
                    wanted=asked.wanted, most_s=asked.minutes * 60 if asked.minutes else None, write=spec.shards is None,
                )  # fmt: skip
        except (pool.PoolError, Unanswered) as error:
            failure = error
        changed = changed_since(project, folder)
    if changed:
        were = f"{counted(len(changed), 'file')} {'was' if len(changed) == 1 else 'were'} changed meanwhile"
        to_stderr(f"note: {were}, e.g. {changed[0]}: these calibrators are of the text before")
    if failure is None or any((run.folder / SHARDS).glob("*.json")):
        with _told_if_stopped(lambda: _kept(run)):
            finish(run, project, asked.as_json)
    if failure:
        raise failure


def _cache() -> Path:
    """The cache's folder, which is there when this returns. Raises UsageError."""
    cache = platformdirs.user_cache_path("assay")
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        # of a folder in /proc it is not known before that nothing can be made there
        raise UsageError(f"{cache}, the cache's folder, can't be made ({error.strerror}): {ELSEWHERE}") from None
    return cache


def _environment(project: Path, cache: Path, python: Path | None) -> Path:
    """The interpreter of the environment with what the project's tests need."""
    if kept := cached_environment(project, cache, python=python):
        to_stderr(f"using the environment of an earlier run, {kept.parent.parent}")
        return kept
    to_stderr("making an environment with what the tests need (kept for the next time)")
    with _told_if_stopped(lambda: "stopped; nothing is lost: the environment is made again by the same command"):
        return make_environment(project, cache, python=python)


@contextlib.contextmanager
def _told_if_stopped(what: Callable[[], str]) -> Iterator[None]:
    """Where the block is interrupted, a line says what that means for what was done."""
    try:
        yield
    except KeyboardInterrupt:
        # a terminal has ^C there, behind a bar that has no end of line
        to_stderr(f"{chr(10) if sys.stderr.isatty() else ''}{what()}")
        raise


def _kept(run: Run) -> str:
    return (
        f"stopped after {counted(done_of(run.folder), 'place')}; what is finished is kept in {run.folder}. The same command goes on from "
        f"there; with --samples 1 it makes the calibrators of what there is, and `assay eval report {run.folder}` a report alone"
    )


def _begun(
    asked: Asked, model: AskedModel, project: Path, interpreter: Path, isolation: Isolation, cache: Path, content: str
) -> tuple[Run, Spec]:
    """The run of this question, begun or taken up, and what its workers need."""
    question = question_of(asked, model, project, interpreter, isolation, content)
    run = Run.begin(folder_of(asked, cache, question), question)
    if not asked.out and not (run.folder / SHARDS).is_dir() and (earlier := most_done(run.folder.parent, project)):
        count, folder = earlier
        to_stderr(
            f"begun anew, since what is asked is not what it was ({'; '.join(differences(Run(folder).asked(), question))}). "
            f"What was done before stays: {counted(count, 'place')} in {folder}"
        )
    return run, Spec(
        project, interpreter, isolation, cache / "oracle", asked.choice, Settings(), asked.tasks, asked.seed,
        content, model.fingerprint, None if asked.ray else run.folder / SHARDS,
    )  # fmt: skip


def _most_s(suite: Suite) -> float:
    """How long a worker may be at a place: five verdicts, each with a control, each by the whole suite, within the oracle's own bounds."""
    return 600 + 10 * (MIN_WALL_S + WALL_FACTOR * suite.seconds)


def _ask(question: str) -> None:
    # without a standard input there is None
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{question} There is nobody to ask: say --yes, or leave --sandbox none out")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was run")


def _suite(oracle: Oracle, left_out: Mapping[str, str]) -> Suite:
    """Run the suite, unless that was done for this very code, and say what it is worth. left_out: what the copy lacks, and why."""
    for note in left_out_notes(left_out):
        to_stderr(f"note: {note}")
    if not oracle.is_measured:
        to_stderr("running the tests as they are, to know which are steady and what they touch (kept for the next time)")
    baseline = oracle.baseline()
    for note in baseline.notes:
        to_stderr(f"note: {note}")
    if baseline.trouble:
        raise _Failure(_advised(baseline, oracle.suite.interpreter.path) + advice_on_links(left_out))
    coverage = oracle.coverage()
    if coverage.trouble:
        raise _Failure(coverage.trouble)
    for test, outcomes in list(baseline.flaky.items())[:NAMED]:
        to_stderr(f"note: left out, without a steady outcome: {test} ({outcomes})")
    failing = [(test, outcome) for test, outcome in baseline.outcomes.items() if outcome in ("failed", "error")]
    for test, outcome in failing[:NAMED]:
        to_stderr(f"note: {outcome} as the project is: {test}")
    if len(failing) > NAMED:
        to_stderr(f"note: and {len(failing) - NAMED:,} more that do not pass as the project is")
    seconds = baseline.start_wall_s + sum(baseline.wall_s.values())
    found = Suite(
        len(baseline.outcomes), len(baseline.flaky), len(coverage.tests), sum(map(len, coverage.tests.values())), round(seconds, 3)
    )
    passed = sum(outcome == "passed" for outcome in baseline.outcomes.values())
    to_stderr(
        f"{counted(found.tests, 'test')} with a steady outcome ({passed:,} pass), {found.flaky:,} without, {duration(seconds)} in all; "
        f"they execute {counted(found.covered_lines, 'line')} of {counted(found.files, 'file')}"
    )
    return found


def _advised(baseline: Baseline, python: Path) -> str:
    """Why the suite can't be an oracle, and what there is to do."""
    if UNSTEADY in baseline.trouble:
        named = "; ".join(f"{test} ({outcomes})" for test, outcomes in list(baseline.flaky.items())[:NAMED])
        return f"{baseline.trouble}: {named}. Such a suite can't say what a change did: make these steady, or take them out of it"
    if baseline.infrastructure:
        return f"{baseline.trouble}. That is the sandbox or the machine, not the tests: see assay doctor"
    if baseline.trouble == NO_TESTS:
        return f"{baseline.trouble} that pytest collects in the project's root"
    return f"{baseline.trouble}. The tests were run by {python}: name another with --python, or let one be made with --make-environment"


def _workers(asked: Asked, spec: Spec, most_s_of_one: float) -> Workers:
    """What answers places, here or on the cluster."""
    if asked.ray:
        address = asked.ray
        return lambda items: ray_pool.run(spec, items, address, workers=asked.workers, most_s=most_s_of_one)
    return lambda items: pool.run(spec, items, asked.workers or 1, most_s=most_s_of_one)
