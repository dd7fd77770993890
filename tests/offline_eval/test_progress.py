from __future__ import annotations

import io
import itertools
import time

import pytest

from assay.offline_eval.progress import Progress, counted, duration, progress_text


@pytest.mark.parametrize(
    ("done", "wanted", "spent_s", "max_s", "before", "text"),
    [
        (10, 40, 5.0, None, 0, "━━━━━━────────────────── 10/40 places, 2.0 a second, 15 s left"),
        (10, 40, 5.0, None, 20, "━━━━━━━━━━━━━━━━━━────── 30/40 places, 2.0 a second, 5 s left"),
        (1, 40, 60.0, None, 0, "━─────────────────────── 1/40 places, 1.0 a minute, 39 min left"),
        (10, None, 5.0, 20.0, 0, "━━━━━━────────────────── 10 places, 2.0 a second, 15 s left"),
        (10, 1000, 5.0, 20.0, 0, "━━━━━━────────────────── 10/1000 places, 2.0 a second, 15 s left"),
        (0, 40, 0.0, None, 0, "──────────────────────── 0/40 places, 0.0 a minute"),
        (0, 40, 70.0, None, 0, "──────────────────────── 0/40 places, 70 s so far"),
    ],
)
def test_rate_and_time_left_are_those_of_whichever_bound_comes_first(
    done: int, wanted: int | None, spent_s: float, max_s: float | None, before: int, text: str
) -> None:
    assert progress_text(done, wanted, spent_s, max_s, "places", before=before) == text


def test_a_narrow_terminal_loses_the_bar_before_the_numbers() -> None:
    assert progress_text(10, 40, 5.0, None, "places", columns=36) == "10/40 places, 2.0 a second, 15 s left"[:36]


def test_off_a_terminal_a_line_comes_every_fifteen_seconds_and_at_the_end() -> None:
    now, stream = [0.0], io.StringIO()
    progress = Progress("places", 4, None, stream, clock=lambda: now[0])
    for at in (5.0, 16.0, 20.0, 32.0):
        now[0] = at
        progress.step()
    progress.say("a note")
    progress.end()
    lines = stream.getvalue().splitlines()
    assert [line.split(" places")[0].split()[-1] for line in lines] == ["2/4", "4/4", "note", "4/4"]
    assert "left" not in lines[-1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_bar_is_there_and_moves_while_nothing_is_finished() -> None:
    ticks = itertools.count()
    terminal = Terminal()
    with Progress("places", 4, None, terminal, clock=lambda: float(next(ticks))):
        until = time.monotonic() + 20
        while terminal.getvalue().count("0/4 places") < 2 and time.monotonic() < until:
            time.sleep(0.02)
    shown = terminal.getvalue().split("\r\x1b[K")
    assert "so far" in shown[2]
    assert terminal.getvalue().endswith("\n")


def test_an_error_is_not_told_behind_the_bar() -> None:
    terminal = Terminal()
    progress = Progress("places", 4, None, terminal)

    def fail() -> None:
        with progress:
            progress.step()
            raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        fail()
    assert terminal.getvalue().endswith("\n")


def test_the_name_of_a_file_drives_no_terminal() -> None:
    stream = io.StringIO()
    Progress("places", 4, None, stream).say("\x1b]0;title\x07 a.py")
    assert stream.getvalue() == "\\x1b]0;title\\x07 a.py\n"


def test_counts_and_times_are_worded_for_people() -> None:
    assert [counted(number, "place") for number in (0, 1, 2000)] == ["0 places", "1 place", "2,000 places"]
    assert [duration(seconds) for seconds in (40, 170, 7500)] == ["40 s", "3 min", "2 h 5 min"]
