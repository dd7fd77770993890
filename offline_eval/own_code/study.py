"""Numbers for one model, from code on this machine: `assay calibrate model`, and `assay calibrate repo --event exact_match`.

Lines are taken out of the code and completed as in the editor. No code is run. A run is of one model and of one scope: all projects, or
one. The same command goes on with it, at any later time, and what was asked before counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

import platformdirs

from ...analysis.lines.draw import LANGUAGES
from ...calibration.project_folder import PROJECT_FOLDER
from ...inference.backends import LLAMA_CPP
from ...inference.completion.task import Task
from ...inference.found.bandwidth import runs_on_gpu
from ...inference.opening import ModelChoice
from ...suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ..asked_line import Asking
from ..calibration.draw import Gaps
from ..errors import UsageError
from ..model import StudyModel, model_of
from ..pool.choice import Pool
from ..progress import counted, tell_if_stopped, to_stderr
from ..run import Question, Run, check_writable
from ..sets.lines import TASKS
from ..study import Study, Work, do, finish, samples_of, stopped
from .draw import ANSWERS, OwnCode, OwnPlace, answer_own, in_turn, own_places, public_places
from .files import Authorship, Folder, authorship, current_folder
from .numbers import is_enough, well_known
from .report import Ending, write_numbers

_TICK_S = 0.25
# A thread of a busy machine may wait so long for its turn.
_MAX_TICK_S = 2.0


class ActiveClock:
    """Seconds since the block began in which the process was not stopped. Use as a context manager, and call it for the time."""

    def __init__(self) -> None:
        self._active, self._seen = 0.0, time.monotonic()
        self._looking, self._ended = threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._tick, name="assay-clock", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()

    def __call__(self) -> float:
        """The time."""
        with self._looking:
            now = time.monotonic()
            self._active += min(now - self._seen, _MAX_TICK_S)
            self._seen = now
            return self._active

    def _tick(self) -> None:
        while not self._ended.wait(_TICK_S):
            self()


DEFAULT_MINUTES = 5.0
# How many more answers there are before it is looked again whether they are enough; that takes a second.
_LOOK_AFTER = 1.2
_MIN_LOOK = 40
# Each has a thread and a copy of what the model works with.
_MAX_WORKERS = 4


def _study(ending: Ending | None) -> Study:
    """ending: of the command that writes calibrators; None writes none."""
    return Study("own_code", (ANSWERS,), ("scope",), partial(write_numbers, ending=ending), lambda run: run.records(ANSWERS).read())


STUDY = _study(None)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants.

    folders: whose code is asked about, in this order, besides the public code. project: the one that the calibrators are for; None: for
    all. samples: at most so many places; None: until it is enough.
    """

    choice: ModelChoice = field(default_factory=ModelChoice)
    folders: Sequence[Path] = ()
    project: Path | None = None
    minutes: float | None = DEFAULT_MINUTES
    samples: int | None = None
    tasks: Sequence[Task] = TASKS
    seed: int = 0
    out: Path | None = None
    pool: Pool = field(default_factory=Pool)
    memory: Scope = DEFAULT_SCOPE
    as_json: bool = False


def run_study(asked: Asked) -> None:
    """Ask about places until it is enough or time is up, then fit calibrators and write them.

    Raises UsageError, RunError, StudyError, PoolError, ModelError and OSError.
    """
    with tell_if_stopped(lambda: "stopped before anything was asked"):
        folders = [_folder(path) for path in asked.folders]
        authors = [authorship(folder, LANGUAGES) for folder in folders]
        model = model_of(asked.choice, TASKS, memory=asked.memory)
        run = _begun(asked, model)
        for line in _sources(asked, folders, authors):
            to_stderr(line)
    with ActiveClock() as clock, tell_if_stopped(lambda: _stopped(run)):
        places = _Places(asked, run, folders, authors)
        work: Work[OwnPlace] = Work(
            ANSWERS,
            iter(places),
            Asking(model, Gaps(), answer_own, OwnCode({folder.name: folder.root for folder in folders})),
            _pool(asked),
            asked.samples,
            asked.minutes * 60 if asked.minutes else None,
            waits=bool(asked.choice.servers),
            clock=clock,
        )
        before = len(run.records(ANSWERS).read())
        failure = do(run, work)
        after = len(run.records(ANSWERS).read())
        ended = "samples" if asked.samples and after >= asked.samples else places.ended
        finish(_study(Ending(asked.project, ended, asked.minutes, after - before)), run, as_json=asked.as_json)
    if failure:
        raise failure


