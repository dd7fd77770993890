from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.calibration.measures.agreement import SINGLE_DRAW, distinct
from assay.calibration.measures.registry import measures_of
from assay.inference.completion.task import Kind
from assay.inference.model import Generation, StopReason, Timings, Token
from assay.server.model import cache as module
from assay.server.model.cache import GenerationCache
from assay.server.model.request import GenerationResult
from assay.suggestion.remainder import MAX_GAINED, remainder

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


def test_documents_and_kinds_have_nothing_to_do_with_each_other() -> None:
    cache = remembering("value")
    assert cache.find("file:///b.py", ABOVE, BELOW, "line") is None
    assert cache.find(URI, ABOVE, BELOW, "block") is None


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
        ("print(a, [1, 2])", "print(a, [", "])", "1, 2"),
        ('x["key"]', 'x["', '"]', "key"),
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


@pytest.mark.parametrize("below", ["", BELOW])
def test_so_much_behind_the_cursor_is_no_bracket_that_the_editor_closed(below: str) -> None:
    for size, shown in [(MAX_GAINED, ["x"]), (MAX_GAINED + 1, None)]:
        cache = remembering("f(x" + ")" * size, suffix=below)
        assert texts(cache.find(URI, ABOVE + "f(", ")" * size + below, "line")) == shown


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
    known = [cache.find(URI, f"{number}\n", "", "line") is not None for number in range(100)]
    assert known == sorted(known)
    assert 2 <= sum(known) <= 10


def test_asking_often_at_one_place_leaves_the_others_known() -> None:
    cache = remembering("value")
    large = Generation("x", (Token(1, b"x", -1.0, -2.0, 0.5),) * 10_000, StopReason.LINE, Timings(1, 1, 1, 0))
    for _ in range(20):
        cache.keep(URI, "a = 1\n", "", "line", (large,))
    assert texts(cache.find(URI, ABOVE, BELOW, "line")) == ["value"]


def test_forgetting_leaves_nothing() -> None:
    cache = remembering("value")
    cache.keep("file:///b.py", ABOVE, BELOW, "line", (generation("value"),))
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


MOVES = st.lists(
    st.tuples(
        st.sampled_from([*["along"] * 6, "other", *["back"] * 2, "newline", "above", "below", "near", "ask", "close"]), st.integers(0, 99)
    ),
    max_size=25,
)
TEXTS = ["value = other(1)", "if a:\n    b(\n        c,\n    )", "print({'key': [1, 2]})", "x", "", "aa aa aa aa", "(((())))"]


@dataclass
class Typist:
    """A document that is typed in, and by plain strings what is known of it. Every newline of the document is `newline`."""

    newline: str
    before: str
    behind: str
    cache: GenerationCache = field(default_factory=GenerationCache)
    asked: list[tuple[str, str, Generation]] = field(default_factory=list)

    def lines(self, text: str) -> str:
        return text.replace("\n", self.newline)

    def ask(self, text: str) -> None:
        made = generation(text)
        self.cache.keep(URI, self.before, self.behind, "block", (made,))
        place = (self.before[-module.MAX_BEFORE :], self.behind[: module.MAX_AFTER])
        self.asked = [(*place, made), *[entry for entry in self.asked if entry[:2] != place]]

    def known(self) -> list[list[str]] | None:
        """What may be found of the newest answer that fits; None for nothing.

        It fits where the cursor splits its text: a part is typed, a part may stand behind the cursor, and what is around is as it was.
        """
        for near, after, made in self.asked:
            fits = [
                [rest] if rest.strip() else []
                for typed in range(len(made.text) + 1)
                for end in range(typed, len(made.text) + 1)
                if self.before.endswith(self.lines(made.text[:typed])) and self.behind.startswith(self.lines(made.text[end:]))
                if self.up_to(typed, made.text)[-module.MAX_BEFORE :] == near
                if self.behind[len(self.lines(made.text[end:])) :][: module.MAX_AFTER] == after
                for rest in [made.text[typed:end]]
                if rest.strip() or end == len(made.text)
            ]
            if fits:
                return fits
        return None

    def up_to(self, typed: int, text: str) -> str:
        return self.before[: len(self.before) - len(self.lines(text[:typed]))]

    def move(self, move: str, number: int) -> None:
        shown = texts(self.cache.find(URI, self.before, self.behind, "block"))
        match move:
            case "along" if shown:
                size = 1 + number % 4
                self.before += self.lines(shown[0][:size])
            case "other":
                self.before += "xyz("[number % 4]
            case "back" if self.before:
                size = 2 if self.before.endswith("\r\n") else 1
                self.before = self.before[:-size]
            case "newline":
                self.before += self.newline
            case "above":
                self.before = ["# new", "import os\n"][number % 2].replace("\n", self.newline) + self.before[number % 3 * 40 :]
            case "below":
                self.behind += f"# {number}{self.newline}"
            case "near":
                at = max(0, len(self.before) - number)
                self.before = self.before[:at] + "q" + self.before[at:]
            case "ask":
                self.ask(TEXTS[number % len(TEXTS)])
            case "close" if shown and (bracket := {"(": ")", "[": "]", "{": "}", "'": "'"}.get(shown[0][0])):
                self.before += shown[0][0]
                self.behind = bracket + self.behind


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(TEXTS), MOVES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_is_found_in_typing_is_what_plain_strings_say(text: str, moves: Iterable[tuple[str, int]], newline: str, short: bool) -> None:
    above, below = ("a = 1\n", "\nb\n") if short else (ABOVE, BELOW)
    typist = Typist(newline, above.replace("\n", newline), below.replace("\n", newline))
    typist.ask(text)
    for move, number in moves:
        typist.move(move, number)
        found, known = texts(typist.cache.find(URI, typist.before, typist.behind, "block")), typist.known()
        assert found is None if known is None else found in known
