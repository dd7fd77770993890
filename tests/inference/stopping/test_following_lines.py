from __future__ import annotations

import pytest
from stopped import ended

from assay.inference.stopping.rules import find_stop, text_before_stop
from assay.inference.stopping.stop import Stop


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_block_ends_before_the_line_that_stands_behind_it(newline: str) -> None:
    stop = Stop("block", 4, "    ", ("    total = 0", "    return total"))
    text = newline.join(["first()", "", "    total = 0", ""])
    assert ended(text, stop) == ("first()", "suffix")
    assert find_stop(text.removesuffix(newline), stop) is None, "the line may go on"
    assert text_before_stop(text.removesuffix(newline), stop) == "first()", "a text that is whole may not"


def test_the_line_behind_counts_only_as_it_stands_there() -> None:
    stop = Stop("block", 4, "    ", ("    total = 0",))
    assert find_stop("first()\n        total = 0\n", stop) is None
    assert find_stop("first()\n    total = 0.5\n", stop) is None


def test_the_cursors_own_line_may_be_the_one_behind() -> None:
    assert ended("total = 0\n", Stop("block", 4, "    ", ("    total = 0",))) == ("", "suffix")
    assert ended("    total = 0\n", Stop("block", 1, "", ("    total = 0",))) == ("", "suffix")
    assert ended(" = 0\n", Stop("block", 4, "    total", ("    total = 0",))) == ("", "suffix")


@pytest.mark.parametrize("common", ["    }", "    )", "    return", "    pass", "    else:", "    });", "    return None"])
def test_a_line_that_stands_everywhere_ends_a_block_only_with_the_next(common: str) -> None:
    stop = Stop("block", 4, "    ", (common, "    after()"))
    assert find_stop(f"first()\n{common}\n    other()\n", stop) is None
    assert ended(f"first()\n{common}\n\n    after()\n", stop) == ("first()", "suffix")
    assert find_stop(f"first()\n{common}\n", Stop("block", 4, "    ", (common,))) is None
