from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.log.retention import retained_share, tokens_of

WORDS = st.lists(st.sampled_from(["a", "b", "c", "(", ")", "=", "12", "é"]), max_size=40)
TEXTS = st.text(st.sampled_from("ab1_é𝕏(=. \n\t"), max_size=40)
SPACES = st.text(st.sampled_from(" \t\r\n"), min_size=1, max_size=4)


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
