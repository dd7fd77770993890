from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.calibration.log.events import By, ShowingEnded, ShowingEnding, ShowingSeen
from assay.server.documents.documents import Splice
from assay.server.tracking.logged_outcomes import SEEN_S, SETTLE_S, EndedShowing, Fact, OutcomeEvents, ShowingEvent

URI, OTHER = "file:///a.py", "file:///b.py"
TEXT = "total = count + 1"


@dataclass
class Editor:
    """One document, and what is said of its showings while time goes on by hand."""

    text: str = "x = 1\n\nend\n"
    cursor: int = 6
    now: float = 100.0
    showings: OutcomeEvents = field(default_factory=OutcomeEvents)
    facts: list[Fact] = field(default_factory=list)
    ids: int = 0

    def between(self, start: int, end: int) -> str:
        return self.text[start:end]

    def offer(self, *texts: str, stood: str = "", invoked: bool = False) -> str:
        items = [(f"id{self.ids + index}", text) for index, text in enumerate(texts)]
        self.ids += len(texts)
        showing, facts = self.showings.offered(URI, self.cursor - len(stood), stood, items, self.now, invoked=invoked)
        self.facts += facts
        return showing or ""

    def ask(self, cursor: int | None = None, uri: str = URI) -> None:
        self.facts += self.showings.asked(uri, self.cursor if cursor is None else cursor, self.between, self.now)

    def edit(self, start: int, removed: int, added: str, after_s: float = 0.1) -> None:
        self.now += after_s
        splice = Splice(start, self.text[start : start + removed], added)
        self.text = self.text[:start] + added + self.text[start + removed :]
        self.cursor = start + len(added)
        self.facts += self.showings.edited(URI, splice, self.between, self.now)

    def type(self, text: str, after_s: float = 0.1) -> None:
        for character in text:
            self.edit(self.cursor, 0, character, after_s)

    def put_in(self, text: str, after_s: float = 0.1) -> None:
        self.edit(self.cursor, 0, text, after_s)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.facts += self.showings.tick(self.now)

    def endings(self) -> list[tuple[str, ShowingEnding, By]]:
        """Of all showings, when all is settled."""
        self.wait(SETTLE_S)
        return [(fact.showing, fact.event.ending, fact.event.by) for fact in self.facts if isinstance(fact, ShowingEvent) and ended(fact)]

    def ended(self) -> ShowingEnded:
        """The one ending that there is, when all is settled."""
        self.wait(SETTLE_S)
        (event,) = [fact.event for fact in self.facts if isinstance(fact, ShowingEvent) and isinstance(fact.event, ShowingEnded)]
        return event

    def shown(self) -> list[tuple[str, By]]:
        return [
            (fact.showing, fact.event.by) for fact in self.facts if isinstance(fact, ShowingEvent) and isinstance(fact.event, ShowingSeen)
        ]

    def left(self) -> list[tuple[str, str]]:
        """The texts that stand, and those within reach, at the places of showings that ended."""
        anchors = [fact.anchor for fact in self.facts if isinstance(fact, EndedShowing)]
        return [(self.text[anchor.start : anchor.end], self.text[anchor.end : anchor.reach]) for anchor in anchors]


def ended(fact: ShowingEvent) -> bool:
    return isinstance(fact.event, ShowingEnded)


def test_all_of_it_at_once_is_accepted_and_counts_as_shown() -> None:
    editor = Editor()
    name = editor.offer(TEXT)
    editor.put_in(TEXT)
    event = editor.ended()
    assert (event.ending, event.by, event.characters, event.accepted, event.typed) == (ShowingEnding.ACCEPTED, "inferred", 17, 17, 0)
    assert editor.shown() == [(name, "inferred")]
    assert editor.left() == [(TEXT, "")]


@pytest.mark.parametrize("told_first", [True, False])
def test_a_client_that_says_that_it_put_it_in_is_believed_before_its_edit_and_after_it(told_first: bool) -> None:
    editor = Editor()
    name = editor.offer(TEXT)
    if told_first:
        editor.facts += editor.showings.reported_accepted(name, editor.now)
    editor.put_in(TEXT)
    if not told_first:
        editor.offer("next")
        editor.facts += editor.showings.reported_accepted(name, editor.now)
    assert editor.endings() == [(name, ShowingEnding.ACCEPTED, "client")]
    assert editor.left() == [(TEXT, "")]


