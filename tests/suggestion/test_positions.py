from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offsets import offset_at

from assay.suggestion.positions import (
    Encoding,
    Position,
    column_at,
    content,
    index_at,
    position_at,
    split_lines,
)

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
# every character that some definition of a line end names, and characters of each width
TEXTS = st.text(st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029é€𝕏"), max_size=30)


@given(TEXTS)
def test_lines_joined_are_the_text_and_only_the_last_has_no_end(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.endswith(("\n", "\r")) for line in lines[:-1])
    assert not lines[-1].endswith(("\n", "\r"))
    assert all("\n" not in content(line) and "\r" not in content(line) for line in lines)


@given(TEXTS, st.sampled_from(ENCODINGS), st.integers(1, 10_000))
def test_a_column_far_into_a_long_line_is_found_as_in_a_short_one(text: str, encoding: Encoding, before: int) -> None:
    line = "é𝕏b" * before + content(split_lines(text)[0])
    for index in (0, 1, 3 * before - 1, 3 * before, len(line)):
        assert index_at(line, column_at(line, index, encoding), encoding) == index


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_characters_that_python_calls_line_ends_do_not_end_a_line(character: str) -> None:
    assert split_lines(f"a{character}b\nc") == [f"a{character}b\n", "c"]


def test_carriage_return_and_line_feed_together_are_one_line_end() -> None:
    assert split_lines("a\r\nb\rc\n\rd") == ["a\r\n", "b\r", "c\n", "\r", "d"]


@given(TEXTS, st.sampled_from(ENCODINGS), st.data())
def test_offset_to_position_and_back_is_the_offset(text: str, encoding: Encoding, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":  # between the two no position exists
        return
    assert offset_at(text, position_at(text, offset, encoding), encoding) == offset


@given(TEXTS, st.sampled_from(ENCODINGS))
def test_columns_are_the_lengths_of_the_encoded_text(text: str, encoding: Encoding) -> None:
    line = content(split_lines(text)[0])
    unit = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    for index in range(len(line) + 1):
        assert column_at(line, index, encoding) == len(line[:index].encode(codec)) // unit


def test_a_column_past_the_end_is_the_end_of_the_line_before_its_break() -> None:
    assert index_at("abc\r\n", 99, "utf-16") == 3
    assert index_at("é𝕏\n", 99, "utf-8") == 2
    assert offset_at("abc\ndef", Position(7, 0), "utf-16") == 7


def test_a_column_inside_a_character_is_its_start() -> None:
    assert index_at("a𝕏b", 2, "utf-16") == 1
    assert index_at("aéb", 2, "utf-8") == 1
    assert index_at("a𝕏b", 3, "utf-16") == 2


def test_a_lone_surrogate_is_one_unit_and_breaks_nothing() -> None:
    assert index_at("é\ud83d!", 2, "utf-16") == 2
