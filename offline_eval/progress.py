"""Progress of long work: a bar on a terminal, a line every 15 seconds elsewhere; and how counts and times are worded."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self, TextIO

from ..calibration.control_characters import escaped, write_exactly

_BAR = 24
_ON_TERMINAL_S, _ELSEWHERE_S = 0.2, 15.0
# A bar is drawn again after so long where nothing is finished meanwhile.
_TICK_S = 1.0
_ERASE = "\r\x1b[K"


def progress_text(
    done: int,
    wanted: int | None,
    spent_s: float,
    max_s: float | None,
    unit: str,
    *,
    before: int = 0,
    columns: int = 140,
    ended: bool = False,
) -> str:
    """Bar, count, rate and time left.

    Parameters
    ----------
    done: How much was done in the last `spent_s` seconds.
    wanted: How much there is to do in all, with what was done before; None where only the clock ends the work.
    max_s: The work ends after so many seconds. The time left is that of whichever bound comes first.
    before: How much was done before these seconds.
    columns: The width of the terminal; the bar takes what the text leaves.
    ended: Nothing is left.
    """
    total = before + done
    rate = done / spent_s if spent_s > 0 else 0.0
    times_left = []
    if wanted is not None and rate:
        times_left.append(max(0, wanted - total) / rate)
    if max_s is not None:
        times_left.append(max(0.0, max_s - spent_s))
    shares = [total / wanted] if wanted else []
    if max_s:
        shares.append(spent_s / max_s)
    share = min(1.0, max(shares, default=0.0))
    count = f"{total}/{wanted}" if wanted is not None else str(total)
    shown_rate = f"{rate:.1f} a second" if rate >= 1 else f"{rate * 60:.1f} a minute"
    if not done and spent_s >= 1:
        shown_rate = f"{duration(spent_s)} so far"
    text = f"{count} {unit}, {shown_rate}" + (f", {duration(min(times_left))} left" if times_left and not ended else "")
    width = max(0, min(_BAR, columns - len(text) - 2))
    bar = "━" * round(share * width) + "─" * (width - round(share * width))
    return f"{bar} {text}".strip()[:columns]


def counted(number: int, what: str) -> str:
    """ "1 place", "2,000 places"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """For people: "40 s", "3 min", "2 h 5 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _columns(terminal: TextIO) -> int:
    try:
        return os.get_terminal_size(terminal.fileno()).columns - 1
    except (OSError, ValueError):
        return 79


def to_stderr(text: str, *, after_bar: bool = False) -> None:
    """Write a line for people. after_bar: a bar may stand on the terminal's last line, which has no end yet."""
    shown = escaped(text).replace("\n", "\n  ")  # a project names its files and tests: they make no line of their own
    print(f"{chr(10) if after_bar and sys.stderr.isatty() else ''}{shown}", file=sys.stderr, flush=True)


@contextmanager
def tell_if_stopped(message: Callable[[], str]) -> Iterator[None]:
    """Where the block is interrupted, write a line for people: what that means for what was done."""
    try:
        yield
    except KeyboardInterrupt:
        to_stderr(message(), after_bar=True)
        raise


class Progress:
    """Shows on a stream how far the work is; lines that others write go above the bar. before: how many of those wanted are done.
    elsewhere_s: how often there is a line where no terminal is.

    In a `with` it is shown also while nothing is finished, and its last state is left at the end.
    """

    def __init__(
        self,
        unit: str,
        wanted: int | None,
        max_s: float | None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        before: int = 0,
        elsewhere_s: float | None = None,
    ) -> None:
        self._before, self._elsewhere_s = before, elsewhere_s or _ELSEWHERE_S
        self._unit, self._wanted, self._max_s = unit, wanted, max_s
        self._stream = stream or sys.stderr
        self._clock = clock
        self._begun = clock()
        self._last_shown = self._begun - _TICK_S if self._stream.isatty() else self._begun
        self._terminal = self._stream.isatty()
        self._showing, self._ended = threading.Lock(), threading.Event()
        self.done = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._tick, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.end()
            return
        with self._showing:
            self._ended.set()
        if self._terminal and not issubclass(kind, KeyboardInterrupt):
            self._stream.write("\n")  # what is said of the error does not stand behind the bar

    def step(self, count: int = 1) -> None:
        """So many more are done."""
        with self._showing:
            self.done += count
            self._show_if_due(_ON_TERMINAL_S)

    def say(self, text: str) -> None:
        """A line for people."""
        with self._showing:
            write_exactly(self._stream, f"{_ERASE if self._terminal else ''}{escaped(text)}\n")
            self._stream.flush()

    def end(self) -> None:
        """Leave the last state."""
        with self._showing:
            self._ended.set()
            self._show(ended=True)
            if self._terminal:
                self._stream.write("\n")
                self._stream.flush()

    def _tick(self) -> None:
        with suppress(OSError, ValueError):  # nobody reads the stream any more
            while not self._ended.is_set():
                with self._showing:
                    if not self._ended.is_set():
                        self._show_if_due(_TICK_S)
                self._ended.wait(_TICK_S)

    def _show_if_due(self, after_s: float) -> None:
        now = self._clock()
        if now - self._last_shown >= (after_s if self._terminal else self._elsewhere_s):
            self._last_shown = now
            self._show()

    def _show(self, *, ended: bool = False) -> None:
        columns = _columns(self._stream) if self._terminal else 140
        spent_s = self._clock() - self._begun
        text = progress_text(self.done, self._wanted, spent_s, self._max_s, self._unit, before=self._before, columns=columns, ended=ended)
        write_exactly(self._stream, f"{_ERASE}{text}" if self._terminal else f"{text}\n")
        self._stream.flush()
