"""What `assay calibrate repo` is asked to do: checked before anything runs, and shown by --dry-run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from ...analysis.oracle.interpreter import existing, mounts_of
from ...analysis.sandbox.isolation.levels import Isolation
from ...analysis.sandbox.isolation.tree import entries_below
from ...analysis.sandbox.isolation.view import interpreter_folders
from ...calibration.project_folder import PROJECT_FOLDER, link_in
from ...inference.completion.task import Task
from ...inference.opening import ModelChoice
from ...suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ..errors import UsageError
from ..pool.pool import Pool
from ..run import check_writable, is_free
from ..sets.regions import TASKS

PLACES = 200
# How another folder is chosen for the cache.
ELSEWHERE = "let XDG_CACHE_HOME name a folder elsewhere"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a dry run finds out without running a test; None for what it can't know.

    pytest: its version. run: the folder of the run. done: how many places it has whose tests see the code gone.
    """

    pytest: str | None = None
    run: Path | None = None
    done: int | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What the user wants. samples: how many places whose tests see the code gone; with minutes alone there is no such bound.

    out: the run's folder, by default one in the user's cache that belongs to this very question. yes: the user is not asked anything.
    """

    project: Path
    choice: ModelChoice
    samples: int | None = None
    minutes: float | None = None
    python: Path | None = None
    make_environment: bool = False
    pool: Pool = field(default_factory=Pool)
    unprotected: bool = False
    dry_run: bool = False
    yes: bool = False
    seed: int = 0
    tasks: tuple[Task, ...] = TASKS
    out: Path | None = None
    memory: Scope = DEFAULT_SCOPE
    as_json: bool = False

    @property
    def wanted(self) -> int | None:
        """How many places are to be asked; None where the clock alone decides."""
        return self.samples or (None if self.minutes else PLACES)


def check(options: Options, project: Path) -> None:
    """Check what would otherwise fail only after the tests have run for minutes. Raises UsageError, UnusableInterpreter and PoolError."""
    for path in filter(None, (project, options.python, options.out)):
        if not _is_text(path):
            raise UsageError(f"the path {str(path)!r} is not UTF-8, so a run can't write it down: rename it")
    if not project.is_dir():
        raise UsageError(f"{options.project} is not a folder; name the root of a Python project")
    if not any(entry.name.endswith(".py") for entry in entries_below(project)):
        raise UsageError(
            f"{options.project} holds no Python file, and only pytest's tests can be run: --event exact_match needs none, in any language"
        )
    if options.python is not None:
        existing(options.python.absolute())
    if (linked := link_in(project)) is not None:
        raise UsageError(f"{linked} is a symbolic link to {linked.readlink()}, and calibrators are written only into the project itself")
    check_writable(project / PROJECT_FOLDER, "calibrators are written there")
    cache = platformdirs.user_cache_path("assay").resolve()
    if cache.is_relative_to(project):
        raise UsageError(f"{cache}, the cache, is inside the project, which a run must not change: {ELSEWHERE}")
    check_writable(cache, f"the cache is kept there: {ELSEWHERE}")
    if options.out is not None:
        out = options.out.resolve()
        if out.is_relative_to(project):
            raise UsageError(f"{options.out} is inside the project, which a run must not change: name a folder elsewhere")
        if out.is_dir() and not is_free(out) and not (out / "run.toml").is_file():
            raise UsageError(f"{options.out} is not empty and not a run (it has no run.toml); name another folder")
        check_writable(out, "the run is kept there")
    options.pool.check()


def _is_text(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def shown_folders(options: Options, isolation: Isolation, interpreter: Path) -> tuple[Path, ...] | None:
    """The folders of the machine that the tests see besides the system's and the copy; None where they see all, or it is not known yet.

    Runs nothing. Raises UnusableInterpreter.
    """
    if options.make_environment or isolation is Isolation.NONE:
        return None
    shown = (mount.source for mount in mounts_of(existing(interpreter), isolation))
    return tuple(dict.fromkeys((*shown, *interpreter_folders())))


def plan(
    options: Options, project: Path, isolation: Isolation, interpreter: Path, folders: tuple[Path, ...] | None, seen: Seen
) -> dict[str, Any]:
    """What would be executed, where, and what would be written; null where there is none. folders: from `shown_folders`."""
    return {
        "project": str(project),
        "with_your_rights": [
            *(["pip makes an environment, with a network: the project's build code runs"] if options.make_environment else []),
            *(["the tests, with NO isolation, and what the model writes"] if isolation is Isolation.NONE else []),
        ],
        "tests": "the project's pytest suite, three times whole and once watched line by line; then, at each place, those that touch it, "
        "with the code taken out and with what the model wrote",
        "make_environment": options.make_environment,
        "interpreter": None if options.make_environment else str(interpreter),
        "pytest": seen.pytest,
        "folders": None if folders is None else [str(folder) for folder in folders],
        "isolation": str(isolation),
        "places": options.wanted,
        "minutes": options.minutes,
        "tasks": list(options.tasks),
        "workers": options.pool.workers if options.pool.ray else options.pool.workers or 1,
        "ray": options.pool.ray,
        "model": options.choice.where,
        "memory": options.memory,
        "run": str(seen.run or platformdirs.user_cache_path("assay") / "repositories"),
        "places_done": seen.done,
        "calibrators": str(project / PROJECT_FOLDER),
    }
