"""Copies: a description that recites the code is one, a description in words is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.rtc.copies import JAVA, is_copy

CODE = "    for line in lines:\n        key, value = line.split('=', 1)  # one of them\n        found[key] = value.strip()\n"
NAMES = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "x1", "'some text'", "12", "None"]), min_size=1, max_size=8)
PROSE = st.text(alphabet="qwz ,.\n", max_size=40)


@pytest.mark.parametrize(
    ("description", "copies"),
    [
        (CODE, True),
        ("for line in lines: key, value = line.split('=', 1); found[key] = value.strip()", True),
        ('Write exactly this: for line in lines: key, value = line.split("=", 1)\nfound[key] = value.strip()', True),
        ("Split each line at the first equals sign and remember the stripped right side under the left side.", False),
        ("strip value key found split line value key lines", False),  # most of the names, in no order
        ("", False),
    ],
)
def test_a_copy_has_the_names_and_literals_in_order(description: str, copies: bool) -> None:
    assert is_copy(description, CODE) is copies


@pytest.mark.parametrize(
    ("description", "code", "copies"), [("pass", "    pass\n", True), ("does nothing", "pass", False), ("", "", False)]
)
def test_code_without_names_is_copied_token_by_token(description: str, code: str, copies: bool) -> None:
    assert is_copy(description, code) is copies


def test_four_of_five_names_are_a_copy_and_three_are_none() -> None:
    assert is_copy("alpha then beta then gamma then delta", "alpha(beta, gamma, delta, epsilon)")
    assert not is_copy("alpha then beta then gamma", "alpha(beta, gamma, delta, epsilon)")


def test_keywords_of_another_language_are_no_names() -> None:
    code = "public int f(int alpha) { return alpha + beta; }"
    assert is_copy("f takes alpha and gives alpha plus beta", code, JAVA)
    assert not is_copy("f takes alpha and gives alpha plus beta", code)


def test_an_apostrophe_in_a_description_hides_nothing() -> None:
    assert is_copy("It's alpha(beta), isn't it", "alpha(beta)")


@given(names=NAMES, before=PROSE, after=PROSE)
def test_code_in_the_midst_of_prose_is_a_copy(names: list[str], before: str, after: str) -> None:
    code = f"f({', '.join(names)})"
    assert is_copy(f"{before} {code} {after}", code)


@given(names=NAMES, description=st.text(max_size=60), more=PROSE)
def test_more_words_make_no_copy_undone(names: list[str], description: str, more: str) -> None:
    code = f"return f({', '.join(names)})"
    assert is_copy(f"{description} {more}", code) >= is_copy(description, code)


@given(names=NAMES, prose=PROSE)
def test_words_of_which_the_code_has_none_are_no_copy(names: list[str], prose: str) -> None:
    assert not is_copy(prose, f"f({', '.join(names)})")
