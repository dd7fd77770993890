from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stopped import ended

from assay.inference.stopping.rules import find_stop, indentation, text_before_stop
from assay.inference.stopping.stop import LINE, NONE, Stop, StopPoint

LINES = st.lists(
    st.sampled_from(["", " ", "    ", "\t", "\f", "x = 1", "    y", "    again(again)", "\tz", "  \f  w", "é", "ab, " * 7, "0 " * 30]),
    max_size=12,
)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])
TEXTS = st.builds(lambda lines, newline: newline.join(lines), LINES, NEWLINES) | st.text(alphabet=" \t\f\r\nxé", max_size=30)
STOPS = st.sampled_from(
    [
        LINE,
        NONE,
        *(Stop("block", indent) for indent in (0, 1, 4, 8)),
        Stop("block", 0, "    ", ("    y", "    z")),
        Stop("block", 0, "x = ", ("x = 1",)),
        Stop("block", 4, "", (")", "    again(again)")),
    ]
)


@given(TEXTS, STOPS, st.data())
def test_streamed_in_any_pieces_a_text_ends_where_the_whole_does(text: str, stop: Stop, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    so_far, checked_until = "", 0
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        so_far += text[start:end]
        if find_stop(so_far, stop, checked_until) is not None:
            break
        checked_until = len(so_far)
    assert text_before_stop(so_far, stop) == text_before_stop(text, stop)
    assert find_stop(so_far, stop) == find_stop(text, stop)


@given(TEXTS, STOPS)
def test_what_is_kept_begins_the_text_and_is_kept_again(text: str, stop: Stop) -> None:
    left = text_before_stop(text, stop)
    assert text.startswith(left)
    assert text_before_stop(left, stop) == left


def test_the_rule_that_is_known_first_ends_the_text_and_the_cursors_own_line_may_be_the_one_behind() -> None:
    stop = Stop("block", 4, "    ", ("    after()",))
    assert ended("first()\nouter\n    after()\n", stop) == ("first()", "block")
    assert ended("first()\n    after()\nouter\n", stop) == ("first()", "suffix")
    assert ended("total = 0\n", Stop("block", 4, "    ", ("    total = 0",))) == ("", "suffix")
    assert ended("    total = 0\n", Stop("block", 1, "", ("    total = 0",))) == ("", "suffix")
    assert ended(" = 0\n", Stop("block", 4, "    total", ("    total = 0",))) == ("", "suffix")


@pytest.mark.parametrize(
    ("before", "text", "left"),
    [
        ("print(", "a, f(b))", "a, f(b)"),
        ("x = [", "y[0], {1: 2}]", "y[0], {1: 2}"),
        ('print("a', ')b", c)', ')b", c'),
        ("print(", ")", ""),
    ],
)
def test_a_text_ends_before_the_bracket_that_stands_behind_the_cursor(before: str, text: str, left: str) -> None:
    stop = Stop("line", before=before, may_close=0)
    assert find_stop(text, stop) == StopPoint(len(left), "bracket", len(left) + 1)
    assert all(find_stop(text[:size], stop) is None for size in range(len(left) + 1))
    assert find_stop(text, LINE) is None, "in front of no bracket it may close one"


@pytest.mark.parametrize(("text", "left"), [("500], encoding)", "500], encoding"), ("a)", None), ("f(a)])", "f(a)]"), ("]", None)])
def test_a_text_may_close_what_is_open_on_its_line_and_not_closed_behind(text: str, left: str | None) -> None:
    found = find_stop(text, Stop("line", before="nts(buf[345:", may_close=1))
    assert found == (None if left is None else StopPoint(len(left), "bracket", len(left) + 1))


@pytest.mark.parametrize(
    ("line", "columns"), [("", 0), ("x", 0), ("   x", 3), ("\tx", 8), ("   \tx", 8), ("\t x", 9), ("    \f  x", 2), ("        \t", 16)]
)
def test_indentation_counts_columns_as_python_does(line: str, columns: int) -> None:
    assert indentation(line) == columns


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_block_goes_on_over_blank_lines_and_ends_before_the_first_line_with_less_indentation(newline: str) -> None:
    text = newline.join(["return x", "    if y:", "", "        z()", "", "  ", "after = 1", "    more"])
    assert text_before_stop(text, Stop("block", 4)) == newline.join(["return x", "    if y:", "", "        z()"])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_block_ends_before_the_line_that_stands_behind_it(newline: str) -> None:
    stop = Stop("block", 4, "    ", ("    total = 0", "    return total"))
    text = newline.join(["first()", "", "    total = 0", ""])
    assert ended(text, stop) == ("first()", "suffix")
    assert find_stop(text.removesuffix(newline), stop) is None, "the line may go on"
    assert find_stop(text.replace("total = 0", "    total = 0"), stop) is None, "it counts only as it stands there"
    assert text_before_stop(text.removesuffix(newline), stop) == "first()", "a text that is whole may not"


@pytest.mark.parametrize("common", ["    });", "    else:", "    return None"])
def test_a_line_that_stands_everywhere_ends_a_block_only_with_the_next(common: str) -> None:
    stop = Stop("block", 4, "    ", (common, "    after()"))
    assert find_stop(f"first()\n{common}\n    other()\n", stop) is None
    assert ended(f"first()\n{common}\n\n    after()\n", stop) == ("first()", "suffix")
    assert find_stop(f"first()\n{common}\n", Stop("block", 4, "    ", (common,))) is None


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_line_ends_before_any_kind_of_newline(newline: str) -> None:
    assert text_before_stop(f"a = 1{newline}b = 2", LINE) == "a = 1"
    assert find_stop("a = 1", LINE) is None


BLOCK = Stop("block", 4)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x\n    total += value\n    total += value\n    total += value\n", "x\n    total += value"),
        ("    a()\n    return first, first, first, first, first, ", "    a()"),
        ("    a()\n\n    return self.parent.parent.parent.parent.parent", "    a()"),
        ("    a()\n    x = [" + "10, " * 40, "    a()"),
    ],
)
def test_a_loop_of_lines_ends_a_block_behind_its_first_round_and_a_loop_in_a_line_before_it(text: str, left: str) -> None:
    assert ended(text, BLOCK) == (left, "repetition")
    assert ended("a, value, value, value, value, value, ", LINE) == ("a, value", "repetition")
    assert find_stop(text, NONE) is None


@pytest.mark.parametrize(
    "text",
    [
        "    x = [0, 0, 0, 0, 0, 0, 0, 0]\n    y = [0, 0, 0, 0, 0, 0, 0, 0]\n",
        "    # ------------------------------------------------------------------\n",
        "    f(\n        (\n            (1)\n        )\n    )\n",
        "    a.append(1)\n    a.append(1)\n    b.append(2)\n",
        "    def f(a: int, b: int, c: int, d: int, e: int) -> int:\n",
        "    if a:\n        return 1\n    if b:\n        return 1\n    if c:\n        return 1\n",
    ],
)
def test_what_code_repeats_for_a_reason_is_no_loop(text: str) -> None:
    assert find_stop(text, BLOCK) is None
