from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.stopping.statements import open_brackets, unpaired_closing, whole_statements


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("a = 1\nb = ", "a = 1"),
        ("a = 1", ""),
        ("x()\nf(\n    a,\n    b\n)\ny", "x()\nf(\n    a,\n    b\n)"),
        ("x()\nif y:\n    z", "x()"),
        ("x()\nif y:\n    z()\nelse:\n", "x()\nif y:\n    z()"),
        ("x()\na = b and\nc", "x()"),
        ("x()\n@wraps\ndef", "x()"),
        ("x()\n# why\ny", "x()"),
        ("x()\ntry:\n    y()\n    z", "x()"),
        ('"""One (\n\nmore"""\nx', '"""One (\n\nmore"""'),
        ("s = '('\nx", "s = '('"),
        ("// (\nlet x = 1;\nlet", "// (\nlet x = 1;"),
        ("if (x) {\n    y();\n}\nz", "if (x) {\n    y();\n}"),
        ("a()\r\nb()\r\nc", "a()\r\nb()"),
    ],
)
def test_a_text_is_cut_back_to_its_last_whole_statement(text: str, whole: str) -> None:
    assert whole_statements(text) == whole


def test_what_is_open_before_the_text_outside_strings_and_comments_has_to_be_closed_by_it() -> None:
    assert whole_statements("a\n    b\n)\nc", "class A:\n    x = f(\n        ") == "a\n    b\n)"
    assert whole_statements("a\nb\n", "def f():\n    g(\n    ") == ""
    assert whole_statements("more\nof it\n", 'def f():\n    """One.\n\n    ') == ""
    assert whole_statements("a\nb\n", "g((\n\ndef f():\n    ") == "a\nb", "what is broken above the last top-level line is let be"
    assert open_brackets("f(g(x), '(', [\n") == 2
    assert open_brackets("# (\nf(") == 1
    assert unpaired_closing("a) + f(')') ]") == [1, 12]


STATEMENTS = [
    "a = 1",
    "f(x, [1, 2])",
    "if a:\n    b()",
    "try:\n    c()\nfinally:\n    d()",
    "s = '''(\n[\n'''",
    "x = (\n    1,\n)",
    "# c",
    "@d\ndef e():\n    pass",
]


@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=5), st.integers(0, 80))
def test_what_is_left_of_python_is_python_and_is_left_again(statements: list[str], cut: int) -> None:
    text = "\n".join(statements) + "\n"
    left = whole_statements(text[:cut])
    assert text.startswith(left)
    ast.parse(left)
    assert whole_statements(left + "\n") == left