def test_typing_along_is_one_showing_however_it_is_asked_for_again() -> None:
    editor = Editor()
    name = editor.offer(TEXT)
    for index, character in enumerate(TEXT[:-1]):
        editor.type(character)
        editor.ask()
        assert editor.offer(TEXT[index + 1 :]) == name
    editor.edit(editor.cursor - 1, 1, "")
    editor.ask()
    assert editor.offer("+ 1"[1:]) == name
    editor.type(" 1")
    event = editor.ended()
    assert (event.ending, event.accepted, event.typed) == (ShowingEnding.TYPED_THROUGH, 0, 17)


def test_a_word_and_then_something_else_is_partly_accepted() -> None:
    editor = Editor()
    name = editor.offer(TEXT)
    editor.put_in("total")
    editor.ask()
    assert editor.offer(TEXT[5:]) == name
    editor.type(" ")
    editor.type("+")
    event = editor.ended()
    assert (event.ending, event.accepted, event.typed) == (ShowingEnding.PARTLY_ACCEPTED, 5, 1)
    assert editor.left() == [("total ", "+")]


def test_a_word_and_the_rest_typed_is_partly_accepted_and_word_after_word_is_accepted() -> None:
    typed, words = Editor(), Editor()
    typed.offer(TEXT)
    typed.put_in("total")
    typed.type(" = count + 1")
    assert typed.ended().ending is ShowingEnding.PARTLY_ACCEPTED
    words.offer(TEXT)
    for word in ("total", " = ", "count", " + ", "1"):
        words.put_in(word)
        if word == "1":
            words.facts += words.showings.reported_accepted_part("id0", words.now)
    event = words.ended()
    assert (event.ending, event.accepted) == (ShowingEnding.ACCEPTED, 17)


def test_a_word_of_one_letter_is_a_part_if_the_client_says_so() -> None:
    editor = Editor()
    name = editor.offer("x = y")
    editor.put_in("x")
    editor.facts += editor.showings.reported_accepted_part(name, editor.now)
    editor.ask(0)
    event = editor.ended()
    assert (event.ending, event.by, event.accepted) == (ShowingEnding.PARTLY_ACCEPTED, "client", 1)


def test_a_part_that_is_taken_back_is_none() -> None:
    editor = Editor()
    name = editor.offer(TEXT)
    editor.put_in("total")
    editor.edit(editor.cursor - 5, 5, "")
    editor.ask()
    assert editor.offer(TEXT) == name
    editor.type("q")
    assert editor.endings() == [(name, ShowingEnding.IGNORED, "inferred")]


def test_something_else_is_typed_and_the_showing_is_ignored_with_its_place_followed() -> None:
    editor = Editor()
    editor.offer(TEXT)
    editor.type("to", SEEN_S)
    editor.type("p")
    event = editor.ended()
    assert (event.ending, event.typed) == (ShowingEnding.IGNORED, 2)
    assert editor.left() == [("to", "p")]


@pytest.mark.parametrize(
    "go",
    [lambda editor: editor.ask(0), lambda editor: editor.ask(uri=OTHER), lambda editor: editor.edit(0, 1, "y")],
    ids=["a request", "a request elsewhere", "an edit"],
)
def test_who_goes_elsewhere_ignores_it(go: Callable[[Editor], None]) -> None:
    editor = Editor()
    name = editor.offer(TEXT)
    go(editor)
    assert editor.endings() == [(name, ShowingEnding.IGNORED, "inferred")]


def test_what_is_dismissed_is_rejected_also_where_that_is_told_a_moment_late() -> None:
    editor = Editor()
    first = editor.offer(TEXT)
    editor.facts += editor.showings.reported_rejected(first, editor.now)
    second = editor.offer("other")
    editor.type("q")
    editor.facts += editor.showings.reported_rejected(second, editor.now)
    assert editor.endings() == [(first, ShowingEnding.REJECTED, "client"), (second, ShowingEnding.REJECTED, "client")]


def test_another_suggestion_no_suggestion_a_closed_document_and_the_end_supersede_it() -> None:
    editor = Editor()
    first = editor.offer(TEXT)
    second = editor.offer("other")
    editor.facts += editor.showings.nothing(URI, editor.cursor, editor.now)
    third = editor.offer("third")
    editor.facts += editor.showings.closed(OTHER, editor.now)
    editor.facts += editor.showings.closed(URI, editor.now)
    fourth = editor.offer("fourth")
    editor.facts += editor.showings.shut(editor.now)
    assert editor.endings() == [(name, ShowingEnding.SUPERSEDED, "inferred") for name in (first, second, third, fourth)]


