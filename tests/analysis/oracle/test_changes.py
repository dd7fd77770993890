"""Which lines changed, and what they stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.oracle.changes import affected_lines, changed_lines, lines_behind, only_within, with_statements

texts = st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=8)


@given(texts, texts)
def test_outside_of_the_changed_lines_the_texts_are_the_same(old: list[str], new: list[str]) -> None:
    a, b = "\n".join(old), "\n".join(new)
    lines = changed_lines(a, b)
    if a == b:
        assert not lines
    else:
        assert lines
        assert 1 <= lines.start <= lines.stop - 1 <= len(old)
        assert only_within(a, b, lines)


@given(texts, texts, texts, texts)
def test_a_replaced_region_is_within_its_own_lines_though_its_neighbours_repeat(
    before: list[str], old: list[str], new: list[str], after: list[str]
) -> None:
    lines = range(len(before) + 1, len(before) + len(old) + 1)
    assert only_within("\n".join([*before, *old, *after]), "\n".join([*before, *new, *after]), lines)


def test_a_change_beside_the_lines_is_seen() -> None:
    assert not only_within("a\nb\nc", "a\nX\nY", range(2, 3))
    assert not only_within("a\nb\nc", "b\nc", range(2, 3))


SOURCE = """def f(a):
    x = call(
        a,
        2,
    )
    if (
        x
    ):
        y = 1
        z = 2
    match x:
        case 1:
            pass
    return x
"""


def test_a_line_stands_for_its_whole_statement_and_a_header_without_its_body() -> None:
    assert with_statements(SOURCE, range(3, 4)) == range(2, 6)
    assert with_statements(SOURCE, range(7, 8)) == range(6, 9)
    assert with_statements(SOURCE, range(9, 10)) == range(9, 10)
    assert with_statements(SOURCE, range(11, 12)) == range(11, 12)
    assert with_statements(SOURCE, range(4, 10)) == range(2, 10)


def test_a_source_that_does_not_parse_here_keeps_its_lines() -> None:
    assert with_statements("def f(:\n  (\n", range(1, 2)) == range(1, 2)


@given(texts, texts)
def test_lines_stem_from_lines_of_the_old_text_and_unchanged_ones_from_themselves(old: list[str], new: list[str]) -> None:
    a, b = "\n".join(old), "\n".join(new)
    for line in range(1, len(new) + 1):
        behind = lines_behind(a, b, range(line, line + 1))
        assert behind
        assert set(behind) <= set(range(1, len(old) + 1))
        assert set(behind) <= set(lines_behind(a, b, range(1, len(new) + 1)))
    assert lines_behind(a, a, range(1, len(old) + 1)) == range(1, len(old) + 1)


def test_lines_behind_what_was_put_in_are_those_on_both_sides() -> None:
    assert lines_behind("a\nb\nc", "a\nx\ny\nb\nc", range(3, 4)) == range(1, 3)
    assert lines_behind("a\nb\nc", "x\na\nb\nc", range(4, 5)) == range(3, 4)
    assert lines_behind("a\nb\nc\nd", "a\nX\nd", range(2, 3)) == range(2, 4)


SCOPES = '''import json
import os


def load(text, path=None):
    """Read."""
    count = 0
    if path is not None:
        name = str(path)
        return os.path.exists(name)

    def inner():
        return json.loads(text)

    return [inner() for _ in range(count + 1)][0]


def series(n):
    for i in range(n):
        yield i


class Box:
    def size(self):
        if self:
            return len(self)
        return [len(name) for name in json.loads("[]")]
'''
LOAD, SERIES, SIZE = range(6, 16), range(19, 21), range(25, 28)
NOTHING, EVERYTHING = range(0), range(1, 29)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        # bound in a branch, used in another function's body, in the same one, or nowhere else
        ("        name = str(path)\n", "        import json\n        name = str(path)\n", LOAD),
        ("        name = str(path)\n", "        name = str(path)\n        os = None\n", LOAD),
        # no longer bound, or bound elsewhere
        ("        name = str(path)\n", "        pass\n", LOAD),
        ("    count = 0\n", "    global count\n    count = 0\n", LOAD),
        ("        return json.loads(text)\n", "        text = text; return json.loads(text)\n", LOAD),
        ("    count = 0\n", "    def range(x): yield from []\n    count = 0\n", LOAD),
        # kinds of functions
        ("        return os.path.exists(name)\n", "        yield os.path.exists(name)\n", LOAD),
        ("        yield i\n", "        return i\n", EVERYTHING),
        ("        yield i\n", "        yield i + 1\n", NOTHING),
        # methods
        ("            return len(self)\n", "            len = 1\n            return len\n", SIZE),
        # at the module's level, the lines themselves say all
        ("import os\n", "import os, sys\n", NOTHING),
        ("            return len(self)\n", "            return len(\n", EVERYTHING),
    ],
)
def test_a_change_reaches_the_whole_function_where_a_name_in_it_gets_another_scope(old: str, new: str, lines: range) -> None:
    assert SCOPES.count(old) == 1
    text = SCOPES.replace(old, new)
    assert affected_lines(SCOPES, text, changed_lines(SCOPES, text)) == lines
