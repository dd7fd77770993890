"""How records leave a test run: lines of JSON that begin with a nonce, on a copy of standard output that tests don't know."""

from __future__ import annotations

import fcntl
import json
import os
from typing import Any

# High, since some tests close every low descriptor, and some compare the lowest free ones.
_MIN_DESCRIPTOR = 200


def printable(text: str) -> str:
    """The text with Python's escapes for what can't be printed, such as line ends, terminal control, and marks that reverse a line."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


class Channel:
    """Reads the request (a line of JSON) from standard input, and moves standard output (records) to a descriptor of its own.

    The tests get an empty standard input and a standard output that goes nowhere. The request holds the nonce.
    """

    def __init__(self) -> None:
        with os.fdopen(0, "rb", closefd=False) as requests:
            self.request: dict[str, Any] = json.loads(requests.readline())
        self._records = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _MIN_DESCRIPTOR)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        self._nonce = self.request["nonce"].encode()

    def send(self, kind: str, **fields: Any) -> None:
        """Write one whole record."""
        left = memoryview(self._nonce + json.dumps({"kind": kind, **fields}, separators=(",", ":")).encode() + b"\n")
        while left:
            left = left[os.write(self._records, left) :]
