"""Which lines a code action is about, and where they are in a text that has changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.server.documents.documents import Change, Document
from assay.server.repairs.lines import Lines, found_again, lines_at, lines_in
from assay.suggestion.positions import Position, Range

TEXTS = st.lists(st.text("ab ", max_size=4), min_size=1, max_size=12)


def document(*lines: str, end: str = "\n") -> Document:
    return Document("file:///a.py", "python", 1, end.join(lines), "utf-16")


def rows(first: int, last: int, character: int = 1) -> Range:
    return Range(Position(first, 0), Position(last, character))


def edited(text: Document, change: Change) -> Document:
    text.apply(change)
    text.version += 1
    return text


def found(text: Document, first: int, last: int) -> Lines:
    lines = lines_at(text, rows(first, last))
    assert lines is not None
    return lines


def test_a_selection_that_ends_before_a_line_does_not_have_it() -> None:
    text = document("a", "b", "c")
    lines = lines_at(text, rows(0, 2, 0))
    assert lines is not None
    assert (lines.first, lines.end, lines.name) == (0, 2, "block")
    whole = lines_at(text, rows(0, 3, 0))
    assert whole is not None
    assert whole.end == 3


@given(TEXTS, st.integers(0, 11), st.integers(0, 11))
def test_what_a_client_sends_back_are_the_same_lines(texts: list[str], first: int, last: int) -> None:
    lines = lines_at(document(*texts), rows(first, last), "a message")
    if lines is not None:
        assert lines_in(lines.as_json()) == lines
        assert found_again(document(*texts), lines) == lines
        # as a plain range, too
        end = lines.as_json()["range"]["end"]
        assert lines_at(document(*texts), Range(Position(lines.first, 0), Position(**end)), "a message") == lines


@given(TEXTS, st.integers(0, 11), st.lists(st.text("xy", min_size=1, max_size=3), max_size=5))
def test_lines_that_moved_are_found_where_they_are_now(texts: list[str], first: int, above: list[str]) -> None:
    texts = [f"{text}{number}" for number, text in enumerate(texts)]
    first = min(first, len(texts) - 1)
    lines = found(document(*texts), first, first)
    moved = edited(document(*texts), Change("".join(f"{line}\n" for line in above), Range(Position(0, 0), Position(0, 0))))
    again = found_again(moved, lines)
    assert again is not None
    assert (again.first, again.version) == (first + len(above), 2)
    assert moved.line(again.first).rstrip("\n") == texts[first]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_ends_a_line_is_none_of_its_text(end: str) -> None:
    lines = found(document("a", "b"), 0, 0)
    assert found_again(edited(document("x", "a", "b", end=end), Change("y", rows(0, 0))), lines) is not None


def test_lines_that_are_gone_or_there_twice_are_not_found() -> None:
    text = document("a", "b", "a")
    assert found_again(text, found(text, 0, 0)) is not None
    assert found_again(edited(text, Change("x", rows(1, 1))), Lines("", 1, 0, 1, found(text, 0, 0).digest)) is None
    assert found_again(edited(document("a", "b"), Change("x", rows(0, 0))), found(document("a", "b"), 0, 0)) is None
    assert found_again(document("a"), Lines("", 1, -1, 0, "")) is None


@pytest.mark.parametrize("data", [None, 1, [], {}, {"uri": "a"}, {"uri": "a", "version": "1", "lines": "", "range": {}}])
def test_what_the_server_never_gave_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        lines_in(data)
