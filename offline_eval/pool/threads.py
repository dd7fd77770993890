"""The pool for work that waits for others, such as a server that generates: threads of this process.

A thread takes its next item when it has finished the last, so that no more items are under way than there are threads.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import Generic

from .interface import Answer, Finished, Item, PoolError, Start

_LOOK_S = 0.2


class _Ended(Generic[Item]):
    """A thread has no more to do. why_not: it could not begin."""

    def __init__(self, why_not: str = "") -> None:
        self.why_not = why_not


def run(start: Start[Item, Answer], items: Iterable[Item], workers: int) -> Generator[Finished[Item, Answer], None, None]:
    """Every item with its answer, in the order in which they are finished. Each thread makes its own work function.

    Closing the iterator lets each thread finish its item and end. An exception of the work function loses its item.

    Raises
    ------
    PoolError: No thread can make a work function.
    """
    source, taking, stop = iter(items), threading.Lock(), threading.Event()
    said: queue.SimpleQueue[Finished[Item, Answer] | _Ended[Item]] = queue.SimpleQueue()

    def taken() -> Item | None:
        with taking:
            return None if stop.is_set() else next(source, None)

    def work() -> None:
        try:
            do = start()
        except Exception as error:
            said.put(_Ended(str(error) or type(error).__name__))
            return
        try:
            while (item := taken()) is not None:
                try:
                    said.put(Finished(item, do(item)))
                except Exception as error:
                    said.put(Finished(item, None, f"{type(error).__name__}: {error}"))
        finally:
            if close := getattr(do, "close", None):
                close()
            said.put(_Ended())

    # daemons: an interrupted run does not wait for a server that hangs
    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        left, reasons = workers, list[str]()
        while left:
            try:
                each = said.get(timeout=_LOOK_S)  # so that Ctrl-C is heard
            except queue.Empty:
                continue
            if isinstance(each, _Ended):
                left -= 1
                reasons += [each.why_not] if each.why_not else []
            else:
                yield each
        if len(reasons) == workers:
            raise PoolError(f"no worker can start: {reasons[0]}")
    finally:
        stop.set()