def test_of_alternatives_the_first_is_shown_and_another_when_it_is_gone_on_to() -> None:
    editor = Editor()
    editor.offer("one()", "two()", "three()")
    editor.put_in("two()")
    assert editor.endings() == [("id0", ShowingEnding.SUPERSEDED, "inferred"), ("id1", ShowingEnding.ACCEPTED, "inferred")]
    editor.offer("one()", "two()", "three()")
    editor.facts += editor.showings.reported_shown("id5", editor.now)
    editor.facts += editor.showings.reported_rejected("id5", editor.now)
    assert editor.endings()[2:] == [("id3", ShowingEnding.SUPERSEDED, "inferred"), ("id5", ShowingEnding.REJECTED, "client")]
    assert editor.shown() == [("id1", "inferred"), ("id5", "client")]


def test_who_comes_back_to_an_alternative_goes_on_with_its_showing() -> None:
    editor = Editor()
    editor.offer("one()", "two()", "three()")
    for name, after_s in (("id0", 1.0), ("id1", 2.0), ("id2", 3.0), ("id0", 0.0)):
        editor.facts += editor.showings.reported_shown(name, editor.now)
        editor.wait(after_s)
    editor.put_in("one()", after_s=4.0)
    superseded = [(name, ShowingEnding.SUPERSEDED, "inferred") for name in ("id1", "id2")]
    assert editor.endings() == [*superseded, ("id0", ShowingEnding.ACCEPTED, "inferred")]
    assert editor.shown() == [(name, "client") for name in ("id0", "id1", "id2")]
    seen_ms = {
        fact.showing: fact.event.visible_ms
        for fact in editor.facts
        if isinstance(fact, ShowingEvent) and isinstance(fact.event, ShowingEnded)
    }
    assert seen_ms == {"id0": 5_000.0, "id1": 2_000.0, "id2": 3_000.0}
    assert editor.left() == [("", "one()"), ("", "one()"), ("one()", "")]


def test_alternatives_that_are_invoked_leave_what_is_on_the_screen_there() -> None:
    editor = Editor()
    name = editor.offer("one()")
    assert editor.offer("two()", "one()", invoked=True) == "id1"
    editor.facts += editor.showings.reported_shown("id2", editor.now)
    editor.type("o")
    assert editor.offer("ne()") == name
    editor.put_in("ne()")
    assert editor.endings() == [(name, ShowingEnding.ACCEPTED, "inferred")]
    name = editor.offer("one()")
    assert editor.offer("two()", invoked=True) == "id5"
    editor.put_in("two()")
    assert editor.endings()[1:] == [(name, ShowingEnding.SUPERSEDED, "inferred"), ("id5", ShowingEnding.ACCEPTED, "inferred")]


def test_what_stood_long_enough_was_seen_and_what_flashed_by_was_not() -> None:
    editor = Editor()
    editor.offer(TEXT)
    editor.type("q", SEEN_S / 2)
    seen = editor.offer("other")
    editor.type("q", SEEN_S)
    assert editor.shown() == [(seen, "inferred")]
    assert len(editor.left()) == 1


def test_a_client_that_says_what_it_shows_is_believed_about_all() -> None:
    editor = Editor()
    first = editor.offer(TEXT)
    editor.facts += editor.showings.reported_shown(first, editor.now)
    editor.facts += editor.showings.reported_shown(first, editor.now)
    editor.type("q", SEEN_S)
    editor.offer("other")
    editor.type("q", SEEN_S)
    assert editor.shown() == [(first, "client")]


def test_brackets_that_are_typed_over_are_along() -> None:
    editor = Editor()
    name = editor.offer("f(a) + 1")
    editor.type("f")
    editor.edit(editor.cursor, 0, "()")
    editor.cursor -= 1
    editor.type("a")
    editor.cursor += 1  # it is typed over
    editor.ask()
    assert editor.offer(" + 1") == name
    editor.type(" + 1")
    assert editor.ended().ending is ShowingEnding.TYPED_THROUGH


def test_an_indentation_that_the_editor_puts_in_is_typed_whatever_its_width() -> None:
    editor = Editor()
    editor.offer("if a:\n        b\n")
    editor.type("if a:")
    editor.edit(editor.cursor, 0, "\n    ")
    editor.type("b")
    event = editor.ended()
    assert (event.ending, event.accepted) == (ShowingEnding.TYPED_THROUGH, 0)


