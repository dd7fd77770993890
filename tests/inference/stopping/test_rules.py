from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from stopped import ended

from assay.inference.stopping.rules import find_stop, text_before_stop
from assay.inference.stopping.stop import LINE, NONE, Stop

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


def test_the_rule_that_is_known_first_ends_the_text() -> None:
    stop = Stop("block", 4, "    ", ("    after()",))
    assert ended("first()\nouter\n    after()\n", stop) == ("first()", "block")
    assert ended("first()\n    after()\nouter\n", stop) == ("first()", "suffix")
