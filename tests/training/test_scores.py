from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.scores import edit_similarity, mean, ratio


@pytest.mark.parametrize(
    ("a", "b", "similarity"), [("kitten", "sitting", 1 - 3 / 7), ("", "", 1.0), ("", "ab", 0.0), ("ab", "ba", 0.0), ("abc", "abcd", 0.75)]
)
def test_edit_similarity_is_one_less_the_share_of_characters_to_edit(a: str, b: str, similarity: float) -> None:
    assert edit_similarity(a, b) == pytest.approx(similarity)


def levenshtein(a: str, b: str) -> int:
    """The recurrence itself."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_edit_similarity_agrees_with_the_recurrence(a: str, b: str) -> None:
    expected = 1 - levenshtein(a, b) / max(len(a), len(b)) if a or b else 1.0
    assert edit_similarity(a, b) == pytest.approx(expected)
    assert edit_similarity(a, b) == edit_similarity(b, a)


def test_an_interval_is_over_projects_not_over_what_they_hold() -> None:
    values, projects = [1.0] * 500 + [0.0] * 500, ["a"] * 500 + ["b"] * 500
    figure = mean(values, projects, "lines")
    assert (figure.value, figure.n, figure.projects) == (0.5, 1000, 2)
    assert (figure.low, figure.high) == (0.0, 1.0)
    assert str(figure) == "0.500 (0.000 to 1.000), 1,000 lines of 2 projects"


def test_where_all_are_alike_the_interval_is_that_of_so_many_draws() -> None:
    none, every = mean([False] * 300, ["a", "b", "c"] * 100, "lines"), mean([True] * 300, ["a", "b", "c"] * 100, "lines")
    assert (none.value, none.low, none.high) == (0.0, 0.0, pytest.approx(0.0122, abs=1e-4))
    assert (every.value, every.low, every.high) == (1.0, pytest.approx(0.9878, abs=1e-4), 1.0)


def test_a_ratio_weighs_by_its_denominator() -> None:
    figure = ratio([1, 9], [1, 3], ["a", "a"], "files")
    assert figure.value == figure.low == figure.high == 2.5
