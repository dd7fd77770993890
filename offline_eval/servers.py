"""Work that several servers of one model share: where one fails, the others go on."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..inference.errors import SERVER_FAILURES, ModelError
from ..inference.opening import ModelChoice
from .model import Changed
from .progress import to_stderr

# Makes the work function with the model of a choice.
StartAt = Callable[[ModelChoice], Callable[[Any], Any]]

# A server that failed is asked again after so long, or where no other is left.
_REST_S = 60.0
# Of a server that is started anew with another model, or asks for another key, the others do the share.
_NOT_OPENED = (ModelError, Changed)


@dataclass(frozen=True, slots=True)
class OnServers:
    """Makes work functions that take turns at the servers of a choice. A choice that names one model is that alone."""

    choice: ModelChoice
    start: StartAt

    def __call__(self) -> Callable[[Any], Any]:
        """The work function. Raises what opening the model raises, the last server's where none can be opened."""
        servers = self.choice.servers
        if len(servers) < 2:
            return self.start(self.choice)
        return _TakingTurns([self.choice.at(server) for server in servers], self.start)


class _TakingTurns:
    """A work function that does each item at the next server, and what a server fails at by the others."""

    def __init__(self, choices: list[ModelChoice], start: StartAt) -> None:
        self._choices, self._start = choices, start
        # several of these begin at different servers
        self._turn = random.randrange(len(choices))
        self._open: dict[int, Callable[[Any], Any]] = {}
        self._rests_until = [0.0] * len(choices)
        self._told: set[int] = set()
        self._first_open()

    def __call__(self, item: Any) -> Any:
        """The answer of an item. Raises the last server's failure where each fails."""
        failure: Exception | None = None
        for number in self._order():
            try:
                work = self._at(number)
            except _NOT_OPENED as error:
                failure = self._rested(number, error)
                continue
            try:
                return work(item)
            except SERVER_FAILURES as error:
                failure = self._rested(number, error)
        assert failure is not None, "there are servers, and each failed"
        raise failure

    def close(self) -> None:
        """Put the models away."""
        for number in list(self._open):
            self._put_away(number)

    def _first_open(self) -> None:
        """Open the model at one server, so that what is wrong with all of them is known at the start."""
        failure: Exception | None = None
        for number in self._order():
            try:
                self._at(number)
                return
            except _NOT_OPENED as error:
                failure = self._rested(number, error)
        assert failure is not None, "there are servers, and each failed"
        raise failure

    def _order(self) -> list[int]:
        """All servers, from the next on; those that rest come last."""
        count, now = len(self._choices), time.monotonic()
        self._turn += 1
        return sorted(((self._turn + more) % count for more in range(count)), key=lambda number: self._rests_until[number] > now)

    def _at(self, number: int) -> Callable[[Any], Any]:
        if number not in self._open:
            self._open[number] = self._start(self._choices[number])
        return self._open[number]

    def _rested(self, number: int, failure: Exception) -> Exception:
        """The failure of a server, which is told once and rests."""
        if number not in self._told:
            self._told.add(number)
            to_stderr(f"note: {failure} The other servers do its share.", after_bar=True)
        self._rests_until[number] = time.monotonic() + _REST_S
        self._put_away(number)
        return failure

    def _put_away(self, number: int) -> None:
        close = getattr(self._open.pop(number, None), "close", None)
        if close is not None:
            with suppress(*SERVER_FAILURES):
                close()
