from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.completion.completion import Kind
from assay.suggestion.trim import shown

PIECES = ["a", "b(", ")", "]", "[", "}", " ", "    ", "\t", "\n", "\r\n", "x = 1", "return", "}", "else:", "'", '"', "# ("]
CODE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@pytest.mark.parametrize("text", ["", " ", "\t", "\n", "  \n\t\n"])
def test_nothing_is_shown_of_a_blank_text(text: str) -> None:
    assert shown(text, "x = ", "\n", "line") is None
    assert shown(text, "x = ", "\n", "block") is None


def test_white_space_at_the_end_is_left_out_unless_text_stands_behind_it() -> None:
    assert shown("1  ", "x = ", "\n", "line") == "1"
    assert shown("a\n    b\n\n  ", "    ", "\n", "block") == "a\n    b"
    assert shown("1 ", "x = ", "+ y\n", "line") == "1 "


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "kind"),
    [
        ("total = 0", "    ", "\n    total = 0\n", "line"),
        ("total = 0", "        ", "\n\n    total = 0\n", "line"),
        (" = 0", "total", "\ntotal = 0\n", "line"),
        ("total = 0\n    count = 0", "    ", "\n    total = 0\n    count = 0\n    more\n", "block"),
        ("total = 0", "x\ntotal = 0\n", "\n", "line"),
        ("a()\n    b()", "    a()\n    b()\n\n    ", "\n", "block"),
        ("a()\r\n    b()", "    a()\r\n    b()\r\n    ", "\r\n", "block"),
        (")", "    f(\n    )\n    ", "\n", "line"),
        ("}", "    ", "\n    }\n", "line"),
    ],
)
def test_the_lines_above_or_below_are_not_said_again(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    assert shown(text, prefix, suffix, kind) is None


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "kind"),
    [
        ("total = 0\n    count = 0", "    ", "\n    total = 0\n    more\n", "block"),
        ("total = 1", "    ", "\n    total = 0\n", "line"),
        ("}", "        ", "\n    }\n", "line"),
        ("return", "        ", "\n    return\n", "line"),
        ("0", "a = ", "\nb = 0\n", "line"),
        ("b", "a", "\nb\n", "line"),
    ],
)
def test_lines_that_are_only_alike_are_shown(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    assert shown(text, prefix, suffix, kind) == text


def test_what_stands_behind_the_cursor_on_its_line_is_not_said_again() -> None:
    assert shown("value", "f(", "value)\n", "line") is None
    assert shown(" value", "f(a,", " value)\n", "line") is None
    assert shown("val", "f(", "value)\n", "line") == "val", "that is another word"
    assert shown(")", "f(g(x", ")\n", "line") == ")", "one bracket may be missing"


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "left"),
    [
        ("a,\n    b,\n)", "f(\n    ", "\n)\n", "a,\n    b,"),
        ("a, b)", "f(\n    ", "\n)\n", "a, b"),
        ("a, g(b))", "f(\n    ", "\n)\n", "a, g(b)"),
        ("a, g(b)", "f(\n    ", "\n)\n", "a, g(b)"),
        ("x)", "f(bar(\n    ", "\n)\n", "x)"),
        ("x)", "f(g(bar(\n    ", "\n)\n", "x)"),
        ("x))", "f(bar(\n    ", "\n)\n", "x)"),
        ("1])", "f([\n    ", "\n])\n", "1"),
        ("1])", "f([\n    ", "\n)\n", "1]"),
        ("a, b)", "f(", ")\n", "a, b"),
        ("a, b)", "f(", "\ng()\n", "a, b)"),
        ("return ')'", "def f():\n    ", "\n)\n", "return ')'"),
    ],
)
def test_a_bracket_that_is_closed_behind_a_block_is_not_closed_twice(text: str, prefix: str, suffix: str, left: str) -> None:
    assert shown(text, prefix, suffix, "block") == left


TABS = "class A:\n\tdef f(self):\n\t\treturn 1\n"
TWO = "class A:\n  def f(self):\n    return 1\n"


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "left"),
    [
        ("if x:\n        y()", TABS + "\t", "\n", "if x:\n\t\ty()"),
        ("if x:\n    y()\n  z()", TABS + "\t", "\n", "if x:\n\t\ty()\n\tz()"),
        ("if x:\n     y()", TABS + "\t", "\n", "if x:\n     y()"),
        ("    y()", TABS + "def g():\n", "\n", "\ty()"),
        ("if x:\n\t\ty()", TWO + "  ", "\n", "if x:\n    y()"),
        ("if x:\n        y()", TABS + "  z()\n\t", "\n", "if x:\n        y()"),
        ("if x:\n        y()", "", "", "if x:\n        y()"),
        ("    y()", "def g():\n", "\n", "    y()"),
        (" = [\n        1]", TABS + "\tx", " # why\n", " = [\n\t\t1]"),
    ],
)
def test_lines_are_indented_as_the_document_is(text: str, prefix: str, suffix: str, left: str) -> None:
    assert shown(text, prefix, suffix, "block") == left


@given(CODE, CODE, CODE, st.sampled_from(["line", "block", "function"]))
def test_what_is_shown_is_shown_again_as_it_is(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    once = shown(text, prefix, suffix, kind)
    if once is not None:
        assert once.strip()
        assert shown(once, prefix, suffix, kind) == once


@given(CODE, CODE, CODE)
def test_only_white_space_and_closing_brackets_are_taken_away(text: str, prefix: str, suffix: str) -> None:
    left = shown(text, prefix, suffix, "block")
    if left is not None:
        whole, kept = "".join(text.split()), "".join(left.split())
        assert whole.startswith(kept)
        assert not whole[len(kept) :].strip(")]}")
