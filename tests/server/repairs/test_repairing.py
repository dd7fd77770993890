"""Requests for repairs: what is logged of those that the tests choose, and what becomes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.confidence import uncalibrated
from assay.calibration.log.events import Event, RequestEnded, ShowingEnded, ShowingSeen
from assay.calibration.trust import TRUSTED
from assay.inference.completion.settings import Settings
from assay.inference.model import Fingerprint, StopReason
from assay.inference.opening import ModelChoice
from assay.server.confidence.calibrators import Calibrators
from assay.server.documents.documents import Change, Document, Documents
from assay.server.model.live import LiveModel
from assay.server.model.process import LoadedModel
from assay.server.model.request import RepairRequest
from assay.server.repairs.edits import text_edit, workspace_edit
from assay.server.repairs.found import Found
from assay.server.repairs.lines import Lines, found_again, lines_at, lines_in
from assay.server.repairs.repairing import EditorRequest, RepairRequests
from assay.server.repairs.trial import Trial
from assay.server.settings.settings import DEFAULTS
from assay.server.tracking.outcome_tracker import OutcomeTracker
from assay.suggestion.positions import Encoding, Position, Range, column_at
from assay.suggestion.repair.request import Repair, Repairs
from assay.suggestion.repair.verified import Verification
from assay.suggestion.suggestion import Suggestion

from .repair_of import OLD, repair_of

URI = "file:///a.py"
CANDIDATES = tuple(repair_of(f"r{number}", f"a <= b + {number}") for number in range(1, 13))
NAMES = ("0" * 16, "1" * 16)


class Editor:
    """A document of which repairs were found, and were not given to anyone yet."""

    def __init__(self) -> None:
        self.events: list[tuple[str | None, Event]] = []
        self.documents = Documents("utf-16")
        self.document = self.documents.open(URI, "python", 1, f"{OLD}\n")
        self.tracker = OutcomeTracker(self.documents, lambda event, showing: self.events.append((showing, event)))
        self.repairs = RepairRequests(
            LiveModel(ModelChoice(), Settings(), on_state=lambda _: None),  # never started: what was found before needs none
            Calibrators(lambda _root, _project: TRUSTED),
            lambda: DEFAULTS,
            lambda event: self.events.append((None, event)),
            self.tracker.repairs.found,
        )
        place = CANDIDATES[0].suggestion.range
        lines = lines_at(self.document, place)
        assert lines is not None
        request = RepairRequest(self.document.text, 0, 1, "python", "utf-16", 200, 1e3)
        self.asked = EditorRequest(lines, request, 5, 0, self.document.line_count, None, None)
        self.repairs.found.add(Found(lines, Repairs(CANDIDATES[:5], (), {}, None), candidates=CANDIDATES, names=NAMES))

    @property
    def requests(self) -> list[tuple[str, str, list[str]]]:
        ended = [event for _, event in self.events if isinstance(event, RequestEnded)]
        return [(event.outcome, event.id, [other.id for other in event.others]) for event in ended]


async def _promoted(found: Found) -> Found:
    return replace(found, repairs=replace(found.repairs, found=(CANDIDATES[11], *CANDIDATES[:2])))


async def _refused(found: Found) -> Found:
    said = {repair.suggestion.id: Verification(False, 1, 0.1) for repair in CANDIDATES}
    return replace(found, repairs=replace(found.repairs, found=()), verifications=said)


async def test_what_becomes_of_a_repair_that_the_tests_bring_up_is_logged_with_the_request_that_showed_it() -> None:
    editor = Editor()
    found = await editor.repairs.find(editor.asked, choose=_promoted)
    assert editor.requests == [("produced", "r12", ["r1", "r2"])]
    editor.tracker.repairs.expect("r12")
    editor.documents.change(URI, 2, [Change(CANDIDATES[11].suggestion.text, found.repairs.found[0].suggestion.range)])
    editor.tracker.repairs.edited(URI)
    own = [type(event) for showing, event in editor.events if showing == "r12"]
    assert own[:2] == [ShowingSeen, ShowingEnded]
    editor.tracker.close()


async def test_each_of_several_repairs_that_one_edit_makes_is_accepted() -> None:
    editor = Editor()
    editor.document = editor.documents.open("file:///b.py", "python", 1, f"{OLD}\n{OLD}\n")
    first, below = (replace(CANDIDATES[number], suggestion=CANDIDATES[number].suggestion) for number in (0, 1))
    place = Range(Position(1, 0), Position(1, len(OLD)))
    below = replace(below, suggestion=replace(below.suggestion, range=place))
    editor.tracker.repairs.found("file:///b.py", 1, [first, below])
    editor.tracker.repairs.expect(below.suggestion.id, first.suggestion.id)
    editor.documents.change("file:///b.py", 2, [Change(each.suggestion.text, each.suggestion.range) for each in (below, first)])
    editor.tracker.repairs.edited("file:///b.py")
    assert {showing for showing, event in editor.events if isinstance(event, ShowingEnded)} == {"r1", "r2"}
    editor.tracker.close()


async def test_repairs_are_logged_again_only_where_others_are_shown() -> None:
    editor = Editor()
    for _ in range(2):
        await editor.repairs.find(editor.asked)
    assert [(outcome, first) for outcome, first, _ in editor.requests] == [("produced", "r1")]
    editor.tracker.repairs.reported("shown", "r1")
    for choose in (_promoted, None, _promoted):
        await editor.repairs.find(editor.asked, choose=choose)
    assert editor.requests[1:] == [("produced", "r12", ["r1", "r2"])]
    editor.tracker.repairs.reported("shown", "r1")
    assert [showing for showing, event in editor.events if isinstance(event, ShowingSeen)] == ["r1"], "it was seen once"
    editor.tracker.close()


class Process:
    """A model's process that has found some repairs and looks for more. cancelled: whether it was told to stop."""

    def __init__(self, found: Repairs) -> None:
        self.cancelled = False
        self._found = found

    async def repair(self, _: RepairRequest, *, on_found: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        on_found(msgspec.to_builtins(self._found))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        raise AssertionError


async def _passes(_: str) -> Verification:
    return Verification(True, 1, 0.1)


async def test_no_more_repairs_are_looked_for_when_enough_pass_the_tests_and_what_was_found_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    editor, found = Editor(), Repairs(CANDIDATES[:2], (), {}, None)
    editor.repairs.found.clear()
    process = Process(found)
    fingerprint = Fingerprint("tiny", "llama", 1, "F16", "0" * 64, "1" * 64, "llama.cpp")
    loaded = LoadedModel(fingerprint, "psm", 512, heals=True, files=False, size="small", memory="", load_ms=1.0)
    monkeypatch.setattr(editor.repairs, "_live", SimpleNamespace(process=process))
    monkeypatch.setattr(editor.repairs, "_loaded", lambda _: asyncio.sleep(0, loaded))
    trial = Trial(editor.document.text, _passes, lambda said: not said, lambda _: None, begins=True)
    given = await editor.repairs.find(editor.asked, trial=trial)
    assert process.cancelled
    assert [repair.suggestion.id for repair in given.candidates] == ["r1", "r2"]
    assert given.repairs.stopped_by is StopReason.CANCELLED
    assert editor.repairs.found.of(editor.asked.lines) is not None
    editor.tracker.close()


async def test_a_request_whose_repairs_the_tests_all_refuse_has_nothing_to_suggest() -> None:
    editor = Editor()
    await editor.repairs.find(editor.asked, choose=_refused)
    ((_, event),) = editor.events
    assert isinstance(event, RequestEnded)
    assert (event.outcome, event.reason, event.model, event.others) == ("empty", "the tests refuse all", NAMES[0], ())


async def test_a_request_that_is_cancelled_while_tests_run_ends_so_and_the_next_one_is_logged() -> None:
    async def hang(found: Found) -> Found:
        assert editor.repairs.shown(found.lines) is None, "a menu has none that are not logged"
        await asyncio.sleep(60)
        return found

    editor = Editor()
    task = asyncio.create_task(editor.repairs.find(editor.asked, choose=hang))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    found = await editor.repairs.find(editor.asked)
    assert editor.repairs.shown(found.lines) is found
    assert [outcome for outcome, *_ in editor.requests] == ["cancelled", "produced"]


TEXT = st.text("ab 😀é", max_size=6)


def repair(old: list[str], new: list[str], above: int, encoding: Encoding, newline: str) -> Repair:
    place = Range(Position(above, 0), Position(above + len(old) - 1, column_at(old[-1], len(old[-1]), encoding)))
    suggestion = Suggestion("a" * 12, newline.join(new), place, "repair", uncalibrated("tests_pass"), {}, {})
    return Repair(suggestion, newline.join(old), ("rules",), (), mends=False)


@given(
    st.lists(TEXT, max_size=2),
    st.lists(TEXT, min_size=1, max_size=3),
    st.lists(TEXT, min_size=1, max_size=3),
    st.sampled_from(("utf-8", "utf-16", "utf-32")),
    st.sampled_from(("\n", "\r\n")),
)
def test_the_edit_makes_the_repaired_text(above: list[str], old: list[str], new: list[str], encoding: Encoding, newline: str) -> None:
    before, after = (newline.join([*above, *lines, "below"]) for lines in (old, new))
    document = Document("file:///a.py", "python", 1, before, encoding)
    place, text = text_edit(repair(old, new, len(above), encoding, newline), encoding)
    document.apply(Change(text, place))
    assert document.text == after


def test_it_is_for_the_version_that_it_was_made_for_where_the_client_looks_at_versions() -> None:
    made, lines = repair(["a < b"], ["a <= b"], 3, "utf-16", "\n"), Lines("file:///a.py", 7, 3, 4, "")
    versioned = workspace_edit([made], lines, "utf-16", versioned=True)
    assert versioned.document_changes is not None
    (change,) = versioned.document_changes
    assert (change.text_document.version, change.edits[0].new_text) == (7, "=")  # type: ignore[union-attr]
    assert list(workspace_edit([made], lines, "utf-16", versioned=False).changes or {}) == ["file:///a.py"]


ALL = {name: repair_of(name) for name in ("passes", "unknown", "refused", "part", "untried")}
FOUND = Found(
    Lines("file:///a.py", 1, 0, 1, ""),
    Repairs((ALL["passes"], ALL["part"]), (), {}, None),
    {
        "passes": Verification(True, 1, 0.1, why="3 more may touch these lines, and were not run"),
        "unknown": Verification(None, 0, 0.1, why="no test touches them"),
        "refused": Verification(False, 1, 0.1, why="test_a fails as before"),
        "part": Verification(False, 2, 0.1, ("test_b",), why="test_a fails as before"),
    },
    tuple(ALL.values()),
)


def test_only_what_the_tests_do_not_pass_and_is_not_shown_is_refused_and_each_has_its_own_reason() -> None:
    assert [name for name in ALL if FOUND.is_refused(name)] == ["refused"]
    assert FOUND.refused == 1
    assert [FOUND.repair(name) for name in ALL] == list(ALL.values()), "of an older menu, too"
    assert FOUND.repair("of another text") is None
    assert FOUND.repair(None) is ALL["passes"]
    said = {name: FOUND.why_not_verified(repair) for name, repair in ALL.items()}
    assert (said["passes"], said["unknown"], said["untried"]) == ("", "no test touches them", "")
    asked = Found(FOUND.lines, FOUND.repairs, not_verified="you are being asked")
    assert asked.why_not_verified(ALL["passes"]) == "you are being asked"


TEXTS = st.lists(st.text("ab ", max_size=4), min_size=1, max_size=12)


def document(*lines: str, end: str = "\n") -> Document:
    return Document("file:///a.py", "python", 1, end.join(lines), "utf-16")


def rows(first: int, last: int, character: int = 1) -> Range:
    return Range(Position(first, 0), Position(last, character))


def edited(text: Document, change: Change) -> Document:
    text.apply(change)
    text.version += 1
    return text


def found(text: Document, first: int, last: int) -> Lines:
    lines = lines_at(text, rows(first, last))
    assert lines is not None
    return lines


@given(TEXTS, st.integers(0, 11), st.lists(st.text("xy", min_size=1, max_size=3), max_size=5))
def test_lines_that_moved_are_found_where_they_are_now(texts: list[str], first: int, above: list[str]) -> None:
    texts = [f"{text}{number}" for number, text in enumerate(texts)]
    first = min(first, len(texts) - 1)
    lines = found(document(*texts), first, first)
    moved = edited(document(*texts), Change("".join(f"{line}\n" for line in above), Range(Position(0, 0), Position(0, 0))))
    again = found_again(moved, lines)
    assert (again.first, again.version) == (first + len(above), 2)
    assert moved.line(again.first).rstrip("\n") == texts[first]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_ends_a_line_is_none_of_its_text(end: str) -> None:
    lines = found(document("a", "b"), 0, 0)
    assert found_again(edited(document("x", "a", "b", end=end), Change("y", rows(0, 0))), lines) is not None


def test_lines_that_are_gone_or_there_twice_are_not_found() -> None:
    text = document("a", "b", "a")
    assert found_again(text, found(text, 0, 0)) is not None
    assert found_again(edited(text, Change("x", rows(1, 1))), Lines("", 1, 0, 1, found(text, 0, 0).digest)) is None
    assert found_again(edited(document("a", "b"), Change("x", rows(0, 0))), found(document("a", "b"), 0, 0)) is None
    assert found_again(document("a"), Lines("", 1, -1, 0, "")) is None


@pytest.mark.parametrize("data", [None, {}, {"uri": "a", "version": "1", "lines": "", "range": {}}])
def test_what_the_server_never_gave_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        lines_in(data)
