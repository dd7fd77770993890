"""Several generations of one prompt at once, in one decode per step, and looking up what memories say while a model decodes."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from ..generating import Generating
from ..model import StopReason
from ..stopping.cancel_or_timeout import StopCheck
from .cache import Cache
from .session import Session


@contextmanager
def looking_ahead(session: Session, several: Iterable[Generating]) -> Iterator[None]:
    """Look up what memories say behind these texts while the model computes, on a core that it leaves. It is done when the block is."""
    remembering = [each for each in several if each.remembers] if session.leaves_a_core else []
    if not remembering:
        yield
        return

    def look_ahead() -> None:
        for each in remembering:
            each.look_ahead()

    looked = _lookups().submit(look_ahead)
    try:
        yield
    finally:
        looked.result()


@functools.cache
def _lookups() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "project-memory")


def generate_several(cache: Cache, several: Sequence[Generating], max_tokens: int, stop_check: StopCheck) -> StopReason | None:
    """Continue the live sequence with each generation, in one decode per step for all. Returns why `stop_check` ended them, or None.

    All tokens of each but the last are in the live sequence (`begin_several`).

    max_tokens: tokens that each may have, with which room in the cache is planned. As many run at once as there are forks and cells;
    where one ends the next takes its place. Afterwards the live sequence is that of the first generation, unless the others needed its
    cells.
    """
    session, length, begun = cache.session, len(cache.tokens), len(several[0].sampled) - 1
    waiting = deque([each for each in several if each.ended is None])
    running: dict[int, Generating] = {}
    free = list(range(session.forks, 0, -1))
    # The first generation's fork, which stays when that has ended, and the cells that it then takes.
    first_fork = ended_cells = 0
    stopped: StopReason | None = None
    try:
        while waiting or running:
            if stopped := stop_check():
                break
            while waiting and free and length + ended_cells + (len(running) + 1) * (max_tokens - 1) <= session.cells:
                fork = free.pop()
                running[fork] = waiting.popleft()
                if running[fork] is several[0]:
                    first_fork = fork
                cache.fork(fork, length)
            if not running:
                session.cut(first_fork, 0)
                free.append(first_fork)
                first_fork = ended_cells = 0
                continue
            forks = list(running)
            last = [running[fork].sampled[begun:] for fork in forks]
            positions, tokens = [length + len(sampled) - 1 for sampled in last], [sampled[-1] for sampled in last]
            with looking_ahead(session, running.values()):
                done = session.decode_each(forks, positions, tokens, lambda: stop_check() is not None)
            if not done:
                if first_fork in running and not session.cut(first_fork, positions[forks.index(first_fork)]):
                    first_fork = 0
                stopped = stop_check() or StopReason.CANCELLED
                break
            for index, fork in enumerate(forks):
                each = running[fork]
                if each.take(each.distribution(session.row(index))) is None:
                    continue
                del running[fork]
                if fork == first_fork:
                    ended_cells = len(several[0].sampled) - begun - 1
                else:
                    session.cut(fork, 0)
                    free.append(fork)
        if first_fork:
            cache.adopt(first_fork, several[0].sampled[begun:-1])
    finally:
        for fork in range(1, 1 + session.forks):
            session.cut(fork, 0)
    return stopped