def folders_of(named: Sequence[Path], *, only_current: bool) -> list[Path]:
    """The current project, then the folders that are named. only_current: the first of them alone, which is a project to fit for.

    Raises UsageError where that is none.
    """
    given = [path.resolve() for path in named]
    for path in given:
        check_no_home(path)
    if only_current:
        if len(given) > 1:
            raise UsageError("--project fits for one project: name one folder, or none for the current one")
        if not given and (current := current_folder()) is None:
            raise UsageError(f"{Path.cwd()} is no project's folder: go to one, or name it")
        return given or [current.root for current in [current_folder()] if current]
    current = current_folder()
    return list(dict.fromkeys([*([current.root] if current else []), *given]))


def check_no_home(path: Path) -> None:
    """Raises UsageError for a home folder, or what home folders are in: what is below one is not one project."""
    if Path.home().resolve().is_relative_to(path):
        raise UsageError(f"{path} is your home folder, or has it: name the folder of a project")


@dataclass(slots=True)
class _Places:
    """The places that are asked about, until they are enough. ended: why there are no more. exhausted: folders without further places."""

    asked: Asked
    run: Run
    folders: Sequence[Folder]
    authors: Sequence[Authorship]
    ended: str = "time"
    exhausted: int = 0

    def __iter__(self) -> Iterator[OwnPlace]:
        asked = self.asked
        own = [self._own(folder, authors) for folder, authors in zip(self.folders, self.authors, strict=True)]
        known = {record["id"] for record in self.run.records(ANSWERS).read()}
        look_at = max(_MIN_LOOK, len(known))
        for place in in_turn(own, None if asked.project else public_places(asked.seed, asked.tasks)):
            if len(known) >= look_at and asked.samples is None:
                if self._is_enough():
                    self.ended = "enough"
                    return
                look_at = int(len(known) * _LOOK_AFTER) + 1
            if place.id not in known:
                known.add(place.id)
                yield place
        self.ended = "all"

    def _own(self, folder: Folder, authors: Authorship) -> Iterator[OwnPlace]:
        yield from own_places(folder, authors, self.asked.seed, self.asked.tasks)
        self.exhausted += 1

    def _is_enough(self) -> bool:
        samples = samples_of(self.run.question(), self.run.records(ANSWERS).read())
        wanted = frozenset[str]().union(*(each.languages for each in self.authors))
        if self.exhausted == len(self.folders):
            wanted &= well_known(samples, self.asked.tasks)  # of the others there are no more places
        return is_enough(samples, self.asked.tasks, wanted or {"python"})  # the public code's


def _folder(path: Path) -> Folder:
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder: name one whose code the model is to be asked about")
    return Folder(path)


def _pool(asked: Asked) -> Pool:
    """As many processes as the machine has room for, where the user names no number and the weights are shared between them."""
    if asked.pool.workers or asked.pool.ray or asked.choice.servers or asked.choice.backend is not LLAMA_CPP or runs_on_gpu():
        return asked.pool
    return Pool(min(_MAX_WORKERS, max(1, (os.cpu_count() or 2) // 2)))


def _begun(asked: Asked, model: StudyModel) -> Run:
    question: Question = {
        **model.question(STUDY.name),
        "scope": str(asked.project) if asked.project else "all projects",
        "seed": asked.seed,
        "tasks": list(asked.tasks),
    }
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]
    if asked.project:
        check_writable(asked.project / PROJECT_FOLDER, "its calibrators are kept there")
    folder = asked.out or platformdirs.user_cache_path("assay") / "own_code" / f"{model.id[:8]}-{digest}"
    check_writable(folder, "what the model answered is kept there: name another with --out")
    return Run.begin(folder, question)


def _sources(asked: Asked, folders: Sequence[Folder], authors: Sequence[Authorship]) -> Iterator[str]:
    """What is asked about, for people."""
    for folder, by in zip(folders, authors, strict=True):
        if folder.is_installed:
            yield f"note: {folder.root} is an installed package's: a model that was trained on it is more often right there than in yours"
        if by.why_unknown:
            yield f"{folder.root}: {counted(len(by.others), 'file')}, newest first; whose they are is not known: {by.why_unknown}"
        else:
            yield (
                f"{folder.root}: {counted(len(by.yours), 'file')} with changes of yours ({by.email}) first, newest first, then "
                f"{counted(len(by.others), 'file')} of others"
            )
    if not asked.project:
        yield "public code, which comes with Assay: in turn with yours"


def _stopped(run: Run) -> str:
    return f"{stopped(STUDY, run)}; `--minutes 0.1` fits calibrators to what is there"
