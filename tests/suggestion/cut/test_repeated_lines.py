from __future__ import annotations

import pytest

from assay.inference.completion.task import Kind
from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.steps import unless_it_repeats_lines


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "kind"),
    [
        ("total = 0", "    ", "\n    total = 0\n", "line"),
        ("total = 0", "        ", "\n\n    total = 0\n", "line"),
        (" = 0", "total", "\ntotal = 0\n", "line"),
        ("total = 0\n    count = 0", "    ", "\n    total = 0\n    count = 0\n    more\n", "block"),
        ("total = 0", "x\ntotal = 0\n", "\n", "line"),
        ("a()\n    b()", "    a()\n    b()\n\n    ", "\n", "block"),
        ("a()\r\n    b()", "    a()\r\n    b()\r\n    ", "\r\n", "block"),
        (")", "    f(\n    )\n    ", "\n", "line"),
        ("}", "    ", "\n    }\n", "line"),
    ],
)
def test_the_lines_above_or_below_are_not_said_again(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    assert unless_it_repeats_lines(text, Cursor(prefix, suffix, kind)) is None


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "kind"),
    [
        ("total = 0\n    count = 0", "    ", "\n    total = 0\n    more\n", "block"),
        ("total = 1", "    ", "\n    total = 0\n", "line"),
        ("}", "        ", "\n    }\n", "line"),
        ("return", "        ", "\n    return\n", "line"),
        ("0", "a = ", "\nb = 0\n", "line"),
        ("b", "a", "\nb\n", "line"),
    ],
)
def test_lines_that_are_only_alike_are_shown(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    assert unless_it_repeats_lines(text, Cursor(prefix, suffix, kind)) == text
