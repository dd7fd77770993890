from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.log.retention import common_length, retained_share, tokens_of

WORDS = st.lists(st.sampled_from(["a", "b", "c", "(", ")", "=", "12", "é"]), max_size=40)
TEXTS = st.text(st.sampled_from("ab1_é𝕏(=. \n\t"), max_size=40)
SPACES = st.text(st.sampled_from(" \t\r\n"), min_size=1, max_size=4)


def naive(one: list[str], other: list[str]) -> int:
    """The table of the textbook, row by row."""
    row = [0] * (len(other) + 1)
    for mine in one:
        fits = [row[index] + 1 if mine == theirs else 0 for index, theirs in enumerate(other)]
        row = [0, *accumulate((max(above, fit) for above, fit in zip(row[1:], fits, strict=True)), max)]
    return row[-1]


@given(WORDS, WORDS)
def test_the_common_subsequence_is_as_long_as_that_of_the_textbook(one: list[str], other: list[str]) -> None:
    assert common_length(one, other) == naive(one, other) == common_length(other, one)


@given(WORDS, st.lists(SPACES, min_size=41, max_size=41))
def test_all_of_a_text_is_in_itself_whatever_its_white_space(words: list[str], spaces: list[str]) -> None:
    spread = "".join(space + word for space, word in zip(spaces, words, strict=False)) + spaces[-1]
    assert retained_share(" ".join(words), spread) == retained_share(spread, " ".join(words)) == 1


@given(TEXTS, TEXTS)
def test_a_share_is_a_share_and_of_nothing_nothing(inserted: str, current: str) -> None:
    assert 0 <= retained_share(inserted, current) <= 1
    assert retained_share(inserted, "") == (0 if tokens_of(inserted) else 1)
    assert retained_share(inserted, current) * len(tokens_of(inserted)) == pytest.approx(
        retained_share(current, inserted) * len(tokens_of(current))
    )


@given(WORDS, WORDS, st.data())
def test_what_is_deleted_never_raises_the_share(inserted: list[str], current: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(current)))
    end = data.draw(st.integers(start, len(current)))
    assert retained_share(" ".join(inserted), " ".join(current[:start] + current[end:])) <= retained_share(
        " ".join(inserted), " ".join(current)
    )


@pytest.mark.parametrize(
    ("inserted", "current", "expected"),
    [
        ("return total / count", "return total/count", 1.0),
        ("return total / count", "return total // count", 1.0),
        ("return total / count", "return total / size", 3 / 4),
        ("f(a, b)", "g(a, b)", 5 / 6),
        ("f(a, b)", "f(b, a)", 4 / 6),
        ("'one two'", '"one two"', 1.0),
        ("x = 10_000", "x = 10_001", 2 / 3),
        ("naïve = größe", "naïve  =\n\tgröße", 1.0),
        ("a.b", "", 0.0),
        ("   \n", "x", 1.0),
    ],
)
def test_shares(inserted: str, current: str, expected: float) -> None:
    assert retained_share(inserted, current) == expected


@pytest.mark.slow
def test_long_texts_are_compared_exactly() -> None:
    one = [f"w{index * index % 997}" for index in range(3_000)]
    other = [f"w{index * index * index % 997}" for index in range(3_000)]
    assert common_length(one, other) == naive(one, other)
