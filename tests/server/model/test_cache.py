from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.measures.agreement import SINGLE_DRAW, distinct
from assay.calibration.measures.registry import measures_of
from assay.inference.completion.task import Kind
from assay.inference.model import Generation, StopReason, Timings, Token
from assay.server.model.cache import GenerationCache
from assay.server.model.request import GenerationResult
from assay.suggestion.remainder import remainder

URI = "file:///a.py"
# Every line is another one, and much more stands above and below than is looked at.
ABOVE = "".join(f"before_{number} = {number * number}\n" for number in range(300))
BELOW = "\n" + "".join(f"behind_{number} = {number * number}\n" for number in range(300))


def generation(text: str, stopped_by: StopReason = StopReason.LINE) -> Generation:
    tokens = tuple(Token(number, text[number : number + 3].encode(), -0.25, -3.0, 0.5) for number in range(0, len(text), 3))
    return Generation(text, (*tokens, Token(0, b"\n", -0.125, -3.0, 0.5)), stopped_by, Timings(3.0, 4.0, 10, 0))


def remembering(
    *texts: str, prefix: str = ABOVE, suffix: str = BELOW, kind: Kind = "line", end: StopReason = StopReason.LINE
) -> GenerationCache:
    cache = GenerationCache()
    cache.keep(URI, prefix, suffix, kind, tuple(generation(text, end) for text in texts))
    return cache


def remembered(generations: tuple[Generation, ...], typed: str = "", *, drawn: int = 1) -> GenerationResult:
    return GenerationResult(generations, "line", typed, "memory", drawn=drawn)


def texts(found: GenerationResult | None) -> list[str] | None:
    return None if found is None else [left.text for left in found.generations]


def test_typing_along_taking_it_back_and_accepting_a_word_are_answered_with_the_rest() -> None:
    cache = remembering("value = other(1)")
    made = generation("value = other(1)")
    for typed in ["v", "va", "v", "", "value", "value =", "value = other(1", "value = ot", "v"]:
        assert cache.find(URI, ABOVE + typed, BELOW, "line") == remembered((left,) if (left := remainder(made, typed)) else (), typed)
    assert cache.find(URI, ABOVE + "w", BELOW, "line") is None
    assert cache.find(URI, ABOVE + "value ==", BELOW, "line") is None
    assert cache.find(URI, ABOVE[:-1], BELOW, "line") is None
    above = ABOVE.replace("\n", "\r\n")
    cache = remembering("if a:\n    b", prefix=above, kind="block")
    assert texts(cache.find(URI, above + "if a:\r\n  ", BELOW, "block")) == ["  b"]
    assert cache.find(URI, above.replace("before_299", "other_299") + "if", BELOW, "block") is None, "another text above"


def test_all_that_were_drawn_are_there_until_something_is_typed_those_with_one_text_and_without_a_text_too() -> None:
    cache = remembering("value = 2", "", "value = 2", "other")
    found = cache.find(URI, ABOVE, BELOW, "line")
    assert texts(found) == ["value = 2", "", "value = 2", "other"]
    found = cache.find(URI, ABOVE + "v", BELOW, "line")
    assert texts(found) == ["alue = 2", "alue = 2"]
    assert found.drawn == 4


def test_agreement_is_that_among_what_is_left_by_its_remaining_tokens_and_one_alone_has_none() -> None:
    cache = remembering("value = 2", "vector", "value = 10", "other")
    found = cache.find(URI, ABOVE + "val", BELOW, "line")
    left = distinct(found.generations, found.drawn)
    totals = [measures_of(one)["total_logprob"] for one, _ in left]
    whole = math.log(math.fsum(map(math.exp, totals)))
    assert totals[0] > totals[1]
    assert [(drawn.rank, drawn.count) for _, drawn in left] == [(1, 4), (2, 4)]
    assert [drawn.agreement for _, drawn in left] == pytest.approx([total - whole for total in totals])
    alone = cache.find(URI, ABOVE + "ve", BELOW, "line")
    assert [drawn for _, drawn in distinct(alone.generations, alone.drawn)] == [SINGLE_DRAW]


def test_a_place_where_the_model_wrote_nothing_is_known_until_something_is_typed() -> None:
    for cache, drawn in ((remembering(), 0), (remembering("", "  "), 2), (remembering("", "value"), 2)):
        assert cache.find(URI, ABOVE, BELOW, "line") == remembered((), drawn=drawn)
        assert cache.find(URI, ABOVE + "x", BELOW, "line") is None


@pytest.mark.parametrize("end", StopReason)
def test_behind_a_text_that_the_model_ended_there_is_nothing_and_behind_another_nobody_knows(end: StopReason) -> None:
    ended = end in (StopReason.LINE, StopReason.BRACKET, StopReason.BLOCK, StopReason.SUFFIX, StopReason.END)
    found = remembering("value", "other", end=end).find(URI, ABOVE + "value", BELOW, "line")
    assert found == (remembered((), "value", drawn=2) if ended else None)


