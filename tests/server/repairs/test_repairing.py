"""Requests for repairs: what is logged of those that the tests choose, and what becomes of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from assay.calibration.log.events import Event, RequestEnded, ShowingEnded, ShowingSeen
from assay.calibration.trust import TRUSTED
from assay.server.confidence.calibrators import Calibrators
from assay.server.documents.documents import Change, Documents
from assay.server.model.live import LiveModel
from assay.server.repairs.found import Found
from assay.server.repairs.lines import lines_at
from assay.server.repairs.repairing import Asked, RepairRequests
from assay.server.requests.request import RepairRequest
from assay.server.settings.settings import DEFAULTS
from assay.server.tracking.outcome_tracker import OutcomeTracker
from assay.suggestion.repair.request import Repairs
from assay.suggestion.repair.verified import Verification

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
            _no_model,
            Calibrators(lambda _root, _project: TRUSTED),
            lambda: DEFAULTS,
            lambda event: self.events.append((None, event)),
            self.tracker.repairs.found,
        )
        place = CANDIDATES[0].suggestion.range
        lines = lines_at(self.document, place)
        assert lines is not None
        request = RepairRequest(self.document.text, 0, 1, "python", "utf-16", 200, 1e3)
        self.asked = Asked(lines, request, 5, 0, self.document.line_count, None, None)
        self.repairs.found.add(Found(lines, Repairs(CANDIDATES[:5], (), {}, None), candidates=CANDIDATES, names=NAMES))

    @property
    def requests(self) -> list[tuple[str, str, list[str]]]:
        ended = [event for _, event in self.events if isinstance(event, RequestEnded)]
        return [(event.outcome, event.id, [other.id for other in event.others]) for event in ended]


def _no_model() -> LiveModel:
    raise AssertionError("what was found before needs no model")


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


async def test_what_the_tests_choose_is_not_kept_where_the_text_has_changed_meanwhile() -> None:
    editor = Editor()

    async def edited(found: Found) -> Found:
        editor.repairs.found.forget(URI)
        return found

    await editor.repairs.find(editor.asked, choose=edited)
    assert editor.repairs.found.of(editor.asked.lines) is None
