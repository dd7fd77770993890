from __future__ import annotations

from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.steps import text_to_show


def test_white_space_at_the_end_is_left_out_unless_text_stands_behind_it() -> None:
    assert text_to_show("1  ", Cursor("x = ", "\n", "line")) == "1"
    assert text_to_show("a\n    b\n\n  ", Cursor("    ", "\n", "block")) == "a\n    b"
    assert text_to_show("1 ", Cursor("x = ", "+ y\n", "line")) == "1 "
