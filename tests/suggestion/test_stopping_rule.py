from __future__ import annotations

import pytest

from assay.suggestion.stopping_rule import block_indent, function_indent


@pytest.mark.parametrize(
    ("prefix", "columns"),
    [
        ("", 0),
        ("x = 1", 0),
        ("def f():\n    ", 4),
        ("def f():\n    x = 1\n    y", 4),
        ("def f():\n", 1),
        ("def f():", 1),
        ("def f():  # why\n", 1),
        ("    if x:\n\n", 5),
        ("    if x:\n        ", 8),
        ("\tx", 8),
        ("def f():\n    return 1\n", 0),
    ],
)
def test_a_block_is_as_deep_as_its_line_and_deeper_than_what_opens_it(prefix: str, columns: int) -> None:
    assert block_indent(prefix) == columns


@pytest.mark.parametrize(
    ("prefix", "columns"),
    [
        ("def f():\n    ", 1),
        ("class A:\n    def f(self):\n        if x:\n            ", 5),
        ("class A:\n    async def f(\n        self,\n    ) -> int:\n        for x in y:\n            z\n            ", 5),
        ("def f():\n    x = 1\n\ny = ", 0),
        ("if x:\n    y\n    ", 4),
        ("def f(a, ", 1),
        ("    pub(crate) async fn f() {\n        ", 5),
        ("def f():\n    def g():\n        pass\n    ", 1),
        ("def f():\n    # function of x\n    if x:\n        ", 1),
        ("", 0),
    ],
)
def test_a_function_is_as_deep_as_its_body_wherever_in_it_the_cursor_stands(prefix: str, columns: int) -> None:
    assert function_indent(prefix) == columns
