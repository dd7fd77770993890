"""What benchmarks/quiet.py counts: suggestions, each once, what stops show of them, and what exploring tells of the hidden."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from quiet import Shown, exploring_table, per_100, stops_table, suggestions_of
from replay import Key


def key(whole: str, p: float | None = 0.5, *, exact: bool = False) -> Key:
    return Key("type", 0, 0, shown_ms=1.0, exact=exact, probability=p, whole=whole, calibrator="c")


def test_a_suggestion_is_counted_once_however_long_it_is_typed_along() -> None:
    keys = [key("return a", 0.2, exact=True), Key("type", 1, 0), key("return a", 0.7, exact=True), key("return b"), key("return a", 0.1)]
    first, second, third = suggestions_of("x", keys)
    assert (first.probabilities, first.right) == (((0.2, "c"), (0.7, "c")), True)
    assert (second.right, third.right) == (False, False)
    assert [first.at(lambda _, level=level: level) for level in (0.1, 0.7, 0.71)] == [True, True, False]
    assert Shown("x", ((None, None),), False).at(lambda _: 1.0)


def found() -> list[Shown]:
    return [Shown(f"p{i % 5}", ((p, "c"),), i % 10 < 10 * p) for i in range(400) for p in (0.05, 0.1, 0.8)]


def test_the_table_says_what_a_dial_shows_and_what_of_the_right_ones_it_hides() -> None:
    keys = {f"p{i}": 600 for i in range(5)}
    table = stops_table(found(), keys, {"everything": lambda _: 0.0, "balanced": lambda _: 0.5})
    everything, balanced = table.splitlines()[2:]
    assert everything.startswith("| everything | 40.0 (40.0 to 40.0) | 400 of 1200, 33.3 ")
    assert "| 0 of 400, 0.0 " in everything
    assert balanced.startswith("| balanced | 13.3 (13.3 to 13.3) | 320 of 400, 80.0 ")
    assert "| 80 of 400, 20.0 " in balanced


def test_exploring_tells_how_many_of_the_hidden_are_right() -> None:
    table = exploring_table(found(), lambda _: 0.5, 0.1, seed=0, drawn=(3_000,), repeats=30)
    assert table.startswith("Of the hidden 10.0 % are right.")
    last = table.splitlines()[-1]
    estimated, covered = re.findall(r"([\d.]+) %, [\d.]+ \| ([\d.]+) \|", last)[0]
    assert float(estimated) == pytest.approx(10, abs=1.5)
    assert float(covered) >= 0.8
    assert exploring_table(found(), lambda _: 0.0, 0.1, seed=0) == "Nothing is hidden."


def test_a_rate_has_an_interval_over_projects() -> None:
    rate = per_100([10, 20, 30], [100, 100, 100])
    assert rate.value == 20
    assert rate.low < 10 < 30 < rate.high
