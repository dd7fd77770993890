"""Call a function again when it fails, after pauses that grow."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class RetriesExhausted(Exception):
    """Every attempt failed; the last failure is the cause."""

    def __init__(self, attempts: int, seconds: float) -> None:
        super().__init__(f"gave up after {attempts} attempts in {seconds:.1f} s")
        self.attempts = attempts
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to pause between attempts: exponentially longer up to a maximum, less a random part."""

    first: float = 0.1
    factor: float = 2.0
    maximum: float = 10.0
    jitter: float = 0.5

    def __post_init__(self) -> None:
        """Refuse values that make no sense."""
        if self.first <= 0:
            raise ValueError(f"first must be positive, not {self.first}")
        if not 0 <= self.jitter <= 1:
            raise ValueError(f"jitter must be between 0 and 1, not {self.jitter}")

    def pauses(self, rng: random.Random) -> Iterator[float]:
        """Yield the pauses in seconds, without end."""
        pause = self.first
        while True:
            yield pause * (1 - self.jitter * rng.random())
            pause = min(pause * self.factor, self.maximum)


def retry(
    attempts: int,
    *,
    on: tuple[type[Exception], ...] = (Exception,),
    backoff: Backoff | None = None,
    sleep: Callable[[float], None] = time.sleep,
    seed: int | None = None,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that calls a function up to `attempts` times.

    Only the exceptions in `on` lead to another attempt; any other one is raised at once.
    """
    if attempts < 1:
        raise ValueError(f"attempts must be at least 1, not {attempts}")
    schedule = backoff or Backoff()
    rng = random.Random(seed)

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            started = time.monotonic()
            pauses = schedule.pauses(rng)
            for attempt in range(1, attempts + 1):
                try:
                    return function(*args, **kwargs)
                except on as error:
                    if attempt == attempts:
                        raise RetriesExhausted(attempts, time.monotonic() - started) from error
                    sleep(next(pauses))
            raise AssertionError("unreachable")

        return wrapper

    return decorate


def main() -> None:
    """Call a function that works at its third attempt."""
    calls = 0
    slept: list[float] = []

    @retry(5, on=(ConnectionError,), sleep=slept.append, seed=7)
    def fetch(name: str) -> str:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise ConnectionError(f"attempt {calls} failed")
        return f"{name} after {calls} calls"

    print(fetch("answer"), [round(pause, 2) for pause in slept])


if __name__ == "__main__":
    main()
