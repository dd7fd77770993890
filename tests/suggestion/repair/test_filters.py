from __future__ import annotations

import pytest

from assay.suggestion.repair.candidate import Change
from assay.suggestion.repair.filters import FILTERS, Seen, is_kept
from assay.suggestion.repair.parsed_python import parsed_python
from assay.suggestion.repair.parsing import parsing_of

TEXT = '''import os


@decorated
class A:
    """A class."""

    def first(self, items):
        for item in items:
            if item:  # found
                return item
        return None

    def second(self):
        return (self.first([
            1,
        ]))
'''
PYTHON = tuple(TEXT.split("\n"))
BROKEN = ("def f(a:", "    return a", "")


def seen(lines: tuple[str, ...], line: int, language: str = "python") -> Seen:
    return Seen(lines, parsing_of(lines, line, line + 1, language))


def dropped_by(change: Change, found: Seen) -> list[str]:
    return [keeps.__name__ for keeps in FILTERS if not keeps(change, found)]


@pytest.mark.parametrize(
    ("line", "new", "why"),
    [
        (9, ("            if not item:",), []),
        (9, ("            if item:  # found",), ["changes_something", "changes_code"]),
        (9, ("            if (item):",), ["changes_code"]),
        (9, ("            if item :  # seen",), ["changes_code"]),
        (9, ("            if item",), ["breaks_nothing"]),
        (9, ("        if item:",), ["breaks_nothing"]),
        (9, ("        for item in items:",), ["repeats_no_neighbour", "breaks_nothing"]),
        (11, ("  return None",), ["breaks_nothing"]),
        (11, ("            return None",), []),
        (13, ("    def second(self, item):",), []),
        (3, ("@other",), []),
        (3, ("@other(",), ["breaks_nothing"]),
        (15, ("            2,",), []),
        (15, ("            1",), ["changes_code"]),
        (16, ("        ])",), ["breaks_nothing"]),
        (0, ("import sys",), []),
        (1, ("import sys", ""), []),
        (1, ("'''",), ["breaks_nothing"]),
    ],
)
def test_of_python_what_breaks_the_file_or_says_the_same_is_dropped(line: int, new: tuple[str, ...], why: list[str]) -> None:
    found = dropped_by(Change(line, line + 1, new), seen(PYTHON, line))
    assert [name for name in found if name != "changes_code" or "breaks_nothing" not in found] == why


@pytest.mark.parametrize(
    ("new", "kept"), [(("def f(a):",), True), (("def f(b:",), True), (("def f( a:",), False), (("# def f",), True), (("  def f(a:",), True)]
)
def test_of_a_file_that_does_not_parse_all_that_changes_code_is_kept(new: tuple[str, ...], kept: bool) -> None:
    assert is_kept(Change(0, 1, new), seen(BROKEN, 0)) is kept


@pytest.mark.parametrize(
    ("new", "kept"),
    [(("x = 2;",), True), (("  x  =  1;",), False), (("// nothing", "x = 1;"), False), (("x = ",), True), (("y = 3;",), False)],
)
def test_of_a_language_without_a_grammar_only_the_text_is_compared(new: tuple[str, ...], kept: bool) -> None:
    assert is_kept(Change(1, 2, new), seen(("{", "x = 1;", "y = 3;", "}"), 1, "dart")) is kept


def test_only_the_statements_around_a_change_are_read_again() -> None:
    found = parsed_python(PYTHON, 9, 10)
    assert (found.first, found.end, found.indent) == (7, 12, 4)
    assert parsing_of(PYTHON, 9, 10, "dart") is None
