from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.completion.task import Kind
from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.overlap import without_overlap
from assay.suggestion.cut.steps import text_to_show, unless_it_repeats_lines, unless_it_repeats_the_rest, without_closed_brackets

PIECES = ["a", "b(", ")", "]", "[", "}", " ", "    ", "\t", "\n", "\r\n", "x = 1", "return", "}", "else:", "'", '"', "# ("]
CODE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(CODE, CODE, CODE, st.sampled_from(["line", "block", "function"]))
def test_what_is_shown_is_shown_again_as_it_is(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    once = text_to_show(text, Cursor(prefix, suffix, kind))
    if once is not None:
        assert once.strip()
        assert text_to_show(once, Cursor(prefix, suffix, kind)) == once


@given(CODE, CODE, CODE)
def test_only_white_space_and_closing_brackets_are_taken_away(text: str, prefix: str, suffix: str) -> None:
    left = text_to_show(text, Cursor(prefix, suffix, "block"))
    if left is not None:
        whole, kept = "".join(text.split()), "".join(left.split())
        assert whole.startswith(kept)
        assert not whole[len(kept) :].strip(")]}")


def test_what_is_blank_at_the_end_or_stands_behind_the_cursor_is_not_shown() -> None:
    assert text_to_show("  \n\t\n", Cursor("x = ", "\n", "block")) is None
    assert unless_it_repeats_the_rest(" value", Cursor("f(a,", " value)\n", "line")) is None
    assert unless_it_repeats_the_rest("val", Cursor("f(", "value)\n", "line")) == "val", "that is another word"
    assert unless_it_repeats_the_rest(")", Cursor("f(g(x", ")\n", "line")) == ")", "one bracket may be missing"
    assert text_to_show("1  ", Cursor("x = ", "\n", "line")) == "1"
    assert text_to_show("a\n    b\n\n  ", Cursor("    ", "\n", "block")) == "a\n    b"
    assert text_to_show("1 ", Cursor("x = ", "+ y\n", "line")) == "1 "


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "left"),
    [
        ("a,\n    b,\n)", "f(\n    ", "\n)\n", "a,\n    b,"),
        ("a, g(b))", "f(\n    ", "\n)\n", "a, g(b)"),
        ("x)", "f(bar(\n    ", "\n)\n", "x)"),
        ("x))", "f(bar(\n    ", "\n)\n", "x)"),
        ("1])", "f([\n    ", "\n])\n", "1"),
        ("a, b)", "f(", ")\n", "a, b"),
        ("return ')'", "def f():\n    ", "\n)\n", "return ')'"),
    ],
)
def test_a_bracket_that_is_closed_behind_a_block_is_not_closed_twice(text: str, prefix: str, suffix: str, left: str) -> None:
    assert without_closed_brackets(text, Cursor(prefix, suffix, "block")) == left


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "kind"),
    [
        ("total = 0", "    ", "\n    total = 0\n", "line"),
        (" = 0", "total", "\ntotal = 0\n", "line"),
        ("total = 0", "x\ntotal = 0\n", "\n", "line"),
        ("a()\n    b()", "    a()\n    b()\n\n    ", "\n", "block"),
        ("}", "    ", "\n    }\n", "line"),
    ],
)
def test_the_lines_above_or_below_are_not_said_again(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    assert unless_it_repeats_lines(text, Cursor(prefix, suffix, kind)) is None


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "kind"),
    [
        ("total = 0\n    count = 0", "    ", "\n    total = 0\n    more\n", "block"),
        ("total = 1", "    ", "\n    total = 0\n", "line"),
        ("return", "        ", "\n    return\n", "line"),
        ("0", "a = ", "\nb = 0\n", "line"),
    ],
)
def test_lines_that_are_only_alike_are_shown(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    assert unless_it_repeats_lines(text, Cursor(prefix, suffix, kind)) == text


@pytest.mark.parametrize(
    ("text", "rest", "left"),
    [
        ("x)", ")", "x"),
        ("f(x))", ")", "f(x)"),
        ("a=1, b=2)", ", b=2)", "a=1"),
        ("x,", ", y):", "x"),
        ("value", "e + 1", "value"),
        ("foo", "foo(x)", ""),
        ("foo", "foobar", "foo"),
    ],
)
def test_what_stands_behind_the_cursor_is_not_repeated(text: str, rest: str, left: str) -> None:
    assert without_overlap(text, Cursor("", rest)) == left


@given(st.text("ab()[], _", max_size=12), st.text("ab()[], _", max_size=12))
def test_only_a_true_overlap_is_left_out(text: str, rest: str) -> None:
    left = without_overlap(text, Cursor("", rest))
    assert text.startswith(left)
    assert rest.startswith(text[len(left) :])


@pytest.mark.parametrize(
    ("language", "file", "text", "left"),
    [
        ("python", 'if line.startswith("¦"):\n    pass\n', '["):', "["),
        ("python", 'a = b["¦"]\n', 'key"]', "key"),
        ("python", "a = f'{¦}'\n", "b!r}'", "b!r"),
        ("python", "a = f(g(¦))\n", "x))", "x"),
        ("python", "a = f(¦)\n", "g(x)", "g(x)"),
        ("python", 'def f():\n    """¦"""\n', 'Say it."""', "Say it."),
        ("python", 'a = "¦" + b\n', 'x" + b', "x"),
        ("python", 'a = "¦"\n', 'x" + "y', 'x" + "y'),
        ("javascript", "const a = `${¦}`\n", "b}`", "b"),
        ("rust", 'fn f() {\n    let a = r#"¦"#;\n}\n', 'b"#;', "b"),
        ("shellscript", 'echo "$(¦)"\n', 'ls)"', "ls"),
        ("cpp", "class A {\n  Q_OBJECT\n  signals:\n  X(\n  Y(\n  Z(\n  void f() { h(¦); }\n", "bar()", "bar()"),
        ("python", 'a = f("¦")\n', 'x")  # as above', "x"),
        ("python", "a = f(¦)  # as above\n", 'x, "#"', 'x, "#"'),
        ("rust", 'fn f() {\n    let c = load("¦");\n}\n', 'x"); // as above', "x"),
        ("javascript", 'load("¦")\n', "https://a.b", "https://a.b"),
        ("shellscript", 'c="$(date ¦)"\n', '+%Y)" # as above', "+%Y"),
        ("typescript", "const x: Map<string, ¦> = new Map();\n", "string>;", "string"),
        ("python", 'a = [\n    ¦\n    "b",\n]\n', '"a", foo(x', '"a", foo(x'),
    ],
)
def test_what_closes_behind_the_cursor_is_not_written_again(language: str, file: str, text: str, left: str) -> None:
    prefix, suffix = file.split("¦")
    assert without_overlap(text, Cursor(prefix, suffix, "line", language)).rstrip() == left
