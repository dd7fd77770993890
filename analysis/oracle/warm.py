"""A pytest process that has imported and collected everything, and forks a child for each request."""

from __future__ import annotations

import json
import math
import os
import secrets
import selectors
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType

from ..sandbox.isolation.jail import RunningProcess
from ..sandbox.isolation.running_jail import JailError
from .records import Answered, Ready, Record, RecordReader, TooManyRecords
from .report import ProcessEnd, Report
from .suite import Suite, Times, signal_words

# Of the answer to one request: a test's record has some hundred bytes, without lines.
_MAX_ANSWER_BYTES = 1 << 26
# How long after a child's own limit the process counts as dead.
_GRACE_S = 30.0
_READ_BYTES = 1 << 16
_START_S = 120.0


class NoWarmSuite(Exception):
    """The suite can't be run in a forked process, or the process is gone; the message says why.

    for_good: trying again is of no use. infrastructure: the process could not be started, or has died.
    """

    def __init__(self, reason: str, *, for_good: bool = False, infrastructure: bool = False) -> None:
        super().__init__(reason)
        self.for_good = for_good
        self.infrastructure = infrastructure


class WarmSuite(AbstractContextManager["WarmSuite"]):
    """A warm pytest process. Making one starts it and waits until it is ready, or raises NoWarmSuite.

    It takes one request at a time.
    """

    def __init__(self, suite: Suite, times: Times) -> None:
        request, self._nonce = suite.request(serve=True)
        self._times = times
        self._held = ExitStack()
        try:
            started = suite.jail.start(
                suite.command(),
                cwd=suite.copied.folder,
                mounts=suite.mounts(),
                environment=suite.environment(),
                limits=suite.limits(math.inf, _START_S),
            )
        except JailError as error:
            raise NoWarmSuite(f"the sandbox failed: {error}", infrastructure=True) from None
        self._started: RunningProcess = self._held.enter_context(started)
        self._selector = self._held.enter_context(selectors.DefaultSelector())
        self._selector.register(self._started.stdout, selectors.EVENT_READ)
        try:
            self._send(request)
            for record in self._records(max(_GRACE_S, 10 * times.start_wall_s)):
                if isinstance(record, Ready):
                    if not record.warm:
                        raise NoWarmSuite(record.reason, for_good=True)
                    return
            raise NoWarmSuite("it was not ready in time", infrastructure=True)
        except BaseException:
            self.close()
            raise

    def run(self, tests: Sequence[str], expected: Mapping[str, str], change: tuple[str, str, str] | None) -> tuple[Report, ProcessEnd]:
        """Run tests in a fork.

        Parameters:
            expected: the outcome of each test; the run stops at the first other one.
            change: the file to change (its path in the jail, its old and new text), or None.

        Where processes of the tests live on, this one is ended with them.

        Raises: NoWarmSuite where the process is gone, or the change can't be made in it. In the second case it can still be used.
        """
        _, wall_s = self._times.bounds(tests)
        nonce = secrets.token_hex(16)
        self._nonce = nonce.encode()
        self._send(
            json.dumps(
                {
                    "nonce": nonce,
                    "select": list(tests),
                    "expected": dict(expected),
                    "allowance": self._times.allowance(tests),
                    "wall_s": wall_s,
                    "change": change and {"file": change[0], "old": change[1], "new": change[2]},
                }
            ).encode()
            + b"\n"
        )
        report = Report(asked=frozenset(tests))
        for record in self._records(wall_s + _GRACE_S):
            if isinstance(record, Answered):
                if record.left:  # the next request would meet what this one has started
                    self.close()
                if report.refused is not None:
                    raise NoWarmSuite(report.refused)
                if report.broke is not None:
                    return report, ProcessEnd(False, report.broke)
                return report, _ended(record.ending, record.status)
            report.take(record)
        self.close()
        raise NoWarmSuite("the warm process did not answer", infrastructure=True)

    @property
    def alive(self) -> bool:
        """Whether it can take a request."""
        return not self._closed

    _closed = False

    def close(self) -> None:
        """Kill the process."""
        if not self._closed:
            self._closed = True
            self._held.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _send(self, line: bytes) -> None:
        try:
            self._started.stdin.write(line)
            self._started.stdin.flush()
        except (OSError, ValueError) as error:
            self.close()
            raise NoWarmSuite(f"the warm process is gone: {error}", infrastructure=True) from None

    def _records(self, wall_s: float) -> Iterator[Record]:
        """The records of the process, until it ends its output, wall_s seconds are over, or it tells far too much."""
        until, size = time.monotonic() + wall_s, 0
        reader, begun = RecordReader(self._nonce), bytearray()
        while (left := until - time.monotonic()) > 0 and size <= _MAX_ANSWER_BYTES:
            if not self._selector.select(left):
                continue
            if not (read := os.read(self._started.stdout.fileno(), _READ_BYTES)):
                return
            size += len(read)
            lines, newline, rest = read.rpartition(b"\n")
            if newline:
                try:
                    yield from reader.read(bytes(begun) + lines)
                except TooManyRecords:
                    return
                begun.clear()
            begun += rest


def _ended(ending: str, status: int) -> ProcessEnd:
    if ending == "timed_out":
        return ProcessEnd(False, "waited too long", doubtful=True)
    if ending == "signalled":
        return ProcessEnd(False, signal_words(status), doubtful=status == signal.SIGKILL)
    return ProcessEnd(True)
