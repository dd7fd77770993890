from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.overlap import without_overlap


@pytest.mark.parametrize(
    ("text", "rest", "left"),
    [
        ("x)", ")", "x"),
        ("x", ")", "x"),
        ("f()", ")", "f()"),
        ("f(x))", ")", "f(x)"),
        ("x))", "))", "x"),
        ("h(x))", "))", "h(x)"),
        ('hello")', '")', "hello"),
        ("a=1, b=2)", ", b=2)", "a=1"),
        ("x,", ", y):", "x"),
        ("value", "e + 1", "value"),
        ("foo", "foo(x)", ""),
        ("foo", "foobar", "foo"),
        ("a ", " + b", "a"),
        ("items[0]", "]", "items[0]"),
        ("", ")", ""),
        ("x", "", "x"),
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
        ("python", 'a = f("¦")\n', 'abc").strip()', "abc"),
        ("python", "a = f'{¦}'\n", "b!r}'", "b!r"),
        ("python", "a = f(g(¦))\n", "x))", "x"),
        ("python", "a = f(¦)\n", "g(x))", "g(x)"),
        ("python", "a = f(¦)\n", "g(x)", "g(x)"),
        ("python", 'def f():\n    """¦"""\n', 'Say it."""', "Say it."),
        ("python", 'def f():\n    """Say it.\n\n    ¦\n    """\n', 'More."""', "More."),
        ("python", "a = f(\n    b,\n    ¦\n)\n", "c)", "c"),
        ("python", 'a = "¦" + b\n', 'x" + b', "x"),
        ("python", 'a = "¦"\n', 'x" + "y', 'x" + "y'),
        ("javascript", "const a = `¦`\n", "${b}`", "${b}"),
        ("javascript", "const a = `${¦}`\n", "b}`", "b"),
        ("javascript", "f((a) => { ¦ })\n", "g(a) })", "g(a)"),
        ("rust", 'fn f() {\n    let a = r#"¦"#;\n}\n', 'b"#;', "b"),
        ("shellscript", 'echo "$(¦)"\n', 'ls)"', "ls"),
        ("java", 'class A {\n    String a = f("¦");\n}\n', 'b(");', "b("),
        ("cpp", "class A {\n  Q_OBJECT\n  signals:\n  X(\n  Y(\n  Z(\n  void f() { h(¦); }\n", "bar()", "bar()"),
        ("python", "<<<<<<< mine\na = 1\n=======\n>>>>>>> theirs\nh(¦)\n", "bar()", "bar()"),
        ("python", 'a = f("¦")\n', 'x")  # as above', "x"),
        ("python", "a = f\"{b['¦']}\"\n", "c']}\")  # as above", "c"),
        ("python", "a = f(¦)  # as above\n", 'x, "#"', 'x, "#"'),
        ("go", 'package a\n\nfunc f() {\n\tc := load("¦")\n}\n', 'x") // as above', "x"),
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
