from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path

import pytest

from training.mutate import KINDS, Function, bug, edits, parse

STDLIB = [p.read_text(encoding="utf-8") for p in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
SMALL = [text for text in STDLIB if len(text) < 30_000][:40]


def functions(text: str) -> list[Function]:
    tree = parse(text)
    assert tree is not None
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def lines_after(source: str, kind: str) -> set[str]:
    """Every line that an edit of this kind makes."""
    lines = source.split("\n")
    made = set()
    for function in functions(source):
        for e in edits(function, lines):
            if e.kind == kind:
                line = lines[e.line - 1]
                made |= {(line[: e.start] + instead + line[e.end :]).strip() for instead in e.instead}
    return made


def in_function(*lines: str) -> str:
    return "\n".join(["def f(self, a, b):", *(f"    {line}" for line in lines)])


@pytest.mark.parametrize(
    ("kind", "line", "expected"),
    [
        ("comparison", "return a < b", {"return a <= b", "return a > b"}),
        ("comparison", "return (a) is  not None", {"return (a) is None"}),
        ("comparison", "return a not in b", {"return a in b"}),
        ("comparison", "return 0 < a == b", {"return 0 <= a == b", "return 0 > a == b", "return 0 < a != b"}),
        ("arguments", "g(a, b)", {"g(b, a)"}),
        ("arguments", "g('ü', b=1)", set()),
        ("arguments", "g('ü', a, *b)", {"g(a, 'ü', *b)"}),
        ("name", "return a", {"return b"}),
        ("name", "self.x = self.y", {"self.x = self.x"}),
        ("else", "return a if b else 1", {"return a"}),
        ("else", "return 'é' and not a", {"return 'é' and a"}),
        ("off_by_one", "return b[0]", {"return b[1]"}),
        ("off_by_one", "return b[a - 1 :]", {"return b[a :]"}),
        ("off_by_one", "return b[:-2]", {"return b[:-1]", "return b[:-3]"}),
        ("off_by_one", "return range(a)", {"return range(a - 1)", "return range(a + 1)"}),
        ("off_by_one", "return f'{b[0]}'", set()),
    ],
)
def test_each_kind_of_edit_changes_what_it_is_named_for(kind: str, line: str, expected: set[str]) -> None:
    assert lines_after(in_function(line), kind) == expected


def test_an_elif_loses_its_else_and_a_condition_gets_a_not() -> None:
    source = in_function("if a:", "    pass", "elif b == 1:", "    pass")
    assert lines_after(source, "else") == {"if not a:", "if b == 1:"}


def test_annotations_decorators_and_the_inside_of_f_strings_are_left_alone() -> None:
    source = "@d(a, b)\ndef f(a: g(1, 2), b) -> h[0]:\n    c: g(1, 2)\n    return f'{g(a, b)}'\n"
    assert all(not edits(function, source.split("\n")) for function in functions(source))


@pytest.mark.slow
def test_a_bug_changes_one_line_parses_means_another_and_is_undone_by_the_right_line() -> None:
    kinds = set()
    for number, text in enumerate(SMALL):
        lines = text.split("\n")
        for function in functions(text)[:8]:
            found = bug(function, lines, random.Random(number))
            if found is None:
                continue
            kinds.add(found.kind)
            wrong = [*lines[: found.line - 1], found.wrong, *lines[found.line :]]
            tree, real = parse("\n".join(wrong)), parse(text)
            assert tree is not None
            assert real is not None
            assert ast.dump(tree) != ast.dump(real)
            assert [i for i, (a, b) in enumerate(zip(lines, wrong, strict=True), 1) if a != b] == [found.line]
            wrong[found.line - 1] = found.right
            assert "\n".join(wrong) == text
            assert function.lineno <= found.line <= (function.end_lineno or 0)
            assert found == bug(function, lines, random.Random(number))
    assert kinds == set(KINDS)


def test_a_sum_deeper_than_pythons_stack_is_no_error() -> None:
    def source(terms: int) -> str:
        return in_function("return (", *["a +"] * terms, "b)")

    assert bug(functions(source(10))[0], source(10).split("\n"), random.Random(0)) is not None
    assert bug(functions(source(995))[0], source(995).split("\n"), random.Random(0)) is None


def test_what_python_does_not_parse_has_no_tree() -> None:
    for text in ("print 'Python 2'", "def f(:", "\0", "(" * 500):
        assert parse(text) is None
