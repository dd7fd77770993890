from __future__ import annotations

import pytest

from assay.inference.stopping.rules import find_stop, text_before_stop
from assay.inference.stopping.stop import LINE


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_line_ends_before_any_kind_of_newline(newline: str) -> None:
    assert text_before_stop(f"a = 1{newline}b = 2", LINE) == "a = 1"
    assert find_stop("a = 1", LINE) is None
