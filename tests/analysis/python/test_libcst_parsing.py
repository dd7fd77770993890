"""What would overflow libcst's stack is refused before it is parsed, and what is only long is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import libcst as cst
import libcst.matchers as m
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.analysis.python.libcst_parsing import check_nesting, parse_module
from assay.analysis.python.source_text import UnreadableSource
from assay.analysis.python.syntax.parsed import parse

NESTED = {
    "parentheses": ("(", "1", ")"),
    "dicts": ("{1:", "1", "}"),
    "calls in calls": ("f(a=", "1", ")"),
    "subscripts in subscripts": ("a[1:", "1", "]"),
    "assignments": ("(a:=", "1", ")"),
    "comprehensions": ("[", "a", " for a in b]"),
    "f-strings": ('f"{', "1", '}"'),
    "f-strings of three quotes": ("rF'''{", "1", "}'''"),
    "format specifications": ("{1:", "1", "}"),
    "attributes": ("", "a", ".b"),
    "sums": ("", "1", " + 1"),
    "calls": ("", "f", "()"),
    "negations": ("not ", "1", ""),
    "conditions": ("1 if a else ", "1", ""),
    "functions": ("lambda: ", "1", ""),
    "functions in defaults": ("lambda a=", "1", ": 1"),
    "strings": ("'a' ", "''", ""),
    "f-strings beside each other": ("f'{a}' ", "''", ""),
    "yields": ("(yield ", "1", ")"),
}
LINES = {
    "branches": "if x:\n    pass\n" + "elif x:\n    pass\n" * 3000,
    "clauses": "x = [a " + "for a, b in c " * 20_000 + "]\n",
    "functions in brackets": "x = (" + "lambda a, b: " * 20_000 + "1)\n",
    "chains in brackets": "x = (1 + " + "1 + " * 900 + "(1" + " + 1" * 1100 + "))\n",
    "patterns": "match a:\n    case " + "[" * 20 + "a" + "]" * 20 + ":\n        pass\n",
    "a specification of an f-string": 'x = f"' + "{1:" * 3000 + "}" * 3000 + '"\n',
    "code between the strings of an f-string": 'x = f"{a["b"]+' + "(" * 3000 + "1" + ")" * 3000 + '+"c"}"\n',
    "code behind the name of a character": 'x = f"\\N{\'}" + ' + "(" * 3000 + "1" + ")" * 3000 + ' + "\'"\n',
}


def nested(kind: str, depth: int) -> str:
    before, inside, after = NESTED[kind]
    return f"x = {before * depth}{inside}{after * depth}\n"


@pytest.mark.parametrize("kind", NESTED)
def test_what_nests_without_end_is_refused(kind: str) -> None:
    for mark in ("", "\ufeff"):
        with pytest.raises(UnreadableSource, match=r"line 1: nested too deep|can be parsed: line 1"):
            parse(mark + nested(kind, 20_000))


@pytest.mark.parametrize("text", LINES.values(), ids=LINES)
def test_what_nests_without_end_in_other_ways_is_refused(text: str) -> None:
    with pytest.raises(UnreadableSource, match="nested too deep"):
        check_nesting(text)


NO_PATTERNS = [
    'case = {"a": {"b": {"c": [{"d": [(1, 2)]}]}}}',
    "match x:\n    case 1:\n        case = f(g(h(i(j([[1]])))))",
    "match x:\n    case 1: return_(f(g(h(i([[[1]]])))))",
]


@pytest.mark.parametrize("text", NO_PATTERNS)
def test_code_is_no_pattern_where_a_line_begins_with_the_name_case(text: str) -> None:
    assert parse_module(text + "\n").code == text + "\n"


@pytest.mark.parametrize("before", ["", "re.match\n"])
@pytest.mark.parametrize("name", ["", "case.a", "a.case.b", "-1 | "])
def test_a_pattern_counts_wherever_it_stands(before: str, name: str) -> None:
    with pytest.raises(UnreadableSource, match="nested too deep"):
        check_nesting(f"{before}match x:\n    case {name}({'(' * 7}a{')' * 7}):\n        pass\n")


def deepest(kind: str, low: int = 1, high: int = 20_000) -> int:
    """How deep a kind may nest."""
    while high - low > 1:
        middle = (low + high) // 2
        try:
            check_nesting(nested(kind, middle))
            low = middle
        except UnreadableSource:
            high = middle
    return low


# All that is allowed at its deepest, in one process, from a thread of 256 KiB.
_ALL = """
import sys, threading
from assay.analysis.python.libcst_parsing import UnreadableSource, parse_module
def read():
    for text in sys.stdin.read().split("\\0"):
        try:
            parse_module(text)
        except UnreadableSource as error:
            print(error)
threading.stack_size(256 << 10)
thread = threading.Thread(target=read)
thread.start()
thread.join()
print("read")
"""


@pytest.mark.slow
def test_the_deepest_that_is_allowed_is_read_from_a_small_stack() -> None:
    texts = [nested(kind, deepest(kind)) for kind in NESTED]
    blocks = "".join(f"{' ' * i}if x:\n" for i in range(98))
    texts.append(f"{blocks}{' ' * 98}{nested('functions in defaults', 200)}")
    ran = subprocess.run(
        [sys.executable, "-c", _ALL],
        input="\0".join(texts),
        capture_output=True,
        text=True,
        cwd=Path(assay.__file__).parents[1],
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "read\n"), ran


PIECES = [
    *("f'", 'f"', "rf'", "f'''", "'", '"', "'''", "{", "}", "{{", "}}", "(", ")", "[", "]"),
    *(":", ":=", "\\", "\\N{", "#", "\n", "a", "+", ",", "!r", "1"),
]


def depth_of(tree: cst.Module) -> int:
    """How many brackets and fields of f-strings are in each other."""
    deepest = 0
    pending: list[tuple[cst.CSTNode, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        depth += len(getattr(node, "lpar", ()))
        depth += m.matches(node, m.List() | m.Set() | m.Dict() | m.Call() | m.Subscript() | m.FormattedStringExpression())
        deepest = max(deepest, depth)
        pending += [(child, depth) for child in node.children]
    return deepest


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_nothing_nests_deeper_than_is_seen(text: str) -> None:
    source = f"x = {text}\n"
    try:
        deep = depth_of(cst.parse_module(source))
    except cst.ParserSyntaxError:
        return
    around = 1001 - deep
    with pytest.raises(UnreadableSource):
        check_nesting(f"x = {'(' * around}{text}{')' * around}\n")


@pytest.mark.slow
def test_a_long_table_and_many_statements_are_read() -> None:
    table = "x = {" + "".join(f"'{i}': (-1, a.b, f(c=-{i}).g),\n" for i in range(2000)) + "}\n"
    check_nesting(table)
    check_nesting("x = -a.b + f()\n" * 2000)
    assert parse(table).tree.code == table
