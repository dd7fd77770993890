"""Calibrators for a project, from its own tests: regions of its code are completed as in the editor, and judged by the suite."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import platformdirs

from ...analysis.oracle.environment import cached_environment, make_environment
from ...analysis.oracle.interpreter import interpreter_of
from ...analysis.oracle.oracle import Oracle
from ...analysis.oracle.suite import SUITE_LIMITS
from ...analysis.sandbox.isolation.best_level import NoIsolation, best_level
from ...analysis.sandbox.isolation.jail import Jail
from ...analysis.sandbox.isolation.levels import Isolation
from ...calibration.control_characters import escaped_line
from ..errors import RunError, StudyError, UsageError
from ..model import StudyModel, model_of
from ..plan import tell
from ..progress import counted, tell_if_stopped, to_stderr
from ..run import Question, Run, Step, differences
from ..sets.regions import TASKS, Place, places_of, regions_of
from ..study import Study, Work, count_done, do, finish, has_records, stopped
from .answers import Answerer, PlaceAnswer
from .plan import ELSEWHERE, Options, Seen, check, plan, shown_folders
from .report import write_results
from .suite import changed_since, frozen, measured

PLAN_SCHEMA = "assay/repository-plan/1"


def _is_seen(answer: Any) -> bool:
    """Places whose tests see that the code is gone: at others nothing is asked."""
    return bool(answer["deletion"] == "seen")


# Asking and judging are one step: a place whose tests see nothing is not asked about.
ANSWERS = Step("answers", "place", PlaceAnswer, _is_seen)


def _study(project: Path | None) -> Study:
    """project: where calibrators are written; None writes none."""
    needed = ("project", "folder", "prompt_block", "interpreter", "isolation")
    return Study("repository", (ANSWERS,), needed, partial(write_results, project=project), lambda run: run.records(ANSWERS).read())


STUDY = _study(None)


def run_study(options: Options) -> None:
    """Complete a project's own code, judge it by its tests, and fit calibrators that its files are then shown.

    Raises UsageError, RunError, NotCopied, StudyError, NoIsolation, NoEnvironment, UnusableInterpreter, ModelError and OSError.
    """
    project = options.project.resolve()
    check(options, project)
    isolation = Isolation.NONE if options.unprotected else best_level()
    # not resolved: a link to the Python of an environment is what makes it that environment's
    interpreter = options.python.absolute() if options.python else interpreter_of(project)
    # told before the first program of the project's runs, also where that is only asked for its version
    if folders := shown_folders(options, isolation, interpreter):
        to_stderr(f"what the jail shows of this machine besides the system and a copy of the project: {', '.join(map(str, folders))}")
    if options.dry_run:
        found = plan(options, project, isolation, interpreter, folders, _seen(options, project, isolation, interpreter))
        tell({"schema": PLAN_SCHEMA, **found}, as_json=options.as_json)
        return
    if options.unprotected and not options.yes:
        _confirm(
            f"The tests of {escaped_line(str(project))}, and code that a model wrote, will run with no isolation, with your rights. Go on?"
        )
    cache = _cache()
    model = model_of(options.choice, TASKS, memory=options.memory)
    if options.make_environment:
        interpreter = _environment(project, cache / "environments", interpreter if options.python else None)
    _run(options, model, project, interpreter, isolation, cache)


def _run(options: Options, model: StudyModel, project: Path, interpreter: Path, isolation: Isolation, cache: Path) -> None:
    study = _study(project)
    # other machines have no folder of this one's
    source = nullcontext((project, dict[str, str]())) if options.pool.ray else frozen(project)
    allowed = SUITE_LIMITS
    if options.minutes:
        allowed = replace(allowed, wall_s=min(allowed.wall_s, options.minutes * 60))
    with (
        source as (folder, left_out),
        Oracle(folder, interpreter, Jail(isolation), cache=cache / "oracle", allowed=allowed, tell=to_stderr) as oracle,
    ):
        with tell_if_stopped(lambda: "stopped; nothing is lost: the tests' baseline is made again by the same command"):
            suite = measured(oracle, left_out | oracle.suite.copied.left_out)
        regions = regions_of(oracle, options.seed)
        if not regions:
            raise StudyError(f"the tests execute no statement of {project} that could be asked for; see docs/repository.md")
        run = _begun(options, cache, question_of(options, model, project, interpreter, isolation, oracle.content), project)
        suite.keep(run)
        to_stderr(f"{counted(len(regions), 'region')}; what is done is kept in {run.folder}")
        work: Work[Place] = Work(
            ANSWERS,
            places_of(oracle, regions, options.seed),
            Answerer(model, folder, project.name, interpreter, isolation, cache / "oracle", options.tasks, options.seed, oracle.content),
            options.pool,
            options.wanted,
            options.minutes * 60 if options.minutes else None,
            suite.max_place_s,
            "the project has no more than {places} whose tests see that the code is gone",
        )
        with tell_if_stopped(lambda: _stopped(run)):
            failure = do(run, work)
            changed = changed_since(project, folder)
        if failure and not has_records(STUDY, run):
            raise failure
    if changed:
        were = f"{counted(len(changed), 'file')} {'was' if len(changed) == 1 else 'were'} changed meanwhile"
        to_stderr(f"note: {were}, e.g. {changed[0]}: these calibrators are of the text before")
    with tell_if_stopped(lambda: _stopped(run)):
        finish(study, run, as_json=options.as_json)
    if failure:
        raise failure


def _stopped(run: Run) -> str:
    done = count_done(run, ANSWERS)
    hint = f". With `--samples {done}` the same command makes the calibrators of what is finished" if done else ""
    return f"{stopped(STUDY, run)}{hint}"


def question_of(options: Options, model: StudyModel, project: Path, interpreter: Path, isolation: Isolation, content: str) -> Question:
    """All that makes a run another one. content: `Oracle.content`."""
    return {
        **model.question(STUDY.name),
        "prompt_block": model.prompts["block"],
        "seed": options.seed,
        "project": project.name,
        "folder": str(project),
        "content": content,
        "tasks": list(options.tasks),
        "interpreter": str(interpreter),
        "isolation": str(isolation),
    }


def _folder_of(options: Options, cache: Path, question: Question) -> Path:
    """Where the run of a question is kept."""
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]
    return options.out or cache / "repositories" / f"{question['project']}-{digest}"


def _begun(options: Options, cache: Path, question: Question, project: Path) -> Run:
    """The run of this question, new or resumed."""
    run = Run.begin(_folder_of(options, cache, question), question)
    if not options.out and not run.records(ANSWERS).path.exists() and (earlier := _fullest(run.folder.parent, project)):
        count, before = earlier
        to_stderr(
            f"begun anew, since what is asked is not what it was ({'; '.join(differences(before.question(), question))}). "
            f"What was done before stays: {counted(count, 'place')} in {before.folder}"
        )
    return run


def _fullest(runs: Path, project: Path) -> tuple[int, Run] | None:
    """Of the runs on a project, whatever they asked, the one with the most answers, and how many those are."""
    found = []
    for path in runs.glob(f"{glob.escape(project.name)}-*/run.toml"):
        run = Run(path.parent)
        with contextlib.suppress(RunError, OSError):
            if run.question().get("folder") == str(project):
                found.append((len(run.records(ANSWERS).read()), run))
    most = max(found, key=lambda each: each[0], default=None)
    return most if most and most[0] else None


def _seen(options: Options, project: Path, isolation: Isolation, interpreter: Path) -> Seen:
    """What is known before a test has run. The interpreter is asked, and compiles a copy, in a jail also where the run would have none.

    The folder is known of the embedded model and of `Options.out` alone: others may be slow to open. Raises UnusableInterpreter, NotCopied,
    UsageError, and RunError where the folder holds another question.
    """
    given = Seen(run=options.out, done=_done(options.out) if options.out else None)
    cache = platformdirs.user_cache_path("assay")
    try:
        jail = Jail(best_level())
    except NoIsolation:
        return given
    if options.make_environment:
        return given
    with Oracle(project, interpreter, jail, cache=cache / "oracle") as oracle:
        python, content = oracle.suite.interpreter, oracle.content
    given = replace(given, pytest=python.pytest)
    if options.choice.where is not None:
        return given
    question = question_of(options, model_of(options.choice, TASKS, memory=options.memory), project, interpreter, isolation, content)
    run = Run(_folder_of(options, cache, question))
    if (run.folder / "run.toml").is_file() and run.question() != question:
        raise run.asks_something_else(question)
    return replace(given, run=run.folder, done=_done(run.folder))


def _done(folder: Path) -> int:
    return count_done(Run(folder), ANSWERS)


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
    with tell_if_stopped(lambda: "stopped; nothing is lost: the environment is made again by the same command"):
        return make_environment(project, cache, python=python)


def _confirm(question: str) -> None:
    """Raises UsageError unless the user says yes."""
    # without a standard input there is None
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(f"{question} There is nobody to ask: say --yes, or leave --sandbox none out")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was run")
