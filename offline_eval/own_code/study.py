"""Numbers for one model, from code on this machine: `assay calibrate model`, and `assay calibrate repo --event exact_match`.

Lines are taken out of the code and completed as in the editor. No code is run. A run is of one model and of one scope: all projects, or
one. The same command goes on with it, at any later time, and what was asked before counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NotRequired, Self

import platformdirs

from ...analysis.lines.draw import LANGUAGES
from ...calibration.project_folder import PROJECT_FOLDER
from ...calibration.registry import Registry, load_registry
from ...inference.backends import LLAMA_CPP
from ...inference.completion.task import Task
from ...inference.found.bandwidth import runs_on_gpu
from ...inference.opening import ModelChoice
from ...suggestion.languages import language_of
from ...suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ..answers import AnsweredItem, Generated
from ..asked_line import Asking, Gaps, OpenModel, answer_at
from ..errors import UsageError
from ..model import StudyModel, model_of
from ..pool.pool import Pool
from ..progress import counted, tell_if_stopped, to_stderr
from ..run import Question, Run, Step, check_writable
from ..sets.lines import TASKS, Place, places_in
from ..sets.projects import SourceFile, path_in_project
from ..study import Study, Work, do, finish, samples_of, stopped
from .files import Author, Authorship, Folder, authorship, current_folder, public_code, source_file
from .numbers import is_enough, well_known
from .report import Ending, write_numbers

# Of one file, so that a long one does not speak for a project.
MAX_PER_FILE = 12
# How many places a turn has: a project's memory is read anew in each.
_OWN_TURN, _PUBLIC_TURN = 6, 3
_MAX_PUBLIC = 150


class OwnAnswer(AnsweredItem):
    """The record of a place. author: who wrote the file, "public" for the shipped code."""

    language: str
    author: NotRequired[str]
    generations: list[Generated]


def _has_gap(answer: Any) -> bool:
    return bool(answer["generations"])


ANSWERS = Step("answers", "place", OwnAnswer, _has_gap)


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """A place, and who wrote its file."""

    place: Place
    author: Author | str

    @property
    def id(self) -> str:
        """The place's."""
        return self.place.id


def own_places(folder: Folder, authors: Authorship, seed: int, tasks: Sequence[Task] = TASKS) -> Iterator[OwnPlace]:
    """The places of a folder's files, in the order of these. Files are read on the way."""
    for path, author in authors.in_order:
        file = source_file(folder, path)
        for place in places_in(folder.name, [file] if file else [], MAX_PER_FILE, seed, tasks, documented=False):
            yield OwnPlace(place, author)


def public_places(seed: int, tasks: Sequence[Task] = TASKS) -> Iterator[OwnPlace]:
    """Places of the shipped code, some of each project in turn. Raises StudyError."""

    def of(name: str, files: Iterable[SourceFile]) -> Iterator[OwnPlace]:
        places = places_in(name, files, _MAX_PUBLIC, seed, tasks)
        random.Random(f"{seed}:{name}").shuffle(places)
        yield from (OwnPlace(place, "public") for place in places)

    yield from turns([(of(name, files), _PUBLIC_TURN) for name, files in public_code().items()])


def in_turn(own: Sequence[Iterator[OwnPlace]], public: Iterator[OwnPlace] | None) -> Iterator[OwnPlace]:
    """The places of the first folder, those of the user's others in turn, and those of public code.

    So a language of several folders is soon known of more than one project.
    """
    first, others = own[:1], turns([(each, _OWN_TURN) for each in own[1:]])
    return turns([*((each, _OWN_TURN) for each in first), (others, _OWN_TURN), *([(public, _PUBLIC_TURN)] if public else [])])


def turns(sources: Sequence[tuple[Iterator[OwnPlace], int]]) -> Iterator[OwnPlace]:
    """So many of each in turn, until all are at their end."""
    waiting = deque(sources)
    while waiting:
        source, count = waiting.popleft()
        taken = list(islice(source, count))
        yield from taken
        if len(taken) == count:
            waiting.append((source, count))


