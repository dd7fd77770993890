from __future__ import annotations

import pytest

from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.indentation_style import in_the_documents_style

TABS = "class A:\n\tdef f(self):\n\t\treturn 1\n"
TWO = "class A:\n  def f(self):\n    return 1\n"


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "left"),
    [
        ("if x:\n        y()", TABS + "\t", "\n", "if x:\n\t\ty()"),
        ("if x:\n    y()\n  z()", TABS + "\t", "\n", "if x:\n\t\ty()\n\tz()"),
        ("if x:\n     y()", TABS + "\t", "\n", "if x:\n     y()"),
        ("    y()", TABS + "def g():\n", "\n", "\ty()"),
        ("if x:\n\t\ty()", TWO + "  ", "\n", "if x:\n    y()"),
        ("if x:\n        y()", TABS + "  z()\n\t", "\n", "if x:\n        y()"),
        ("if x:\n        y()", "", "", "if x:\n        y()"),
        ("    y()", "def g():\n", "\n", "    y()"),
        (" = [\n        1]", TABS + "\tx", " # why\n", " = [\n\t\t1]"),
    ],
)
def test_lines_are_indented_as_the_document_is(text: str, prefix: str, suffix: str, left: str) -> None:
    assert in_the_documents_style(text, Cursor(prefix, suffix, "block")) == left
