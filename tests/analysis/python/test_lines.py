from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.python.lines import UnreadableSource, functions, middle, sample_lines
from assay.analysis.python.source_text import decoded

SOURCE = '''
def undocumented(a):
    b = a
    c = b
    return c


def short(a):
    """Too short."""
    return a


class Shop:
    def total(self, prices, tax):
        """Sum with tax.

        not = "code"
        """
        # a comment
        note = """
        not code either
        """
        amount = sum(prices, start=(0))

        return amount * (1 + tax)
'''


def test_only_documented_functions_of_over_three_lines_count() -> None:
    assert [name for name, _ in functions(SOURCE)] == ["Shop.total"]


def test_on_request_functions_without_a_docstring_count_and_their_header_is_never_drawn() -> None:
    assert [name for name, _ in functions(SOURCE, documented=False)] == ["undocumented", "Shop.total"]
    source = "def f(\n    a,\n    b=2,\n):\n    # why\n    c = a\n    return c\n"
    drawn = {source[line.start : line.end].strip() for seed in range(40) for line in sample_lines(source, str(seed), documented=False)}
    assert drawn == {"c = a", "return c"}
    assert sample_lines(source, "0") == []


def test_a_line_is_code_of_the_body_never_docstring_comment_blank_or_string() -> None:
    drawn = {SOURCE[line.start : line.end].strip() for seed in range(60) for line in sample_lines(SOURCE, str(seed))}
    assert drawn == {'note = """', "amount = sum(prices, start=(0))", "return amount * (1 + tax)"}


def test_functions_inside_one_another_never_give_the_same_line() -> None:
    source = 'def outer(f):\n    """Doc."""\n\n    def inner(a):\n        """Doc."""\n        b = a\n        return b\n\n    return inner\n'
    for seed in range(50):
        drawn = sample_lines(source, str(seed))
        assert [line.function for line in drawn] == ["outer", "outer.inner"]
        assert len({line.start for line in drawn}) == 2


def test_what_is_not_python_is_refused_with_a_reason() -> None:
    for text in ("def broken(:", "print 'old'", "x = \0", "(" * 5000):
        with pytest.raises(UnreadableSource):
            sample_lines(text, "a")


@given(st.integers())
def test_a_middle_gap_ends_before_a_closing_bracket_and_leaves_code_behind_it(seed: int) -> None:
    for line in sample_lines(SOURCE, str(seed)):
        gap = middle(SOURCE, line, str(seed))
        if gap is None:
            assert SOURCE[line.start : line.end].strip() == 'note = """'
        else:
            assert line.start < gap.start < gap.end < line.end
            assert SOURCE[gap.end] in ")]}"


def test_form_feeds_and_line_separators_in_a_file_do_not_shift_lines() -> None:
    source = '\x0c\ndef f(a):\n    """Doc \u2028 doc."""\n    b = "\x85"\n    return b\n'
    for seed in range(10):
        (line,) = sample_lines(source, str(seed))
        assert source[line.start : line.end] in ('    b = "\x85"', "    return b")


def test_lines_of_syntax_that_this_python_may_not_know_are_drawn() -> None:
    source = SOURCE.replace("def total(self", "def total[T](self")
    source = source.replace('note = """', "note = f'{prices['a']}' '''").replace('"""\n        amount', "'''\n        amount")
    drawn = {source[line.start : line.end].strip() for seed in range(60) for line in sample_lines(source, str(seed))}
    assert drawn == {"note = f'{prices['a']}' '''", "amount = sum(prices, start=(0))", "return amount * (1 + tax)"}


@pytest.mark.parametrize("name", ["punycode", "PUNYCODE", "Idna"])
def test_a_codec_that_is_too_slow_is_refused_however_its_name_is_written(name: str) -> None:
    with pytest.raises(UnreadableSource, match="is not read"):
        decoded(f"# coding: {name}\n".encode())
