"""Work that an editor has done while its user types."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress


def background() -> None:
    """Take the lowest priority, and end this process, as Ctrl-C does, when the one that holds its standard input ends."""
    with suppress(OSError, AttributeError):
        os.nice(19)
    threading.Thread(target=_end_with_input, name="assay-input", daemon=True).start()


def _end_with_input() -> None:
    # Not by `sys.stdin`, whose lock would be held when the process ends by itself.
    with suppress(OSError):
        while os.read(0, 1024):
            pass
    os.kill(os.getpid(), signal.SIGINT)
