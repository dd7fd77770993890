from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.confidence import uncalibrated
from assay.server.accepted import Accepted, edit_of, moved, range_of
from assay.server.documents import Change
from assay.server.explain import Explanation
from assay.server.positions import Encoding, Position, Range, offset_at, position_at

from .test_positions import ENCODINGS

# No carriage returns: an edit between the two characters of one newline changes lines that it does not touch.
TEXTS = st.text(st.sampled_from("ab \n\x0cé𝕏"), max_size=20)
URI = "file:///a.py"


def told(number: int = 0) -> Explanation:
    return Explanation(f"{number:012}", "line", uncalibrated("exact_match"), None, "", 0, (), (), {})


def span(start_line: int, start: int, end_line: int, end: int) -> Range:
    return Range(Position(start_line, start), Position(end_line, end))


def marks_after(marks: list[bool], start: int, end: int, size: int) -> list[bool]:
    """Which characters belong to the marked text after one edit: what is put in does where there is marked text on both sides of it, or
    where it takes the place of marked text at one of its ends, but not of all of it."""
    first, behind_last = marks.index(True), len(marks) - marks[::-1].index(True)
    inside = first <= start and end <= behind_last and (start, end) != (first, behind_last) and first < end and start < behind_last
    return marks[:start] + [inside] * size + marks[end:]


@given(st.data(), st.text(st.sampled_from("ab\né𝕏"), min_size=1, max_size=20), st.sampled_from(ENCODINGS))
def test_a_range_followed_through_edits_is_that_of_the_marked_text(data: st.DataObject, text: str, encoding: Encoding) -> None:
    def two_offsets() -> tuple[int, int]:
        one, other = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))
        return min(one, other), max(one, other)

    start, end = two_offsets()
    if start == end:
        return
    marks = [start <= index < end for index in range(len(text))]
    range_: Range | None = Range(position_at(text, start, encoding), position_at(text, end, encoding))
    for _ in range(data.draw(st.integers(1, 6))):
        start, end = two_offsets()
        new = data.draw(TEXTS)
        edit = Change(new, Range(position_at(text, start, encoding), position_at(text, end, encoding)))
        assert range_ is not None
        did = edit_of(edit, encoding)
        assert did is not None
        range_ = moved(range_, did)
        text = text[:start] + new + text[end:]
        marks = marks_after(marks, start, end, len(new))
        if True not in marks:
            assert range_ is None
            return
        assert range_ is not None
        first, behind_last = marks.index(True), len(marks) - marks[::-1].index(True)
        assert all(marks[first:behind_last])
        assert (offset_at(text, range_.start, encoding), offset_at(text, range_.end, encoding)) == (first, behind_last)


@given(TEXTS, TEXTS, TEXTS, st.sampled_from(ENCODINGS))
def test_the_range_of_a_text_is_where_it_stands_once_it_is_put_in(before: str, text: str, after: str, encoding: Encoding) -> None:
    found = range_of(position_at(before, len(before), encoding), text, encoding)
    whole = before + text + after
    assert whole[offset_at(whole, found.start, encoding) : offset_at(whole, found.end, encoding)] == text


def test_a_text_with_windows_line_ends_ends_on_its_last_line() -> None:
    assert range_of(Position(3, 4), "if a:\r\n  b", "utf-16") == span(3, 4, 4, 3)


def test_a_new_text_for_the_whole_document_drops_every_range() -> None:
    accepted = Accepted("utf-16")
    accepted.add(URI, span(0, 0, 0, 3), told())
    accepted.change(URI, [Change("abc")])
    assert len(accepted) == 0


def test_a_hover_finds_the_suggestion_on_its_lines_and_on_no_other() -> None:
    accepted = Accepted("utf-16")
    accepted.add(URI, span(2, 4, 4, 0), told())
    assert [accepted.at(URI, line) is not None for line in range(6)] == [False, False, True, True, False, False]
    assert accepted.at("file:///b.py", 2) is None


def test_a_hover_finds_it_where_edits_have_moved_it() -> None:
    accepted = Accepted("utf-16")
    accepted.add(URI, span(2, 4, 2, 9), told())
    accepted.add("file:///b.py", span(2, 4, 2, 9), told(1))
    accepted.change(URI, [Change("\n\n", span(0, 0, 0, 0)), Change("x\ny", span(4, 5, 4, 6))])
    assert [accepted.at(URI, line) is not None for line in range(7)] == [False] * 4 + [True, True, False]
    assert accepted.at("file:///b.py", 2) == told(1)
    accepted.change(URI, [Change("", span(4, 0, 6, 0))])
    assert len(accepted) == 1


def test_of_several_on_a_line_the_last_accepted_is_found() -> None:
    accepted = Accepted("utf-16")
    for number in range(3):
        accepted.add(URI, span(0, number, 0, number + 1), told(number))
    assert accepted.at(URI, 0) == told(2)


def test_a_closed_document_is_forgotten_and_so_are_the_oldest() -> None:
    accepted = Accepted("utf-16", kept=3)
    for line in range(5):
        accepted.add(URI, span(line, 0, line, 1), told(line))
    accepted.change(URI, [Change("\n", span(0, 0, 0, 0))])
    accepted.add("file:///b.py", span(0, 0, 0, 1), told(9))
    assert [accepted.at(URI, line) for line in range(7)] == [None] * 4 + [told(3), told(4), None]
    accepted.forget(URI)
    assert len(accepted) == 1
    assert accepted.at("file:///b.py", 0) == told(9)


def test_a_suggestion_that_put_nothing_in_is_not_remembered() -> None:
    accepted = Accepted("utf-16")
    accepted.add(URI, span(0, 0, 0, 0), told())
    assert len(accepted) == 0
