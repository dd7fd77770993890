"""The typing trace of benchmarks/live.py writes what the author means, whatever is accepted on the way, and is the same each time."""

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from source_distribution import FUNCTION

from assay.offline_eval.sets.projects import SourceFile

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from live import keystrokes_saved
from replay import Buffer, Key, Played
from typing_trace import SPEEDS, Author, Delete, Invoke, Move, Step, Type, cut

NESTED = "\n\nclass A:\n    def f(self):\n        if self:\n            return (\n                    1)\nLAST = 2"
TRUTH = "".join(FUNCTION.format(n=n) for n in range(8)).strip("\n").replace("result", "   \n    a_result") + NESTED


def trace(author: Author) -> Iterator[Step]:
    """All that the author does where nothing is ever accepted."""
    at = author.start
    while at < len(author.truth):
        step = author.step(at)
        yield step
        at = step.to


def play(step: Step, buffer: Buffer) -> None:
    end = (buffer.line, buffer.column)
    for event in step.events:
        match event:
            case Type(_, text):
                buffer.insert(text)
                end = (end[0] + text.count("\n"), buffer.column if "\n" in text else end[1] + len(text))
            case Delete(_, count):
                buffer.delete(count)
                end = (end[0], end[1] - count)
            case Move(_, 0, 0):
                buffer.go(*end)
            case Move(_, lines, left):
                buffer.go(max(0, buffer.line - lines), buffer.column - left if left else 0)
            case Invoke():
                pass
    assert (buffer.line, buffer.column) == end


def after(text: str) -> Buffer:
    buffer = Buffer(text)
    buffer.go(text.count("\n"), len(text.rpartition("\n")[2]))
    return buffer


def test_the_truth_is_written_with_slips_and_corrections_and_looks_elsewhere() -> None:
    kinds: set[str] = set()
    for seed in range(20):
        author = Author(TRUTH, SPEEDS["normal"], str(seed))
        buffer = after(TRUTH[: author.start])
        for step in trace(author):
            play(step, buffer)
            kinds |= {f"{type(event).__name__} {'in line' if isinstance(event, Move) and event.left else ''}" for event in step.events}
        assert buffer.text == TRUTH
    assert kinds == {"Type ", "Delete ", "Move ", "Move in line", "Invoke "}


def test_a_segment_is_of_the_lines_of_functions_and_leaves_the_rest_of_the_file() -> None:
    text = "import os\n\n" + "".join(FUNCTION.format(n=n) for n in range(12)) + "\nLAST = 1\n"
    begins = set()
    for seed in range(30):
        segment = cut(SourceFile("shapes", "area.py", text), 400, random.Random(seed))
        begins.add(segment.truth.split()[0])
        assert 400 <= len(segment.truth) < 480
        assert text.startswith(segment.before + segment.truth + "\n")
        assert text.endswith(segment.after)
        assert segment.after.startswith(("\n\ndef area_", "\n\nLAST"))
    assert begins >= {"def", "if", "raise", "return"}
    assert "import" not in begins


def test_keystrokes_are_saved_by_what_is_right_likely_enough_and_not_accepted_twice() -> None:
    def shown(written: int, saves: int, probability: float | None) -> Key:
        return Key(shown_ms=1.0, probability=probability, written=written, said=saves, came=saves, saves=saves)

    keys = (shown(1, 6, 0.9), shown(2, 5, 0.9), shown(7, 1, 0.9), shown(8, 4, 0.4), shown(9, 3, 0.6), shown(13, 0, 0.9))
    played = Played(keys, 0, 20, 0.0, 0.0)
    assert keystrokes_saved([played]) == pytest.approx(100 * (5 + 2) / 20)
    silent = replace(played, keys=tuple(replace(key, probability=None) for key in keys))
    assert keystrokes_saved([silent]) == pytest.approx(100 * (5 + 3) / 20), "a program without probabilities shows all"
    assert keystrokes_saved([played], 0.0) == keystrokes_saved([silent])
