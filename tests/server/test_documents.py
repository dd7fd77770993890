from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.server.documents import Change, Document, Documents, OutOfSync, Window
from assay.server.positions import Encoding, Position, Range, offset_at

from .test_positions import ENCODINGS, TEXTS

POSITIONS = st.builds(Position, st.integers(0, 8), st.integers(0, 12))
EDITS = st.lists(st.tuples(POSITIONS, POSITIONS, TEXTS), max_size=8)


@given(TEXTS, EDITS, st.sampled_from(ENCODINGS))
def test_random_edits_give_what_the_same_edits_of_a_plain_string_give(
    text: str, edits: list[tuple[Position, Position, str]], encoding: Encoding
) -> None:
    document = Document("file:///a.py", "python", 1, text, encoding)
    for first, second, new in edits:
        start, end = sorted((first, second))
        document.apply(Change(new, Range(start, end)))
        text = text[: offset_at(text, start, encoding)] + new + text[offset_at(text, end, encoding) :]
        assert document.text == text


@given(TEXTS, POSITIONS, st.integers(0, 20), st.integers(0, 20), st.integers(1, 5), st.sampled_from(ENCODINGS))
def test_around_is_the_text_on_both_sides_of_a_position(
    text: str, position: Position, before: int, after: int, step: int, encoding: Encoding
) -> None:
    document = Document("file:///a.py", "python", 1, text, encoding)
    offset = offset_at(text, position, encoding)
    prefix, suffix = document.around(position, Window(before, after, step))
    assert text[:offset].endswith(prefix)
    assert suffix == text[offset : offset + after]
    assert min(before, offset) <= len(prefix) < before + step or prefix == text[:offset]
    assert (offset - len(prefix)) % step == 0


def test_the_start_of_what_is_shown_stays_in_place_while_text_is_typed() -> None:
    window = Window(before=100, after=0, step=50)
    starts = [window.start(offset) for offset in range(400)]
    assert starts[:150] == [0] * 150
    assert sorted(set(starts)) == [0, 50, 100, 150, 200, 250]


def test_typing_after_a_form_feed_edits_the_line_that_the_editor_means() -> None:
    document = Document("file:///a.py", "python", 1, "import os\n\x0c\ndef f():\n    pass\n", "utf-16")
    document.apply(Change("x", Range(Position(2, 4), Position(2, 5))))
    assert document.text == "import os\n\x0c\ndef x():\n    pass\n"


def test_a_line_feed_typed_behind_a_carriage_return_makes_one_line_end() -> None:
    document = Document("file:///a.py", "python", 1, "a\rb", "utf-16")
    document.apply(Change("\n", Range(Position(1, 0), Position(1, 0))))
    document.apply(Change("c", Range(Position(1, 0), Position(1, 0))))
    assert document.text == "a\r\ncb"


def test_a_range_that_ends_before_it_starts_is_refused_and_the_document_waits_for_its_whole_text() -> None:
    documents = Documents("utf-16")
    documents.open("u", "python", 1, "abc")
    with pytest.raises(OutOfSync, match="ends before it starts"):
        documents.change("u", 2, [Change("x", Range(Position(0, 2), Position(0, 1)))])
    assert documents.get("u") is None
    documents.change("u", 3, [Change("y", Range(Position(0, 0), Position(0, 0)))])
    assert documents.get("u") is None
    documents.change("u", 4, [Change("whole")])
    document = documents.get("u")
    assert document is not None
    assert (document.text, document.version) == ("whole", 4)


def test_a_change_of_a_document_that_is_not_open_is_refused() -> None:
    with pytest.raises(OutOfSync, match="not open"):
        Documents("utf-8").change("u", 1, [Change("x")])


def test_losing_an_unknown_document_loses_all() -> None:
    documents = Documents("utf-16")
    documents.open("u", "python", 1, "")
    documents.open("v", "python", 1, "")
    documents.lose("u")
    assert documents.get("u") is None
    assert documents.get("v") is not None
    documents.lose(None)
    assert documents.get("v") is None
    documents.open("v", "python", 1, "again")
    assert documents.get("v") is not None
