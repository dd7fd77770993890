from __future__ import annotations

from assay.analysis.python.lines import Gap
from assay.inference.completion.settings import Settings
from assay.offline_eval.sets.lines import in_arm

SOURCE = '''"""A module."""


def total(prices):
    """The sum."""
    amount = sum(prices)
    return amount
'''
SETTINGS = Settings()


def gap(text: str, of: str = SOURCE) -> Gap:
    start = of.index(text)
    return Gap(start, start + len(text))


def test_the_plain_arm_is_the_file_as_it_is() -> None:
    shown = in_arm("docstring", SOURCE, gap("sum(prices)"), "line_rest", SETTINGS)
    assert shown is not None
    assert (shown.text, shown.truth) == (SOURCE, "sum(prices)")


def test_without_docstrings_the_same_text_is_taken_out_of_the_same_line() -> None:
    shown = in_arm("no_docstring", SOURCE, gap("sum(prices)"), "line_rest", SETTINGS)
    assert shown is not None
    assert "A module" not in shown.text
    assert "The sum" not in shown.text
    assert shown.truth == "sum(prices)"
    assert shown.cursor.prefix.endswith("    amount = ")
    assert shown.cursor.suffix.startswith("\n    return amount")


def test_without_a_suffix_nothing_stands_behind_the_cursor() -> None:
    shown = in_arm("no_suffix", SOURCE, gap("sum(prices)"), "line_rest", SETTINGS)
    assert shown is not None
    assert shown.cursor.suffix == ""
    assert shown.cursor.prefix.endswith("    amount = ")
    assert in_arm("no_suffix", SOURCE, gap("prices", SOURCE), "line_middle", SETTINGS) is None


def test_an_arm_that_would_be_the_plain_one_or_lose_its_line_is_left_out() -> None:
    bare = "def total(prices):\n    return sum(prices)\n"
    assert in_arm("no_docstring", bare, gap("sum(prices)", bare), "line_rest", SETTINGS) is None
    one_line = 'def total(prices): "The sum."; return sum(prices)\n'
    assert in_arm("no_docstring", one_line, gap("sum(prices)", one_line), "line_rest", SETTINGS) is None
    broken = 'def total(:\n    """The sum."""\n    return 1\n'
    assert in_arm("no_docstring", broken, gap("1", broken), "line_rest", SETTINGS) is None
