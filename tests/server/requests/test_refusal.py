from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.server.requests.refusal import Refusal, Rules, document_refusal, place_refusal

ALL = Rules()
RARE = Rules(automatic=False, in_comments=False, in_strings=False, disabled_languages=frozenset({"markdown"}))


def automatic(place: str, rules: Rules = ALL, language: str = "python") -> Refusal | None:
    """At the `|` of a text."""
    prefix, suffix = place.split("|")
    return document_refusal(language, rules) or place_refusal(prefix, suffix, language, rules)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("x = |", None),
        ("x = |\ny = 2", None),
        ("x = |\r\ny = 2", None),
        ("f(|)", None),
        ("f(a, |)  ", None),
        ('f("|")', None),
        ("if f(|):", None),
        ("g(f({'a': [|]}), {", None),
        ("x = |y", Refusal.WORD),
        ("x = y|_z", Refusal.WORD),
        ("x = y|é", Refusal.WORD),
        ("x = | y", Refusal.BEHIND),
        ("x = f(|, 1)", Refusal.BEHIND),
        ("def f(|) -> None:", Refusal.BEHIND),
        ("x = |(y)", Refusal.BEHIND),
    ],
)
def test_an_automatic_request_is_for_the_end_of_a_line(place: str, why: Refusal | None) -> None:
    assert automatic(place) is why


@pytest.mark.parametrize("language", ["python", "markdown", "plaintext"])
@pytest.mark.parametrize("place", ["|", "  |", "|\n", "\n\n    |\n\n", "\t|\r\n", "\ufeff|"])
def test_where_nothing_stands_yet_nothing_comes_by_itself(place: str, language: str) -> None:
    assert automatic(place, language=language) is Refusal.BLANK
    assert not Refusal.BLANK.holds_if_invoked
    assert automatic(f"{place}\nx", language=language) is None
    assert automatic(f"x\n{place}", language=language) is None


def test_comments_and_strings_are_left_alone_only_where_the_user_wants_that() -> None:
    comment, string, code = "x = 1  # as |", "x = 'as |'", "x = f'{|}'"
    assert [automatic(place) for place in (comment, string, code)] == [None] * 3
    quiet = Rules(in_comments=False)
    assert [automatic(place, quiet) for place in (comment, string, code)] == [Refusal.COMMENT, None, None]
    quiet = Rules(in_strings=False)
    assert [automatic(place, quiet) for place in (comment, string, code)] == [None, Refusal.STRING, None]


def test_a_prefix_that_is_cut_inside_a_docstring_is_no_string_to_its_end() -> None:
    prefix, rules = 'docstring.\n    """\n\ndef g(x):\n    return ', Rules(in_strings=False)
    assert place_refusal(prefix, "", "python", rules, cut=True) is None
    assert place_refusal(prefix, "", "python", rules) is Refusal.STRING


@given(st.sampled_from(["python", "javascript", "Plaintext"]), st.builds(Rules, st.booleans(), st.booleans(), st.booleans()), st.booleans())
def test_who_invokes_is_answered_everywhere_but_in_a_language_that_is_off_and_in_a_secret_file(
    language: str, rules: Rules, paused: bool
) -> None:
    rules = replace(rules, paused_until=datetime(2026, 11, 9, tzinfo=UTC) if paused else None)
    found = document_refusal(language, rules)
    assert found is None or not found.holds_if_invoked
    off = document_refusal(language, replace(rules, disabled_languages=frozenset({language.upper()})))
    assert (off, document_refusal(language, rules, secret=True)) == (Refusal.LANGUAGE, Refusal.SECRET)
    assert [refusal for refusal in Refusal if refusal.holds_if_invoked] == [Refusal.LANGUAGE, Refusal.SECRET]


def test_nothing_comes_by_itself_where_suggestions_are_only_invoked() -> None:
    assert automatic("x = |", RARE) is Refusal.AUTOMATIC


def test_in_a_pause_only_what_is_invoked_comes_and_the_reason_says_until_when() -> None:
    rules = Rules(paused_until=datetime(2026, 11, 9, 14, 5, tzinfo=UTC))
    assert document_refusal("python", rules) is Refusal.PAUSED
    assert not Refusal.PAUSED.holds_if_invoked
    assert "until 14:05" in rules.sentence(Refusal.PAUSED)
    assert rules.sentence(Refusal.WORD) == Refusal.WORD.sentence
