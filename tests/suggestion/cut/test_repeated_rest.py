from __future__ import annotations

from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.repeated_rest import unless_it_repeats_the_rest


def test_what_stands_behind_the_cursor_on_its_line_is_not_said_again() -> None:
    assert unless_it_repeats_the_rest("value", Cursor("f(", "value)\n", "line")) is None
    assert unless_it_repeats_the_rest(" value", Cursor("f(a,", " value)\n", "line")) is None
    assert unless_it_repeats_the_rest("val", Cursor("f(", "value)\n", "line")) == "val", "that is another word"
    assert unless_it_repeats_the_rest(")", Cursor("f(g(x", ")\n", "line")) == ")", "one bracket may be missing"
