from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import assay
from assay.analysis.grammars import GRAMMARS
from assay.inference.stopping.rules import indentation
from assay.suggestion.cursor import Cursor
from assay.suggestion.syntax.guard import breaks, ends_of

MINE = [path for path in Path(assay.__file__).parent.joinpath("suggestion").rglob("*.py") if path.stat().st_size > 500]
# In each language a file with a gap, a text that fits into it and one that breaks it.
GAPS = {
    "c": ("int f(int a) {\n  ¦\n  return a;\n}\n", "a = g(a, 1);", "a = g(a, 1;"),
    "cpp": ("class A {\npublic:\n  int f() {\n    ¦\n  }\n};\n", "return g();", "return g());"),
    "csharp": ("class A\n{\n    int F(int a)\n    {\n        ¦\n    }\n}\n", "return a;", "return a };"),
    "go": ("package a\n\nfunc f(a int) int {\n\t¦\n\treturn a\n}\n", "a = g(a)", "a = g(a"),
    "java": ("class A {\n    int f(int a) {\n        ¦\n        return a;\n    }\n}\n", "a = g(a);", "a = g(a));"),
    "javascript": ("class A {\n  f(a) {\n    ¦\n  }\n}\n", "return `${a}`", "return `${a`"),
    "javascriptreact": ("function A() {\n  ¦\n}\n", "return <p>{a}</p>", "return <p>{a</p>"),
    "kotlin": ("class A {\n    fun f(a: Int): Int {\n        ¦\n    }\n}\n", "return g(a)", "return g(a"),
    "lua": ("local function f(a)\n  ¦\nend\n", "return g(a)", "return g(a"),
    "php": ("<?php\nclass A {\n    function f($a) {\n        ¦\n    }\n}\n", "return g($a);", "return g($a;"),
    "python": ("class A:\n    def f(self, a):\n        ¦\n        return a\n", "a = g(a)", "a = g(a"),
    "ruby": ("class A\n  def f(a)\n    ¦\n  end\nend\n", "g(a)", "g(a"),
    "rust": ("impl A {\n    fn f(&self, a: u8) -> u8 {\n        ¦\n    }\n}\n", "g(a)", "g(a]"),
    "shellscript": ("f() {\n  ¦\n}\n", 'g "$1"', 'g "$1'),
    "sql": ("SELECT a ¦\nFROM b;\n", ", c", ", c)"),
    "swift": ("class A {\n    func f(a: Int) -> Int {\n        ¦\n    }\n}\n", "return g(a)", "return g(a]"),
    "typescript": ("class A {\n  private f(a: number): number {\n    ¦\n  }\n}\n", "return g(a)", "return g(a"),
    "typescriptreact": ("const A = () => {\n  ¦\n}\n", "return <p>{a}</p>", "return <p>{a</p>"),
}


def cursor(file: str, language: str = "python") -> Cursor:
    prefix, suffix = file.split("¦")
    return Cursor(prefix, suffix, "line", language)


@pytest.mark.parametrize("language", [*GRAMMARS, "python"])
def test_in_each_language_with_a_grammar_a_text_that_breaks_the_file_is_told_from_one_that_does_not(language: str) -> None:
    file, whole, broken = GAPS[language]
    assert breaks(whole, cursor(file, language)) is False
    assert breaks(broken, cursor(file, language)) is True


def test_nothing_is_known_of_a_language_without_a_grammar_nor_of_a_dialect_that_it_does_not_know() -> None:
    assert breaks("x = (", Cursor("", "", "line", "markdown")) is None
    unknown = "".join(f"REFRESH THE THING number_{i} @@ WITH % NOTHING;\n" for i in range(5))
    assert breaks("REFRESH THE THING @@ b;", Cursor(unknown, unknown, "line", "sql")) is None


