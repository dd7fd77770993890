"""How records leave a test run: lines of JSON that begin with a nonce, on a copy of standard output that tests don't know."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from typing import Any

# High, since some tests close every low descriptor, and some compare the lowest free ones.
_MIN_DESCRIPTOR = 200


def printable(text: str) -> str:
    """The text with Python's escapes for what can't be printed, such as line ends, terminal control, and marks that reverse a line."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


class Channel:
    """Moves standard input (requests, one line of JSON each) and standard output (records) to descriptors of its own.

    The tests get an empty standard input and a standard output that goes nowhere. The first request holds the nonce.
    """

    def __init__(self) -> None:
        self._requests = os.fdopen(fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _MIN_DESCRIPTOR), "rb")
        self._records = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _MIN_DESCRIPTOR)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        self.first: dict[str, Any] = json.loads(self._requests.readline())
        self._nonce = self.first["nonce"].encode()

    def requests(self) -> Iterator[dict[str, Any]]:
        """The requests after the first, until the other side closes."""
        while line := self._requests.readline():
            yield json.loads(line)

    def begin(self, request: dict[str, Any]) -> None:
        """Records are of this request from here on. What a process that an earlier one left behind still writes has another nonce."""
        self._nonce = request["nonce"].encode()

    def close_requests(self) -> None:
        """In a child: leave the requests after its own to its parent."""
        os.close(self._requests.fileno())

    def send(self, kind: str, **fields: Any) -> None:
        """Write one whole record."""
        left = memoryview(self._nonce + json.dumps({"kind": kind, **fields}, separators=(",", ":")).encode() + b"\n")
        while left:
            left = left[os.write(self._records, left) :]
