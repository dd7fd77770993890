from __future__ import annotations

import pytest
from stopped import ended

from assay.inference.stopping.rules import find_stop
from assay.inference.stopping.stop import LINE, NONE, Stop

BLOCK = Stop("block", 4)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x\n    total += value\n    total += value\n    total += value\n", "x\n    total += value"),
        ("    a(name)\n    b(name)\n\n    a(name)\n    b(name)\n", "    a(name)\n    b(name)"),
        ("    a()\n    return first, first, first, first, first, ", "    a()"),
        ("    a()\n\n    return self.parent.parent.parent.parent.parent", "    a()"),
        ("    return _cache_cache_cache_cache_cache_", ""),
        ("    a()\n    x = [" + "10, " * 40, "    a()"),
    ],
)
def test_a_loop_of_lines_ends_a_block_behind_its_first_round_and_a_loop_in_a_line_before_it(text: str, left: str) -> None:
    assert ended(text, BLOCK) == (left, "repetition")


@pytest.mark.parametrize(
    "text",
    [
        "    x = [0, 0, 0, 0, 0, 0, 0, 0]\n    y = [0, 0, 0, 0, 0, 0, 0, 0]\n",
        "    # ------------------------------------------------------------------\n",
        "    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00'\n",
        "    f(\n        (\n            (1)\n        )\n    )\n",
        "    0,\n    0,\n    0,\n    0,\n",
        "    a.append(1)\n    a.append(1)\n    b.append(2)\n",
        "    print('|    |    |    |    |    |    |')\n",
        "    def f(a: int, b: int, c: int, d: int, e: int) -> int:\n",
        "    if a:\n        return 1\n    if b:\n        return 1\n    if c:\n        return 1\n",
        "    ('a', 1),\n    ('b', 1),\n    ('c', 1),\n    ('d', 1),\n",
    ],
)
def test_what_code_repeats_for_a_reason_is_no_loop(text: str) -> None:
    assert find_stop(text, BLOCK) is None


def test_a_line_that_runs_into_a_loop_ends() -> None:
    assert ended("a, value, value, value, value, value, ", LINE) == ("a, value", "repetition")


def test_a_text_without_a_rule_may_run_into_a_loop() -> None:
    assert find_stop("value, " * 50, NONE) is None
