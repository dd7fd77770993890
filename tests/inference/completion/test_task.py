from __future__ import annotations

import pytest

from assay.inference.completion.task import Kind, next_lines, task_of


@pytest.mark.parametrize(
    ("prefix", "suffix", "kind", "task"),
    [
        ("", "", "line", "line"),
        ("x\n    ", "  \ny", "line", "line"),
        ("x = ", "", "line", "line_rest"),
        ("x = ", " \t\r\ny", "line", "line_rest"),
        ("print(", ")\n", "line", "line_middle"),
        ("    ", "x", "line", "line_middle"),
        ("a\rb = ", "", "line", "line_rest"),
        ("a = 1\r", "", "line", "line"),
        ("print(", ")\n", "block", "block"),
        ("print(", ")\n", "function", "function"),
    ],
)
def test_the_task_is_read_off_the_cursors_line(prefix: str, suffix: str, kind: Kind, task: str) -> None:
    assert task_of(prefix, suffix, kind) == task


def test_the_next_lines_are_those_below_the_cursors_that_are_not_blank() -> None:
    assert next_lines("rest\r\n\r\n  \r\n  a \r\nb\r\nc", 2) == ("  a", "b")
    assert next_lines("rest", 2) == ()
    assert next_lines("\na", 2) == ("a",)
    assert next_lines("\n" * 100_000 + "a", 1) == (), "far below is not next"
