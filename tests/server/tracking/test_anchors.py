from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.log.retention import tokens_of
from assay.server.documents.documents import Splice
from assay.server.tracking import anchors as anchors
from assay.server.tracking.anchors import Anchor, move_anchors

TEXTS = st.text(st.sampled_from("ab\n("), max_size=12)
WORDS = st.lists(st.sampled_from(["a", "b", "return", "(", ")", "=", "x1", "é𝕏"]), min_size=1, max_size=30)
SPACES = st.sampled_from([" ", "  ", "\n", "\n    ", "\r\n", "\t"])


def marks_after(marks: list[bool], start: int, end: int, size: int) -> list[bool]:
    """Which characters belong to the marked text after one edit: what is put in does where there is marked text on both sides of it, or
    where it takes the place of marked text at one of its ends, but not of all of it."""
    first, behind_last = marks.index(True), len(marks) - marks[::-1].index(True)
    inside = first <= start and end <= behind_last and (start, end) != (first, behind_last) and first < end and start < behind_last
    return marks[:start] + [inside] * size + marks[end:]


@given(st.data(), st.text(st.sampled_from("ab\né𝕏"), min_size=1, max_size=20))
def test_a_region_followed_through_edits_is_that_of_the_marked_text(data: st.DataObject, text: str) -> None:
    def two_offsets() -> tuple[int, int]:
        one, other = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))
        return min(one, other), max(one, other)

    start, end = two_offsets()
    if start == end:
        return
    marks = [start <= index < end for index in range(len(text))]
    anchor = Anchor(start, end)
    for _ in range(data.draw(st.integers(1, 6))):
        start, end = two_offsets()
        new = data.draw(TEXTS)
        anchor.move(Splice(start, text[start:end], new))
        text = text[:start] + new + text[end:]
        marks = marks_after(marks, start, end, len(new))
        assert 0 <= anchor.start <= anchor.end <= anchor.reach <= len(text)
        if True not in marks:
            assert anchor.start == anchor.end
            return
        first, behind_last = marks.index(True), len(marks) - marks[::-1].index(True)
        assert (anchor.start, anchor.end) == (first, behind_last)


@given(st.data(), TEXTS, TEXTS)
def test_what_comes_where_a_text_would_have_stood_is_within_reach(data: st.DataObject, before: str, behind: str) -> None:
    there, anchor = "", Anchor(len(before), len(before))
    for _ in range(data.draw(st.integers(1, 8))):
        new = data.draw(st.text(st.sampled_from("xyz"), max_size=4))
        if data.draw(st.booleans()):
            start = data.draw(st.integers(0, len(there)))
            end = data.draw(st.integers(start, len(there)))
            anchor.move(Splice(len(before) + start, there[start:end], new))
            there = there[:start] + new + there[end:]
        elif before and data.draw(st.booleans()):
            start = data.draw(st.integers(0, len(before) - 1))
            anchor.move(Splice(start, "", new))
            before = before[:start] + new + before[start:]
        elif behind:
            start = data.draw(st.integers(0, len(behind) - 1)) + 1
            anchor.move(Splice(len(before + there) + start, "", new))
            behind = behind[:start] + new + behind[start:]
        assert (before + there + behind)[anchor.start : anchor.reach] == there


@given(WORDS, st.data())
def test_white_space_all_over_a_file_may_change_in_one_edit(words: list[str], data: st.DataObject) -> None:
    def spread() -> tuple[str, list[int]]:
        text, places = "", []
        for word in words:
            text += data.draw(SPACES)
            places.append(len(text))
            text += word
        return text + "\n", places

    (old, places), (new, _) = spread(), spread()
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    anchor = Anchor(places[first], places[last] + len(words[last]))
    assert move_anchors([anchor], Splice(0, old, new)) == []
    assert tokens_of(new[anchor.start : anchor.end]) == tokens_of(old[places[first] : places[last] + len(words[last])])


def test_the_place_of_what_was_dismissed_survives_a_formatter() -> None:
    before, after = (
        "def first(a,b):\n    total = a+b\n    return {'sum': total}\n",
        "def first(a, b):\n    total = a + b\n    return {\n}\n",
    )
    start = before.index(" a+b")
    anchor = Anchor(start, start)
    anchor.move(Splice(start, "", " a+b"))
    assert move_anchors([anchor], Splice(0, before, after)) == []
    assert tokens_of(after[anchor.start : anchor.reach]) == ["a", "+", "b"]


def test_another_text_in_place_of_all_loses_a_region_and_so_does_one_that_is_too_long_to_compare() -> None:
    anchor = Anchor(10, 20)
    assert move_anchors([anchor], Splice(0, "nothing here is " * 4, "123 456\n" * 5)) == [anchor]
    old = "".join(f"line {random.random()}\n" for _ in range(anchors.MAX_REPLACED // 10))
    assert move_anchors([anchor], Splice(0, old, old.upper())) == [anchor]