def test_windows_line_ends_are_line_ends() -> None:
    editor = Editor()
    editor.offer("if a:\r\n    b\r\n    c")
    editor.put_in("if a:\r\n    b\r\n    c")
    event = editor.ended()
    assert (event.ending, event.characters, event.accepted) == (ShowingEnding.ACCEPTED, 17, 17)
    assert editor.left() == [("if a:\r\n    b\r\n    c", "")]


def test_an_edit_that_is_told_behind_what_it_repeats_is_at_the_cursor() -> None:
    editor = Editor("f(b)", 2)
    editor.offer("bc, ")
    editor.text = "f(bc, b)"
    editor.now += 0.1
    editor.facts += editor.showings.edited(URI, Splice(3, "", "c, b"), editor.between, editor.now)
    assert editor.ended().ending is ShowingEnding.ACCEPTED


def test_a_menu_in_which_something_is_selected_counts_what_it_replaces_as_there() -> None:
    editor = Editor("x = pri", 7)
    editor.offer("print(total)", stood="pri")
    editor.edit(4, 3, "print(total)")
    event = editor.ended()
    assert (event.ending, event.characters, event.accepted) == (ShowingEnding.ACCEPTED, 12, 9)


ACTIONS = st.one_of(
    st.tuples(
        st.just("offer"),
        st.lists(st.sampled_from(["ab", "a(b)", "ba\n b", "b", "(a", "a b"]), min_size=1, max_size=3),
        st.booleans(),
        st.booleans(),
    ),
    st.tuples(st.just("edit"), st.integers(0, 12), st.integers(0, 3), st.text(st.sampled_from("ab( )\n"), max_size=4)),
    st.tuples(st.just("put in"), st.integers(1, 5)),
    st.tuples(st.just("type along"), st.integers(1, 3)),
    st.tuples(st.just("ask"), st.integers(0, 12)),
    st.tuples(st.just("nothing"), st.integers(0, 12)),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.3, 2.0])),
    st.tuples(st.sampled_from(["shown", "accepted", "accepted_part", "rejected"]), st.integers(0, 12)),
    st.tuples(st.just("close"), st.booleans()),
)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(ACTIONS, max_size=40))
def test_whatever_happens_each_showing_that_began_ends_exactly_once(actions: list[tuple[object, ...]]) -> None:
    editor, began, text = Editor("ab(a b)\nab", 4), set(), ""
    for action in actions:
        match action:
            case ("offer", list(texts), bool(stood), bool(invoked)):
                text = texts[0]
                stands = editor.text[max(0, editor.cursor - 1) : editor.cursor] if stood else ""
                name = editor.offer(*texts, stood=stands, invoked=invoked)
                began |= set() if invoked else {name}
            case ("edit", int(start), int(removed), str(added)):
                editor.edit(min(start, len(editor.text)), removed, added)
            case ("put in", int(size)):
                editor.put_in(text[:size])
            case ("type along", int(size)):
                editor.type(text[:size])
            case ("ask", int(cursor)):
                editor.ask(min(cursor, len(editor.text)))
            case ("nothing", int(cursor)):
                editor.facts += editor.showings.nothing(URI, cursor, editor.now)
            case ("wait", float(seconds)):
                editor.wait(seconds)
            case ("close", bool(here)):
                editor.facts += editor.showings.closed(URI if here else OTHER, editor.now)
            case (str(what), int(number)):
                editor.facts += getattr(editor.showings, f"reported_{what}")(f"id{number}", editor.now)
    editor.facts += editor.showings.shut(editor.now)
    ends = Counter(fact.showing for fact in editor.facts if isinstance(fact, ShowingEvent) and ended(fact))
    assert set(ends.values()) <= {1}
    assert began - {""} <= set(ends)
    shown = Counter(name for name, _ in editor.shown())
    left = Counter(fact.showing for fact in editor.facts if isinstance(fact, EndedShowing))
    assert set(shown.values()) <= {1}
    assert left == shown
    for fact in editor.facts:
        if isinstance(fact, ShowingEvent) and isinstance(fact.event, ShowingEnded):
            event = fact.event
            assert 0 <= event.accepted + event.typed <= event.characters
            assert event.visible_ms >= 0
            assert (event.ending in (ShowingEnding.ACCEPTED, ShowingEnding.PARTLY_ACCEPTED)) == (event.accepted > 0)
