"""How far a long piece of work is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

_BAR = 24
_ON_TERMINAL_S, _ELSEWHERE_S = 0.2, 15.0
_ERASE = "\r\x1b[K"


def progress_text(
    done: int,
    wanted: int | None,
    spent_s: float,
    most_s: float | None,
    unit: str,
    *,
    before: int = 0,
    columns: int = 140,
    ended: bool = False,
) -> str:
    """Rate and time left, by count (`wanted`) or by clock (`most_s`), whichever ends first; the bar fills what `columns` leave.

    done counts what was done in the last spent_s seconds alone, before what was done when they began, wanted both with what is left.
    ended: nothing is left.
    """
    there = before + done
    rate = done / spent_s if spent_s > 0 else 0.0
    lefts = []
    if wanted is not None and rate:
        lefts.append(max(0, wanted - there) / rate)
    if most_s is not None:
        lefts.append(max(0.0, most_s - spent_s))
    shares = [there / wanted] if wanted else []
    if most_s:
        shares.append(spent_s / most_s)
    share = min(1.0, max(shares, default=0.0))
    count = f"{there}/{wanted}" if wanted is not None else str(there)
    shown_rate = f"{rate:.1f} a second" if rate >= 1 else f"{rate * 60:.1f} a minute"
    text = f"{count} {unit}, {shown_rate}" + (f", {duration(min(lefts))} left" if lefts and not ended else "")
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
    print(f"{chr(10) if after_bar and sys.stderr.isatty() else ''}{text}", file=sys.stderr, flush=True)


class Progress:
    """Shows on a stream how far the work is; lines that others write go above the bar. before: how many of those wanted are done."""

    def __init__(
        self,
        unit: str,
        wanted: int | None,
        most_s: float | None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        before: int = 0,
    ) -> None:
        self._before = before
        self._unit, self._wanted, self._most_s = unit, wanted, most_s
        self._stream = stream or sys.stderr
        self._clock = clock
        self._begun = clock()
        self._said = self._begun - _ON_TERMINAL_S if self._stream.isatty() else self._begun
        self._terminal = self._stream.isatty()
        self.done = 0

    def step(self, count: int = 1) -> None:
        """So many more are done."""
        self.done += count
        now = self._clock()
        if now - self._said >= (_ON_TERMINAL_S if self._terminal else _ELSEWHERE_S):
            self._said = now
            self._show()

    def say(self, text: str) -> None:
        """A line for people."""
        self._stream.write(f"{_ERASE if self._terminal else ''}{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Leave the last state."""
        self._show(ended=True)
        if self._terminal:
            self._stream.write("\n")
            self._stream.flush()

    def _show(self, *, ended: bool = False) -> None:
        columns = _columns(self._stream) if self._terminal else 140
        spent_s = self._clock() - self._begun
        text = progress_text(self.done, self._wanted, spent_s, self._most_s, self._unit, before=self._before, columns=columns, ended=ended)
        self._stream.write(f"{_ERASE}{text}" if self._terminal else f"{text}\n")
        self._stream.flush()
