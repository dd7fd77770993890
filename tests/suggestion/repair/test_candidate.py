from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suggestion.repair.candidate import Change, change_of, edit_size, indent_of

FILE = ("a", "b", "c", "d")
texts = st.lists(st.sampled_from(["a", "b", "    c", ""]), min_size=1, max_size=6)


@given(texts, texts, st.data())
def test_the_smallest_change_makes_the_same_file_whatever_lines_it_is_told_by(old: list[str], new: list[str], data: st.DataObject) -> None:
    lines = tuple(old)
    first = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(first + 1, len(lines)))
    change = change_of(lines, first, end, new)
    assert change.of(lines) == (*lines[:first], *new, *lines[end:])
    assert change.first < change.end
    assert change.new
    # Told by more lines, it is the same.
    assert change_of(lines, 0, len(lines), change.of(lines)).of(lines) == change.of(lines)


@pytest.mark.parametrize(
    ("first", "end", "new", "change"),
    [
        (1, 2, ["x"], Change(1, 2, ("x",))),
        (0, 4, ["a", "x", "c", "d"], Change(1, 2, ("x",))),
        (1, 2, ["x", "b"], Change(1, 2, ("x", "b"))),
        (1, 2, ["b", "x"], Change(2, 3, ("x", "c"))),
        (3, 4, ["d", "x"], Change(3, 4, ("d", "x"))),
        (1, 2, [], Change(1, 3, ("c",))),
        (3, 4, [], Change(2, 4, ("c",))),
        (0, 4, [], Change(0, 4, ("",))),
        (1, 3, ["b", "c"], Change(3, 4, ("d",))),
    ],
)
def test_lines_that_are_put_in_or_taken_out_change_together_with_one_beside_them(
    first: int, end: int, new: list[str], change: Change
) -> None:
    assert change_of(FILE, first, end, new) == change


def test_the_size_of_an_edit_is_what_goes_and_what_comes() -> None:
    assert edit_size(["if a < b:"], ["if a <= b:"]) == 1
    assert edit_size(["return low"], ["return high"]) == 7
    assert edit_size(["a", "b"], ["a", "b"]) == 0
    assert indent_of("\t  x ") == "\t  "