@pytest.mark.parametrize(
    ("file", "text", "broken"),
    [
        ('if line.startswith("¦"):\n    pass\n', '["):', True),
        ('if line.startswith("¦"):\n    pass\n', "[", False),
        ("for a in b:\n    ¦\n    c()\n", "if a:", False),
        ("try:\n    a()\n¦\n", "except OSError:", False),
        ("¦\ndef f():\n    pass\n", "@cache", False),
        ("¦\n", "try:", False),
        ("def f():\n    a = 1\n    ¦\n", "  b = 2", True),
        ("def f():\n    if a:\n        b()\n    ¦\n", "else:", False),
        ("def f():\n    b()\n    ¦\n", "else:", True),
        ('def f():\n    """Say ¦\n\n    More.\n    """\n', "it isn't (so", False),
        ('def f():\n    """Say ¦\n\n    More.\n    """\n', 'it."""', True),
        ("f(\n    a,\n    ¦\n)\n", "b=[1],", False),
        ("def f(¦):\n    pass\n", "a, b=", True),
        ("a = [\n    1,\n¦\n", "    2,", None),  # of what is open before nothing is told
        ("x = f(\ny = 1\n\n\ndef g():\n    ¦\n", "return (1", True),  # what is broken elsewhere excuses nothing
        ("x = f(\ny = 1\n\n\ndef g():\n    ¦\n", "return 1", False),
        ("a = b c¦\n", "d)", None),
        ("a = b if c¦\n", " + 1)", True),
        ("%matplotlib inline\n¦\n", "import numpy", None),
    ],
)
def test_a_text_is_judged_by_what_it_adds(file: str, text: str, broken: bool | None) -> None:
    assert breaks(text, cursor(file)) is broken


@pytest.mark.parametrize(
    ("language", "file", "text"),
    [
        ("javascript", "function f() {\n  ¦\n}\n", "items.forEach((item) => {"),
        ("c", "¦\nint a;\n", "#ifdef B"),
        ("ruby", "def f\n  ¦\nend\n", "items.each do |item|"),
        ("shellscript", "f() {\n  ¦\n}\n", "if [ -e a ]; then"),
        ("python", "def f():\n    ¦\n    g()\n", "return h("),
        ("python", "def f():\n    ¦\n    return 1\n", '"""Do a thing.'),
        # What looks like a comment in a string breaks nothing.
        ("python", 'def f():\n    """One.\n\n    Details:\n        see ¦ (closed)\n    """\n', "#12"),
        ("shellscript", "f() {\n    cat <<END\n    Details:\n        see ¦ (closed)\nEND\n}\n", "a # b"),
        ("csharp", "class A\n{\n    ¦\n}\n", "public void F(int a)"),
        ("java", "class A {\n    void f() {\n        ¦\n    }\n}\n", "try {"),
        ("kotlin", "fun f() {\n    ¦\n}\n", "xs.map { x ->"),
        ("javascript", "¦\nlet a = 1\n", "/**"),
        ("javascript", "f()\n¦\ng()\n", "const a = `b"),
        ("shellscript", "f() {\n  ¦\n}\n", "cat <<EOF"),
    ],
)
def test_a_line_that_opens_something_is_whole_with_what_ends_it(language: str, file: str, text: str) -> None:
    assert breaks(text, cursor(file, language)) is False


@given(st.randoms(use_true_random=False))
def test_what_stood_in_a_file_of_python_never_breaks_it(drawn: random.Random) -> None:
    text = drawn.choice(MINE).read_text()
    lines = text.splitlines(keepends=True)
    number = drawn.choice([number for number, line in enumerate(lines) if line.strip()])
    start = len("".join(lines[:number])) + drawn.randrange(len(lines[number].rstrip()))
    end = drawn.randint(start, len("".join(lines[:number])) + len(lines[number].rstrip()))
    assume(not text[start:end].endswith("#"))  # which would make a comment of what stands behind the cursor
    assert not breaks(text[start:end], Cursor(text[:start], text[end:], "line", "python"))


@given(st.randoms(use_true_random=False), st.sampled_from([")", '"', "]", " else", "'''", "(", " = = 1", " x y"]))
def test_what_breaks_a_whole_file_is_told_by_the_part_around_it(drawn: random.Random, added: str) -> None:
    text = drawn.choice(MINE).read_text()
    lines = text.splitlines(keepends=True)
    number = drawn.choice([number for number, line in enumerate(lines) if line.strip()])
    start = len("".join(lines[:number])) + indentation(lines[number])
    line, rest = lines[number].strip(), text[start:].partition("\n")[2]
    without = any(_is_whole(text[:start] + instead + "\n" + rest) for instead in ("", "pass"))
    changed = text[:start] + line + added + "\n" + rest
    if without:
        ends = any(
            _is_whole(f"{text[:start]}{line}{added}\n{end}\n{rest}")
            for end in ends_of(lines[number][: -len(line) - 1] + line + added, "python")
        )
        assert breaks(line + added, Cursor(text[:start], "\n" + rest, "line", "python")) is not (_is_whole(changed) or ends)


def _is_whole(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
