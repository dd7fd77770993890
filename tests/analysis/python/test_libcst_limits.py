"""What would overflow libcst's stack is refused before it is parsed, and what is only long is not."""

from __future__ import annotations

import pytest

from assay.analysis.python.libcst_limits import check_nesting
from assay.analysis.python.source_text import UnreadableSource
from assay.analysis.python.syntax.parsed import parse

DEEP = {
    "parentheses": "(" * 3000 + "1" + ")" * 3000,
    "lists": "[" * 3000 + "]" * 3000,
    "attributes": "a" + ".b" * 20_000,
    "sums": "1" + " + 1" * 20_000,
    "negations": "not " * 5000 + "1",
    "calls": "f" + "()" * 5000,
    "calls with arguments": "f" + ".g(1, 2)" * 5000,
    "conditions": "1 if a else " * 5000 + "1",
    "functions": "lambda: " * 3000 + "1",
    "functions with parameters": "lambda a, b: " * 20_000 + "1",
    "functions in brackets": "(" + "lambda a, b: " * 20_000 + "1)",
    "clauses": "[a " + "for a, b in c " * 20_000 + "]",
    "strings": "'a' " * 20_000,
    "chains in brackets": "(1" + " + 1" * 900 + " + (1" + " + 1" * 900 + "))",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_nests_without_end_is_refused(text: str) -> None:
    with pytest.raises(UnreadableSource, match="line 1: nested too deep"):
        parse(f"x = {text}\n")
    with pytest.raises(UnreadableSource, match="line 1: nested too deep"):
        parse(f"\ufeffx = {text}\n")


def test_many_branches_of_one_statement_are_refused() -> None:
    with pytest.raises(UnreadableSource, match="nested too deep"):
        check_nesting("if x:\n    pass\n" + "elif x:\n    pass\n" * 3000)


@pytest.mark.slow
def test_a_long_table_and_many_statements_are_read() -> None:
    table = "x = {" + "".join(f"'{i}': (-1, a.b, f(c=-{i}).g),\n" for i in range(2000)) + "}\n"
    check_nesting(table)
    check_nesting("x = -a.b + f()\n" * 2000)
    assert parse(table).tree.code == table
