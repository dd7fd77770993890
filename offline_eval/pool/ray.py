"""The pool on the machines of a Ray cluster: actors hold the work function, and Ray replaces those that die.

The same version of Assay must be installed on those machines, and the files that a work function names (a model, an interpreter) must be
there under the same path.
"""

from __future__ import annotations

import logging
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import chdir
from importlib.util import find_spec
from typing import Any

from .interface import MAX_START_S, MAX_TRIES, Answer, Finished, Item, PoolError, Start

# Ray hangs when actors hold every CPU: one is left for its own tasks.
_SPARE_CPUS = 1
# Of a task that needs no CPU of its own.
_TASK_S = 120.0
_LOOK_S = 1.0
_REACH_S = 10.0


def run(
    start: Start[Item, Answer],
    items: Iterable[Item],
    address: str,
    *,
    workers: int | None = None,
    max_item_s: float | None = None,
    tries: int = MAX_TRIES,
) -> Generator[Finished[Item, Answer], None, None]:
    """As `local.run`, on the cluster at an address ("auto": the one on this machine).

    workers: how many actors, by default one for each CPU but one. Raises PoolError where Ray is not installed or not reached, and where the
    work function can't be made.
    """
    if find_spec("ray") is None:
        raise PoolError("Ray is not installed: pip install 'assay[ray]'")
    import ray
    from ray.exceptions import GetTimeoutError, RayError, RayTaskError

    check_reachable(address)
    given: Any = {"address": address, "log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    try:
        # Ray has its workers import from the folder that it is begun in, which may be a project
        with chdir("/"):
            ray.init(**given)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise PoolError(f"no Ray cluster at {address}: {_cause(error)}. Begin one with: ray start --head") from None
    try:
        cluster: Any = ray
        _same_python(cluster)
        count = workers or max(1, int(cluster.cluster_resources().get("CPU", 2)) - _SPARE_CPUS)
        actor = cluster.remote(num_cpus=1, max_restarts=-1, max_task_retries=tries - 1)(Worker)
        staff = [actor.remote(start) for _ in range(count)]
        try:
            reasons = cluster.get([each.why_not.remote() for each in staff], timeout=MAX_START_S)
        except GetTimeoutError:
            raise PoolError(
                f"{count} workers of one CPU each did not begin in {MAX_START_S:.0f} s: the cluster has fewer CPUs free (name fewer with "
                "--workers), or they take longer to open the model and copy the project"
            ) from None
        except RayError as error:
            raise PoolError(f"a worker can't start: {_cause(error)}") from None
        if why := next(filter(None, reasons), ""):
            raise PoolError(f"a worker can't start: {why}")
        yield from answers(cluster, (RayTaskError, RayError), staff, lambda: actor.remote(start), iter(items), max_item_s, tries)
        cluster.wait([each.close.remote() for each in staff], num_returns=len(staff), timeout=_LOOK_S)
    finally:
        ray.shutdown()


class Worker:
    """Holds the work function in a process of the cluster."""

    def __init__(self, start: Start[Any, Any]) -> None:
        self._why_not = ""
        self._work: Any = None
        try:
            self._work = start()
        except Exception as error:
            self._why_not = str(error) or type(error).__name__

    def why_not(self) -> str:
        """Why there is no work function; empty where it is there."""
        return self._why_not

    def answer(self, item: Any) -> tuple[Any, str]:
        """The answer, or why there is none."""
        if self._why_not:
            raise RuntimeError(self._why_not)
        try:
            return self._work(item), ""
        except Exception as error:
            return None, f"{type(error).__name__}: {error}"

    def close(self) -> None:
        """Put away what the work function holds."""
        if close := getattr(self._work, "close", None):
            close()


def answers(
    ray: Any,
    broken: tuple[type[Exception], type[Exception]],
    staff: list[Any],
    hire: Callable[[], Any],
    source: Iterator[Item],
    max_item_s: float | None,
    tries: int,
) -> Generator[Finished[Item, Answer], None, None]:
    """Every item with its answer; an actor gets one more when it has answered, so what is under way is worked on."""
    under_way: dict[Any, tuple[Any, Item, int, float]] = {}
    again: deque[tuple[Item, int]] = deque()
    while True:
        while staff and (given := again.popleft() if again else next(((item, 1) for item in source), None)):
            actor = staff.pop()
            under_way[actor.answer.remote(given[0])] = actor, *given, time.monotonic()
        if not under_way:
            return
        done, _ = ray.wait(list(under_way), num_returns=1, timeout=None if max_item_s is None else _LOOK_S)
        for future in done:
            actor, item, _, _ = under_way.pop(future)
            staff.append(actor)
            try:
                answer, why = ray.get(future)
            except broken[0] as problem:
                # the work function's own exceptions are answers: this is an actor that was begun anew, and could not be
                raise PoolError(f"a worker can't start: {_cause(problem)}") from None
            except broken[1] as problem:
                answer, why = None, f"its worker died ({tries} times): {_cause(problem)}"
            yield Finished(item, answer, why)
        for future, (actor, item, tried, since) in list(under_way.items()):
            if max_item_s is not None and time.monotonic() - since > max_item_s:
                del under_way[future]
                ray.kill(actor)
                staff.append(hire())
                if tried < tries:
                    again.append((item, tried + 1))
                else:
                    yield Finished(item, None, f"no answer in {max_item_s:.0f} s ({tries} times)")


def check_reachable(address: str) -> None:
    """Raises PoolError where nothing listens at an address, which Ray would try for minutes to reach."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdigit()):
        return
    try:
        socket.create_connection((host, int(port)), timeout=_REACH_S).close()
    except OSError as error:
        raise PoolError(f"no Ray cluster at {address}: {error.strerror or error}. Begin one with: ray start --head") from None


def _same_python(ray: Any) -> None:
    """Refuse a cluster whose Python can't read what is sent to it."""
    theirs = ray.get(ray.remote(num_cpus=0)(lambda: tuple(sys.version_info[:2])).remote(), timeout=_TASK_S)
    if theirs != sys.version_info[:2]:
        raise PoolError(f"the cluster runs Python {theirs[0]}.{theirs[1]}, this is {sys.version_info[0]}.{sys.version_info[1]}")


def _cause(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
