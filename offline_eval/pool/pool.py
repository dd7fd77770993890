"""Which pool does the work; and the one of processes on this machine: a worker that dies is replaced, and its item is tried again.

concurrent.futures loses all work under way when one of its processes is killed, and joblib ends. A study of hours can afford neither. Each
worker makes its work function once (it holds a model, perhaps a sandbox) and then gets one item at a time over its own pipe. Workers end
with their parent, however the parent ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Generic

from . import ray, threads
from .interface import MAX_START_S, MAX_TRIES, Answer, Finished, Item, PoolError, Start

# So many requests are under way at a server unless the user says otherwise; more, up to the second, where it answers them faster.
WAITING, MOST_WAITING = 4, 32


@dataclass(frozen=True, slots=True)
class Pool:
    """Processes of this machine or, where an address is given, of the Ray cluster there; threads for work that waits for a server.

    workers: how many; by default one process here, four threads or as many as a server takes, and on a cluster one for each CPU but one.
    """

    workers: int | None = None
    ray: str | None = None

    def check(self) -> None:
        """Raises PoolError where nothing listens at the cluster's address."""
        if self.ray:
            ray.check_reachable(self.ray)

    def run(
        self, start: Start[Item, Answer], items: Iterable[Item], *, max_item_s: float | None = None, waits: bool = False
    ) -> Generator[Finished[Item, Answer], None, None]:
        """Every item with its answer, in the order in which they are finished. See `run`.

        waits: the work function waits for a server, which has time limits of its own.
        """
        if self.ray:
            return ray.run(start, items, self.ray, workers=self.workers, max_item_s=max_item_s)
        if waits:
            return threads.run(start, items, self.workers or WAITING, most=self.workers or MOST_WAITING)
        return run(start, items, self.workers or 1, max_item_s=max_item_s)


_PR_SET_PDEATHSIG = 1
_SAFE_PATH = "PYTHONSAFEPATH"
# A worker that was told to end gets this long before it is killed.
_GRACE_S = 5.0
_LOOK_S = 1.0


@dataclass(slots=True)
class _Worker(Generic[Item]):
    process: SpawnProcess
    pipe: Connection
    since: float
    given: tuple[Item, int] | None = None
    ready: bool = False
    ended: bool = False

    def give(self, given: tuple[Item, int]) -> None:
        """Send an item, of which this is try number given[1]."""
        self.given, self.since = given, time.monotonic()
        with suppress(OSError):  # it has ended: whoever waits for its answer sees that
            self.pipe.send(given[0])

    def is_late(self, max_item_s: float | None) -> bool:
        """Whether it takes too long to start, or for its item."""
        bound = (max_item_s if self.given else None) if self.ready else MAX_START_S
        return bound is not None and time.monotonic() - self.since > bound


def run(
    start: Start[Item, Answer], items: Iterable[Item], workers: int, *, max_item_s: float | None = None, tries: int = MAX_TRIES
) -> Generator[Finished[Item, Answer], None, None]:
    """Every item with its answer, in the order in which they are finished.

    Closing the iterator ends the workers at once. An exception of the work function loses its item, which is not tried again.

    Parameters
    ----------
    items: Taken one by one as workers come free, so they may be made on the way, and their iterator may end when time is up.
    max_item_s: A worker that takes longer for one item is killed, as if it had died.
    tries: How often an item is given to a worker that dies of it.

    Raises
    ------
    PoolError: The work function can't be made, or workers die before it is.
    """
    new, again = ((item, 1) for item in items), deque[tuple[Item, int]]()
    staff = [_hired(start) for _ in range(workers)]
    stillborn = 0
    try:
        while True:
            for worker in staff:
                if worker.ready and worker.given is None and (given := again.popleft() if again else next(new, None)):
                    worker.give(given)
            if all(worker.ready and worker.given is None for worker in staff):
                return
            heard = wait([worker.pipe for worker in staff], timeout=_LOOK_S)
            for number, worker in enumerate(staff):
                late = worker.is_late(max_item_s)
                if worker.pipe not in heard and not late:
                    continue
                if worker.pipe in heard and (said := _said(worker)) is not None:
                    kind, value = said
                    if kind == "failed":
                        raise PoolError(f"a worker can't start: {value}")
                    if kind == "ready":
                        worker.ready, stillborn = True, 0
                        continue
                    assert worker.given is not None, "only what was given is answered"
                    item, worker.given = worker.given[0], None
                    yield Finished(item, value) if kind == "answer" else Finished(item, None, value)
                    continue
                stillborn += not worker.ready
                if stillborn > MAX_TRIES:
                    raise PoolError(f"{stillborn} workers died before they could begin ({_how_it_ended(worker.process)})")
                reason = f"no answer in {max_item_s:.0f} s" if late else f"its worker died: {_how_it_ended(worker.process)}"
                _end(worker)
                staff[number] = _hired(start)
                if worker.given and worker.given[1] < tries:
                    again.append((worker.given[0], worker.given[1] + 1))
                elif worker.given:
                    yield Finished(worker.given[0], None, f"{reason} ({tries} times)")
    finally:
        _end(*staff)


def _hired(start: Start[Item, Answer]) -> _Worker[Item]:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(start, theirs), daemon=False)
    with _import_nothing_from_here():
        process.start()
    theirs.close()
    return _Worker(process, ours, time.monotonic())


@contextmanager
def _import_nothing_from_here() -> Iterator[None]:
    """Let a Python that starts meanwhile look for no module in the current folder: that may be a project, with a multiprocessing.py."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _said(worker: _Worker[Any]) -> tuple[str, Any] | None:
    """What a worker says; None where it has ended."""
    try:
        said: tuple[str, Any] = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join(_GRACE_S)
        return None
    return said


def _how_it_ended(process: SpawnProcess) -> str:
    code = process.exitcode
    if code is None:
        return "it hangs"
    with suppress(ValueError):
        if code < 0:
            return f"killed by {signal.Signals(-code).name}" + (" (out of memory?)" if code == -signal.SIGKILL else "")
    return f"exit code {code}"


def _end(*workers: _Worker[Any]) -> None:
    """The workers' processes have ended when this returns: by themselves, for their pipes are closed, or killed.

    All are told before any is waited for, and it may be interrupted and called again: who presses Ctrl-C twice leaves none of them alive.
    """
    left = [worker for worker in workers if not worker.ended]
    try:
        for worker in left:
            worker.pipe.close()
            if worker.given is not None or not worker.ready:
                worker.process.terminate()
        for worker in left:
            worker.process.join(_GRACE_S)
    finally:
        for worker in left:
            worker.process.kill()
        for worker in left:
            worker.process.join()
            worker.ended = True
            worker.process.close()


def _work(start: Start[Any, Any], pipe: Connection) -> None:
    """What a worker does."""
    # Ctrl-C reaches every process of a terminal; the parent decides. Not SIG_IGN, which programs that are started from here would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what the work function holds is put away
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        work = start()
    except Exception as error:
        pipe.send(("failed", str(error) or type(error).__name__))
        return
    try:
        pipe.send(("ready", None))
        while True:
            item = pipe.recv()
            try:
                said = "answer", work(item)
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                said = "lost", f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
            pipe.send(said)
    except (EOFError, OSError):
        pass  # nobody listens any more
    finally:
        if close := getattr(work, "close", None):
            close()
