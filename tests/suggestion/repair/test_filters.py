from __future__ import annotations

import pytest

from assay.analysis.grammars import GRAMMARS
from assay.calibration.language_names import name_of_language
from assay.suggestion.repair.candidate import Change
from assay.suggestion.repair.gathering import FILTERS, Seen, is_kept
from assay.suggestion.repair.parsing import parsing_of, prose_in, why_none

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
    found = parsing_of(lines, line, line + 1, language)
    assert found is not None
    return Seen(lines, found)


def dropped_by(change: Change, found: Seen) -> list[str]:
    return [keeps.__name__ for keeps in FILTERS if not keeps(change, found)]


@pytest.mark.parametrize(
    ("line", "new", "why"),
    [
        (9, ("            if not item:",), []),
        (9, ("            if item:  # found",), ["changes_something", "changes_code"]),
        (9, ("            if (item):",), ["changes_code"]),
        (9, ("            if item",), ["breaks_nothing"]),
        (9, ("        for item in items:",), ["repeats_no_neighbour", "breaks_nothing"]),
        (11, ("  return None",), ["breaks_nothing"]),
        (11, ("            return None",), []),
        (3, ("@other(",), ["breaks_nothing"]),
        (15, ("            1",), ["changes_code"]),
        (16, ("        ])",), ["breaks_nothing"]),
        (1, ("import sys", ""), []),
        (1, ("'''",), ["breaks_nothing"]),
    ],
)
def test_of_python_what_breaks_the_file_or_says_the_same_is_dropped(line: int, new: tuple[str, ...], why: list[str]) -> None:
    found = dropped_by(Change(line, line + 1, new), seen(PYTHON, line))
    assert [name for name in found if name != "changes_code" or "breaks_nothing" not in found] == why


def test_of_a_file_that_does_not_parse_all_that_changes_code_is_kept_whose_statement_still_parses() -> None:
    for new, kept in (("def f(a):", True), ("def f( a:", False), ("# def f", True)):
        assert is_kept(Change(0, 1, (new,)), seen(BROKEN, 0)) is kept
    lines = (*BROKEN[:2], "", "class A:", "    def g(self):", "        return a", "", "x = 1")
    for new, kept in (("        return b", True), ("        return (b", False), ("    return b", False)):
        assert is_kept(Change(5, 6, (new,)), seen(lines, 5)) is kept


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("x = 1; // one", "x = 2; // one", True),
        ("x = 1; // one", "  x  =  1;", False),
        ("x = 1; // one", "x = (", False),
        ("x = 1; // one", "// nothing", True),
        ("/* one */", "x = 1;", False),
        ("return x", "returnx", True),
    ],
)
def test_of_a_language_with_a_grammar_what_is_read_alike_is_dropped(old: str, new: str, kept: bool) -> None:
    lines = ("function f() {", old, "y = 3;", "}")
    found = parsing_of(lines, 1, 2, "javascript")
    assert found is not None
    assert is_kept(Change(1, 2, (new,)), Seen(lines, found, prose_in(lines, 1, 2, "javascript"))) is kept


@pytest.mark.parametrize(
    ("text", "language", "new", "kept"),
    [
        ('{\n  "a": 1\n}\n', "json", '  "a": 1.0', True),
        ('{\n  "a": 1\n}\n', "json", '    "a" : 1', False),
        ('{\n  "a": 1\n}\n', "json", '  "a": NaN', False),
        ('{\n  "a": 1,\n}\n', "json", '  "a": 1', True),
        ('[t]\na = "x"\n', "toml", "a = 3", True),
        ('[t]\na = "x"\n', "toml", "a = x", False),
    ],
)
def test_data_must_be_read_with_a_change_whether_or_not_they_are_without(text: str, language: str, new: str, kept: bool) -> None:
    assert is_kept(Change(1, 2, (new,)), seen(tuple(text.split("\n")), 1, language)) is kept


DOCUMENTED = '''"""A module."""


def f(a):
    "Give a."
    # as it is
    text = """
    of lines
    """
    if a:
        return [
            a,  # the first
            "b",
        ]


class B:
    """A class.

    Of more lines.
    """

    def g(self):
        """Give one."""
        return f"""
        {self.one(
            1)}
        """
'''
SCRIPT = """/* A
 * module */
function f(a) {
  // as it is
  const b = `of
  lines ${
    a + 1
  }`; a /* one */
  return b;
}
"""


@pytest.mark.parametrize(
    ("text", "language", "code"),
    [(DOCUMENTED, "python", [3, 6, 9, 10, 11, 12, 13, 16, 22, 24, 26]), (SCRIPT, "javascript", [2, 4, 6, 7, 8, 9])],
)
def test_lines_of_comments_docstrings_and_long_strings_are_prose_and_stay_as_they_are(text: str, language: str, code: list[int]) -> None:
    lines = tuple(text.split("\n"))
    prose = prose_in(lines, 0, len(lines), language)
    assert [number for number, line in enumerate(lines) if line.strip() and number not in prose] == code
    for number in (number for number, line in enumerate(lines) if line.strip()):
        why = why_none(lines, number, number + 1, language)
        assert bool(why) is (number not in code)
    found = parsing_of(lines, 0, len(lines), language)
    assert found is not None
    for number in prose:
        assert not is_kept(Change(number, number + 1, ("x = y_z",)), Seen(lines, found, prose))


def test_a_change_of_a_docstring_beside_code_is_dropped_and_one_of_the_code_below_it_is_kept() -> None:
    lines = tuple(DOCUMENTED.split("\n"))
    found = parsing_of(lines, 3, 7, "python")
    assert found is not None
    given = Seen(lines, found, prose_in(lines, 3, 7, "python"))
    assert not is_kept(Change(3, 5, ("def f(b):", '    "Give b."')), given)
    assert not is_kept(Change(3, 4, ("def f(a):", '    """More."""')), given)
    assert is_kept(Change(3, 4, ("def f(b, a):",)), given)
    assert is_kept(Change(3, 5, ("def f(b, a):", '    "Give a."')), given)


@pytest.mark.parametrize("language", ["markdown", "haskell"])
def test_nothing_is_repaired_in_a_language_that_can_not_be_parsed_and_it_is_named(language: str) -> None:
    why = why_none(("a: 1", "b: 2"), 0, 1, language)
    assert why.startswith("nothing can check what a repair makes of ")
    assert name_of_language(language) in why
    assert parsing_of(("a: 1",), 0, 1, language) is None
    assert not any(why_none(("a = 1", "b = 2"), 0, 1, known) for known in ("python", "json", "toml", *GRAMMARS))
