from __future__ import annotations

import pytest

from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.steps import text_to_show


@pytest.mark.parametrize("text", ["", " ", "\t", "\n", "  \n\t\n"])
def test_nothing_is_shown_of_a_blank_text(text: str) -> None:
    assert text_to_show(text, Cursor("x = ", "\n", "line")) is None
    assert text_to_show(text, Cursor("x = ", "\n", "block")) is None
