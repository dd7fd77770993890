"""The pool for work that waits for others, such as a server that generates: threads of this process.

A thread takes its next item when it has finished the last, so that no more items are under way than there are threads.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass

from .interface import Answer, Finished, Item, PoolError, Start

_LOOK_S = 0.2
# Twice the threads must answer so much faster to be kept growing, by so many items of each.
_GAIN, _ROUND = 1.2, 3


@dataclass(frozen=True, slots=True)
class _Ended:
    """A thread has no more to do. why_not: it could not begin. failure: of whatever makes the items."""

    why_not: str = ""
    failure: Exception | None = None


def run(
    start: Start[Item, Answer], items: Iterable[Item], workers: int, most: int | None = None
) -> Generator[Finished[Item, Answer], None, None]:
    """Every item with its answer, in the order in which they are finished. Each thread makes its own work function.

    most: threads are doubled up to so many, as long as twice as many answer faster; those that did not are ended. None: never.

    Closing the iterator lets each thread finish its item and end. An exception of the work function loses its item. A thread that can't
    make a work function leaves its share to the others.

    Raises
    ------
    PoolError: No thread can make a work function.
    Exception: what `items` raises, once the items under way are finished.
    """
    source, taking, stop = iter(items), threading.Lock(), threading.Event()
    most, running, allowed = most or workers, 0, workers
    said: queue.SimpleQueue[Finished[Item, Answer] | _Ended] = queue.SimpleQueue()

    def taken() -> Item | None:
        nonlocal running
        with taking:
            if running > allowed:
                running -= 1
                return None
            return None if stop.is_set() else next(source, None)

    def work() -> None:
        try:
            do = start()
        except Exception as error:
            said.put(_Ended(str(error) or type(error).__name__))
            return
        failure = None
        try:
            while (item := taken()) is not None:
                try:
                    said.put(Finished(item, do(item)))
                except Exception as error:
                    said.put(Finished(item, None, f"{type(error).__name__}: {error}"))
        except Exception as error:
            failure = error
            stop.set()
        with suppress(Exception):  # every item of it is finished
            getattr(do, "close", lambda: None)()
        said.put(_Ended(failure=failure))

    def begin(count: int) -> None:
        nonlocal running, allowed
        with taking:
            running, allowed = running + count, max(allowed, running + count)
        for _ in range(count):
            # a daemon: an interrupted run does not wait for a server that hangs
            threading.Thread(target=work, daemon=True).start()

    begin(workers)
    # Of a round: answers, from the first on, which waited for a model to be opened; and how fast the round before was.
    finished, since, rate = 0, 0.0, 0.0
    try:
        ended: list[_Ended] = []
        while len(ended) < workers:
            try:
                each = said.get(timeout=_LOOK_S)  # so that Ctrl-C is heard
            except queue.Empty:
                continue
            if isinstance(each, _Ended):
                ended.append(each)
            else:
                yield each
                if allowed < most and not ended and each.answer is not None:
                    since = since or time.monotonic()
                    finished += 1
            if finished > _ROUND * allowed:
                before, rate, finished = rate, (finished - 1) / max(time.monotonic() - since, 1e-9), 0
                since = 0.0
                if rate > _GAIN * before:
                    more = min(allowed, most - allowed)
                    begin(more)
                    workers += more
                else:
                    most = allowed = allowed // 2
        if failure := next((each.failure for each in ended if each.failure), None):
            raise failure
        if all(each.why_not for each in ended):
            raise PoolError(f"no worker can start: {ended[0].why_not}")
    finally:
        stop.set()
