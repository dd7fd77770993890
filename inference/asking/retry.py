"""Retrying what a server failed at."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from ..errors import AnswerCutOff, ServerBusy, ServerFailed, ServerUnreachable

T = TypeVar("T")

PATIENCE_S = 30.0

# A timeout is not retried: the server may still be at it.
_RETRIED = (ServerUnreachable, ServerBusy, ServerFailed, AnswerCutOff)
_FIRST_PAUSE_S = 0.25
_MAX_PAUSE_S = 8.0


def retried(ask: Callable[[], T], patience_s: float, closed: threading.Event) -> T:
    """What `ask` gives, asked again for so many seconds from its first failure on, with pauses that grow and differ by chance.

    A server that says when to come back is asked no earlier. closed: ends a pause, and the asking. Raises what `ask` raised last.
    """
    began, pause = None, _FIRST_PAUSE_S
    while True:
        try:
            return ask()
        except _RETRIED as failure:
            now = time.monotonic()
            began = now if began is None else began
            wait = max(pause * random.uniform(0.5, 1.5), failure.after if isinstance(failure, ServerBusy) else 0.0)
            if now + wait - began > patience_s or closed.wait(wait):
                raise
            pause = min(2 * pause, _MAX_PAUSE_S)