@dataclass(frozen=True, slots=True)
class OwnCode:
    """Path and text of the files of a project: of a folder, by its name, or of the shipped code."""

    folders: Mapping[str, Path]

    def __call__(self, name: str) -> Iterable[tuple[str, str]]:
        """Raises ProjectTooLarge and StudyError."""
        if name in self.folders:
            return Folder(self.folders[name]).code()
        return ((path_in_project(file.path), file.text) for file in _public()[name])


@cache
def _public() -> dict[str, list[SourceFile]]:
    return public_code()


def answer_own(asked: OpenModel[Gaps], own: OwnPlace) -> dict[str, Any]:
    """The answer of one place, as of `assay eval calibration`. Raises what `Model.generate` raises."""
    return {**answer_at(asked, own.place), "language": language_of(own.place.path), "author": own.author}


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
class Options:
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


def run_study(options: Options) -> None:
    """Ask about places until it is enough or time is up, then fit calibrators and write them.

    Raises UsageError, RunError, StudyError, PoolError, ModelError and OSError.
    """
    with tell_if_stopped(lambda: "stopped before anything was asked"):
        folders = [_folder(path) for path in options.folders]
        authors = [authorship(folder, LANGUAGES) for folder in folders]
        model = model_of(options.choice, TASKS, memory=options.memory)
        run = _begun(options, model)
        for line in _sources(options, folders, authors):
            to_stderr(line)
    with ActiveClock() as clock, tell_if_stopped(lambda: _stopped(run)):
        places = _Places(options, run, folders, authors, load_registry(options.project))
        work: Work[OwnPlace] = Work(
            ANSWERS,
            iter(places),
            Asking(model, Gaps(), answer_own, OwnCode({folder.name: folder.root for folder in folders})),
            _pool(options),
            options.samples,
            options.minutes * 60 if options.minutes else None,
            waits=bool(options.choice.servers),
            clock=clock,
        )
        before = len(run.records(ANSWERS).read())
        failure = do(run, work)
        after = len(run.records(ANSWERS).read())
        if failure and not after:
            raise failure
        ended = "samples" if options.samples and after >= options.samples else places.ended
        finish(_study(Ending(options.project, ended, options.minutes, after - before)), run, as_json=options.as_json)
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

    asked: Options
    run: Run
    folders: Sequence[Folder]
    authors: Sequence[Authorship]
    registry: Registry
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
        return is_enough(samples, self.asked.tasks, wanted or {"python"}, self.registry)  # the public code's


def _folder(path: Path) -> Folder:
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder: name one whose code the model is to be asked about")
    return Folder(path)


def _pool(options: Options) -> Pool:
    """As many processes as the machine has room for, where the user names no number and the weights are shared between them."""
    if options.pool.workers or options.pool.ray or options.choice.servers or options.choice.backend is not LLAMA_CPP or runs_on_gpu():
        return options.pool
    return Pool(min(_MAX_WORKERS, max(1, (os.cpu_count() or 2) // 2)))


def _begun(options: Options, model: StudyModel) -> Run:
    question: Question = {
        **model.question(STUDY.name),
        "scope": str(options.project) if options.project else "all projects",
        "seed": options.seed,
        "tasks": list(options.tasks),
    }
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()[:12]
    if options.project:
        check_writable(options.project / PROJECT_FOLDER, "its calibrators are kept there")
    folder = options.out or platformdirs.user_cache_path("assay") / "own_code" / f"{model.id[:8]}-{digest}"
    check_writable(folder, "what the model answered is kept there: name another with --out")
    return Run.begin(folder, question)


def _sources(options: Options, folders: Sequence[Folder], authors: Sequence[Authorship]) -> Iterator[str]:
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
    if not options.project:
        yield "public code, which comes with Assay: in turn with yours"


def _stopped(run: Run) -> str:
    return f"{stopped(STUDY, run)}; `--minutes 0.1` fits calibrators to what is there"