@pytest.mark.parametrize("end", [StopReason.TOKENS, StopReason.TIME])
def test_what_a_budget_ended_gives_way_to_what_begins_so_and_goes_on(end: StopReason) -> None:
    cache = remembering("if a:\n    b\n    c", kind="block")
    cache.keep(URI, ABOVE + "i", BELOW, "block", (generation("f a:\n    b\n    c\n    d", end),))
    cache.keep(URI, ABOVE + "if", BELOW, "block", (generation(" a:\n    b", end),))
    assert texts(cache.find(URI, ABOVE + "if", BELOW, "block")) == [" a:\n    b\n    c\n    d"]
    cache.keep(URI, ABOVE + "if", BELOW, "block", (generation(" a:\n    c", end),))
    assert texts(cache.find(URI, ABOVE + "if", BELOW, "block")) == [" a:\n    c"]
    cache.keep(URI, ABOVE + "if", BELOW, "block", (generation(" a:\n    b", StopReason.BLOCK),))
    assert texts(cache.find(URI, ABOVE + "if", BELOW, "block")) == [" a:\n    b"]


@pytest.mark.parametrize(
    ("text", "typed", "closed", "shown"),
    [
        ("print(x)", "print(", ")", "x"),
        ("f('(')", "f('", "')", "("),
        ("call({\n    a: 1\n})", "call({\n    ", "\n})", "a: 1"),
        ("print(x).strip()", "print(", ")", "x).strip("),
        ("print(x) + y", "print(", ")", None),  # would be print(x) + y)
        ("print()", "print(", ")", None),  # nothing is left
        ("print(x", "print(", ")", None),  # would be another text
    ],
)
def test_brackets_that_the_editor_closed_are_not_suggested_twice(text: str, typed: str, closed: str, shown: str | None) -> None:
    cache = remembering(text, kind="block")
    found = cache.find(URI, ABOVE + typed, closed + BELOW, "block")
    assert texts(found) == (None if shown is None else [shown])
    assert shown is None or typed + shown + closed == text


def test_places_are_forgotten_when_they_were_not_asked_for_longest() -> None:
    cache = GenerationCache(limit=3)
    for name in "abc":
        cache.keep(URI, ABOVE + name, BELOW, "line", (generation("value"),))
    assert cache.find(URI, ABOVE + "a", BELOW, "line") is not None
    cache.keep(URI, ABOVE + "d", BELOW, "line", (generation("value"),))
    assert [cache.find(URI, ABOVE + name, BELOW, "line") is not None for name in "abcd"] == [True, False, True, True]
    cache.keep(URI, ABOVE + "c", BELOW, "line", ())
    assert [cache.find(URI, ABOVE + name, BELOW, "line") is not None for name in "abcd"] == [True, False, True, True]


def test_few_large_generations_take_the_room_of_many_small_ones() -> None:
    cache = GenerationCache()
    large = Generation("x", (Token(1, b"x", -1.0, -2.0, 0.5),) * 10_000, StopReason.LINE, Timings(1, 1, 1, 0))
    for number in range(100):
        cache.keep(URI, f"{number}\n", "", "line", (large,))
        cache.keep(URI, "asked often\n", "", "line", (large,))
    known = [cache.find(URI, f"{number}\n", "", "line") is not None for number in range(100)]
    assert known == sorted(known)
    assert 2 <= sum(known) <= 10


def test_forgetting_leaves_nothing() -> None:
    cache = remembering("value")
    cache.keep("file:///b.py", ABOVE, BELOW, "line", (generation("value"),))
    assert cache.find(URI, ABOVE, BELOW, "block") is None, "another kind"
    cache.forget()
    for uri in (URI, "file:///b.py"):
        assert cache.find(uri, ABOVE + "v", BELOW, "line") is None
    cache.keep(URI, ABOVE, BELOW, "line", (generation("value"),))
    assert cache.find(URI, ABOVE + "v", BELOW, "line") is not None


@given(st.lists(st.sampled_from(["value", "va", "other", ""]), min_size=2, max_size=5))
def test_what_stands_on_the_screen_stays_the_first_of_those_that_are_made_later(drawn: list[str]) -> None:
    cache = remembering("value")
    cache.keep(URI, ABOVE, BELOW, "line", tuple(map(generation, drawn)))
    found = cache.find(URI, ABOVE, BELOW, "line")
    assert texts(found)[0] == "value"
    assert len(texts(found)) == len(drawn)
    assert set(texts(found)) - {"value"} <= set(drawn)
    if "value" in drawn:
        assert sorted(texts(found)) == sorted(drawn)
    cache.keep(URI, ABOVE, "(" + BELOW, "line", (generation("else"),))
    cache.keep(URI, ABOVE, "(" + BELOW, "line", (generation("new"),))
    assert texts(cache.find(URI, ABOVE, "(" + BELOW, "line")) == ["new"]
