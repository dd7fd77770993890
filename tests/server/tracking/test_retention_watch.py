from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from assay.server.documents.documents import Change, Document
from assay.server.tracking import retention_watch
from assay.server.tracking.anchors import Anchor
from assay.server.tracking.logged_outcomes import EndedShowing
from assay.server.tracking.retention_watch import REOPEN_S, CheckResult, RetentionWatch
from assay.suggestion.positions import Range

URI, OTHER = "file:///src/a.py", "file:///src/b.py"
CODE = "def f(a, b):\n    \n    return total\n"
TEXT = "total = a + b"
AT = CODE.index("    \n") + 4


@dataclass
class Desk:
    """Documents, and what is said of what was put into them while time goes on by hand."""

    documents: dict[str, Document] = field(default_factory=dict)
    now: float = 50.0
    slept: float = 0.0
    checks: list[CheckResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watch = RetentionWatch(self.documents.get)

    @property
    def wall(self) -> float:
        return 1e9 + self.now + self.slept

    def open(self, text: str = CODE, uri: str = URI) -> None:
        self.documents[uri] = Document(uri, "python", 1, text, "utf-16")
        self.checks += self.watch.opened(uri, text)

    def close(self, uri: str = URI) -> None:
        self.watch.closed(uri, self.documents.pop(uri).text, self.now)

    def edit(self, start: int, removed: int, text: str, uri: str = URI) -> None:
        document = self.documents[uri]
        where = Range(document.position(start), document.position(start + removed))
        self.checks += self.watch.edited(uri, document.apply(Change(text, where)))

    def accept(self, text: str = TEXT, at: int = AT, uri: str = URI, showing: str = "s") -> None:
        self.edit(at, 0, text, uri)
        left = EndedShowing(showing, uri, Anchor(at, at + len(text)), text, len(text))
        self.checks += self.watch.follow(left, self.now, self.wall)

    def dismiss(self, text: str = TEXT, at: int = AT, showing: str = "s") -> None:
        self.checks += self.watch.follow(EndedShowing(showing, URI, Anchor(at, at), text), self.now, self.wall)

    def go_on(self, seconds: float) -> None:
        """Let time pass, with a check whenever one is due."""
        end = self.now + seconds
        while (due := self.watch.next_s) is not None and due <= end:
            self.now = max(self.now, due)
            self.checks += self.watch.check(self.now, self.wall)
        self.now = end

    def said(self) -> list[tuple[int | None, float | None, str]]:
        return [(check.event.after_s, check.event.share, check.event.why) for check in self.checks]


def desk() -> Desk:
    made = Desk()
    made.open()
    return made


def test_what_is_accepted_is_checked_five_times_and_then_forgotten() -> None:
    made = desk()
    made.accept()
    made.go_on(200)
    made.edit(AT + 8, 5, "g(a)")
    made.go_on(1_000)
    # of total = a + b there are left total = a among total = g(a)
    assert made.said() == [(15, 1.0, ""), (30, 1.0, ""), (120, 1.0, ""), (300, 3 / 5, ""), (600, 3 / 5, "")]
    assert made.checks[0].found == TEXT
    assert len(made.watch) == 0
    assert made.watch.next_s is None


def test_the_same_that_is_typed_where_it_was_dismissed_is_found_and_what_comes_behind_it_is_not_needed() -> None:
    made = desk()
    made.dismiss(showing="same")
    made.edit(AT, 0, "total = a + b\n    more = total * 2")
    made.go_on(20)
    assert made.said() == [(15, 1.0, "")]
    other = desk()
    other.dismiss()
    other.edit(AT, 0, "print(a)\n    x = 1\n    total = a + b")
    other.go_on(20)
    assert other.said() == [(15, 1 / 5, "")]  # of all that was typed only the beginning is in its place: an equals sign, or an a


@pytest.mark.parametrize("more", ["", "    "])
def test_an_edit_that_takes_away_what_was_put_in_is_an_undo(more: str) -> None:
    made = desk()
    made.accept()
    made.edit(AT - len(more), len(more + TEXT), "")
    made.go_on(20)
    made.edit(AT - len(more), 0, TEXT)
    made.go_on(20)
    assert made.said() == [(None, 0.0, "undone"), (15, 0.0, ""), (30, 1.0, "")]  # for what is undone may be done again


def test_to_delete_it_later_or_in_part_is_no_undo() -> None:
    made = desk()
    made.accept()
    made.edit(0, 0, "\n")
    made.edit(AT + 1, len(TEXT), "")
    made.go_on(20)
    part, more = desk(), desk()
    part.accept()
    part.edit(AT + 8, 5, "")
    part.go_on(20)
    more.accept()
    more.edit(AT, len(TEXT) + 2, "")
    more.go_on(20)
    assert made.said() == more.said() == [(15, 0.0, "")]
    assert part.said() == [(15, 2 / 5, "")]


def test_a_save_is_a_check_where_something_has_changed() -> None:
    made = desk()
    made.accept()
    for _ in range(3):
        made.watch.saved(URI)
        made.watch.saved(OTHER)
        made.go_on(1)
    made.edit(AT, 5, "size")
    made.watch.saved(URI)
    made.go_on(1)
    assert made.said() == [(None, 1.0, ""), (None, 4 / 5, "")]


def test_a_file_that_is_closed_is_censored_once_and_not_at_once() -> None:
    made = desk()
    made.accept()
    made.go_on(20)
    made.close()
    made.go_on(REOPEN_S / 2)
    assert made.said() == [(15, 1.0, "")]
    made.go_on(700)
    assert made.said() == [(15, 1.0, ""), (30, None, "closed")]
    assert len(made.watch) == 0


@pytest.mark.parametrize("told", ["before", "between", "not"])
def test_a_renamed_file_is_followed(told: str) -> None:
    made = desk()
    made.accept()
    text = made.documents[URI].text
    if told == "before":
        made.watch.renamed("file:///src", "file:///lib")
    made.close()
    if told == "between":
        made.watch.renamed(URI, "file:///lib/a.py")
    made.open(text, "file:///lib/a.py")
    made.edit(AT, 5, "size", "file:///lib/a.py")
    made.go_on(20)
    assert made.said() == [(15, 4 / 5, "")]


def test_a_file_that_is_opened_with_another_text_is_not_the_one_that_was_closed() -> None:
    made = desk()
    made.accept()
    made.close()
    made.open("something else")
    made.go_on(20)
    assert made.said() == [(15, None, "closed")]


def test_while_the_machine_sleeps_nobody_keeps_anything() -> None:
    by_the_clock, by_the_timer = desk(), desk()
    by_the_clock.accept()
    by_the_clock.slept = 3600.0
    by_the_clock.go_on(700)
    by_the_timer.accept()
    by_the_timer.now += 100.0
    by_the_timer.go_on(700)
    assert by_the_clock.said() == by_the_timer.said() == [(15, None, "asleep")]


def test_what_is_lost_is_said_to_be_lost() -> None:
    document, replaced, long, end = desk(), desk(), desk(), desk()
    document.accept()
    document.checks += document.watch.lost(URI)
    replaced.accept()
    replaced.edit(0, len(replaced.documents[URI].text), "?")
    long.accept()
    long.edit(AT + 5, 0, "x" * (retention_watch.MAX_CHARACTERS + 1))
    long.go_on(20)
    end.accept()
    end.checks += end.watch.shut()
    assert document.said() == replaced.said() == long.said() == [(15, None, "lost")]
    assert end.said() == [(15, None, "closed")]
    assert all(len(made.watch) == 0 for made in (document, replaced, long, end))


OLD, NEW = "    if a < b:", "    if a <= b:"


def repaired(old: str = OLD, new: str = NEW) -> Desk:
    """A repair of the middle of three lines was put in."""
    desk = Desk()
    desk.open(f"x\n{old}\ny\n")
    desk.edit(2, len(old), new)
    desk.checks += desk.watch.follow(EndedShowing("s", URI, Anchor(2, 2 + len(new)), new, len(new), old), desk.now, desk.wall)
    return desk


@pytest.mark.parametrize(("old", "new"), [(OLD, NEW), ("return x + 1", "return x")])
def test_a_repair_that_is_taken_back_is_not_kept_though_most_of_its_words_stand_there(old: str, new: str) -> None:
    undone = repaired(old, new)
    undone.edit(2, len(new), old)
    assert undone.said() == [(None, 0.0, "undone")]
    undone.go_on(20)
    assert undone.said()[1:] == [(15, 0.0, "")]
    by_hand = repaired(old, new)
    by_hand.edit(0, 0, "z")
    by_hand.edit(3, len(new), old)
    by_hand.go_on(20)
    assert by_hand.said() == [(15, 0.0, "")]


def test_an_undo_by_the_smallest_edit_is_seen_as_well_and_redo_brings_it_back() -> None:
    desk = repaired()
    desk.edit(2 + NEW.index("="), 1, "")
    assert desk.said() == [(None, 0.0, "undone")]
    desk.edit(2 + NEW.index("="), 0, "=")
    desk.go_on(20)
    assert desk.said()[1:] == [(15, 1.0, "")]
