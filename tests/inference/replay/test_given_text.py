"""Which tokens may write a given text, and which may stand behind it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.errors import NotReplayable
from assay.inference.replay.given_text import GivenText
from assay.inference.stopping.rules import text_before_stop
from assay.inference.stopping.stop import LINE, NONE, Stop

IN_A_CALL = Stop("line", before="f(", may_close=0)
BODY = Stop("block", 4, "    ", ("    return total",))


def fitting(text: GivenText, *pieces: bytes) -> list[bytes]:
    return [piece for piece in pieces if text.fits(piece, ends=False)]


def write(text: GivenText, *pieces: bytes) -> GivenText:
    for piece in pieces:
        assert text.fits(piece, ends=False)
        text.take(piece, ends=False)
    return text


def test_within_the_text_its_beginnings_fit_and_behind_a_line_its_newline() -> None:
    line = GivenText("ab", LINE)
    assert fitting(line, b"", b"a", b"ab", b"ab\n", b"b", b"abc", b"a\n") == [b"a", b"ab", b"ab\n"]
    assert not line.fits(b"", ends=True)
    write(line, b"ab")
    assert not line.is_whole
    assert fitting(line, b"\n", b"\n\n  x", b"\r\n", b" ", b"c", b"") == [b"\n", b"\n\n  x", b"\r\n"]
    assert line.fits(b"", ends=True)
    assert write(line, b"\n").is_whole


def test_what_stands_behind_the_cursor_may_be_repeated_before_the_end() -> None:
    line = write(GivenText("a", LINE, repeated=(", b)",)), b"a")
    assert fitting(line, b",", b", b)", b", b)\n", b",\n", b", c", b"\n") == [b",", b", b)", b", b)\n", b"\n"]
    write(line, b",")
    assert fitting(line, b"\n", b" b") == [b" b"]
    assert not line.fits(b"", ends=True)
    assert write(line, b" b)").fits(b"", ends=True)


def test_a_block_ends_with_its_indentation_or_before_the_lines_behind_it() -> None:
    block = write(GivenText("x = 1\n    y = 2", BODY), b"x = 1\n", b"    y = 2")
    assert fitting(block, b"\n", b"\n\ndef", b"\n    ", b"\n    z", b"\n    return", b" + 1") == [
        b"\n",
        b"\n\ndef",
        b"\n    ",
        b"\n    return",
    ]
    write(block, b"\n    ")
    assert fitting(block, b"re", b"x", b"\n") == [b"re", b"\n"]
    assert not write(block, b"return total").is_whole
    assert write(block, b"\n").is_whole


def test_a_text_whose_end_does_not_count_has_no_tokens_behind_it() -> None:
    text = GivenText("a\nb", None)
    assert fitting(text, b"a\n", b"a\nb\n", b"a\nbc") == [b"a\n", b"a\nb\n"]
    assert write(text, b"a\n", b"b").is_whole
    assert not text.fits(b"", ends=True)


def test_a_text_that_the_rule_would_end_earlier_is_refused() -> None:
    with pytest.raises(NotReplayable, match=r'"line" it would end after 1 characters'):
        GivenText("a\nb", LINE)
    with pytest.raises(NotReplayable):
        GivenText("x\nleft", BODY)


@given(st.text("ab (\n)", max_size=23), st.sampled_from([LINE, NONE, IN_A_CALL, BODY]), st.data())
def test_a_text_as_a_rule_left_it_can_be_written_in_any_pieces_with_the_end_that_it_had(raw: str, stop: Stop, data: st.DataObject) -> None:
    left = text_before_stop(raw, stop)
    text, written = GivenText(left, stop), raw.encode()
    at = 0
    while not text.is_whole and at < len(written):
        size = data.draw(st.integers(1, 4))
        piece = written[at : at + size]
        assert text.fits(piece, ends=False)
        text.take(piece, ends=False)
        at += size
    assert text.is_whole or text.fits(b"", ends=True)
