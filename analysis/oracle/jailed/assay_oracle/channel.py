"""The way out of a test run: lines of JSON behind a nonce, on a descriptor that standard output was before tests could write to it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from typing import Any

# Above what tests close or count: some close every low descriptor, some compare the lowest free ones.
_MIN_DESCRIPTOR = 200


class Channel:
    """Takes standard input (requests, one line of JSON each) and standard output (records) away from the program that runs.

    The program is left with an empty standard input and a standard output that goes nowhere. The first request holds the nonce.
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
        """Those after the first, until the other side closes."""
        while line := self._requests.readline():
            yield json.loads(line)

    def send(self, kind: str, **fields: Any) -> None:
        """Write one record, whole."""
        left = memoryview(self._nonce + json.dumps({"kind": kind, **fields}, separators=(",", ":")).encode() + b"\n")
        while left:
            left = left[os.write(self._records, left) :]
