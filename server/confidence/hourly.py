"""Looks at the log of events now and then, while the model has nothing to do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from ..model.live import LiveModel
from .child_process import ChildProcessFailed

logger = logging.getLogger(__name__)

# By then the editor has started and the model is usually loaded.
FIRST_S = 60.0
AGAIN_S = 3600.0
# How long to wait while the model is not loaded yet, or works.
_BUSY_S = 1.0


class Working(Protocol):
    """What tells whether the model has something to do: the language server."""

    live: LiveModel


async def look_hourly(working: Working, look: Callable[[], Awaitable[None]], what: str) -> None:
    """Look a minute after the start and then each hour, until cancelled. what: that the log is read for, if it can't be read."""
    wait_s = FIRST_S
    while True:
        await asyncio.sleep(wait_s)
        while working.live.process.model is None or working.live.scheduler.busy:
            await asyncio.sleep(_BUSY_S)
        try:
            await look()
        except ChildProcessFailed as error:
            logger.warning("The log can't be read for %s: %s", what, error)
        wait_s = AGAIN_S
