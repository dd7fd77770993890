from __future__ import annotations

import pytest

from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.steps import without_closed_brackets


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
    assert without_closed_brackets(text, Cursor(prefix, suffix, "block")) == left
