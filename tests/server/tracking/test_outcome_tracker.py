"""What becomes of suggestions, told by a whole server to its log."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from assay.calibration.confidence import uncalibrated
from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import (
    Event,
    RequestEnded,
    RetentionChecked,
    Row,
    ShowingEnded,
    ShowingEnding,
    ShowingSeen,
    TextLogged,
    hash_of,
)
from assay.server.confidence.log_view import read_log
from assay.server.documents.documents import Change, Documents
from assay.server.model.request import GenerationRequest
from assay.server.tracking.logged_outcomes import SETTLE_S
from assay.server.tracking.outcome_tracker import OutcomeTracker
from assay.suggestion.positions import Position, Range
from assay.suggestion.suggestion import Place, Suggestion

from ..client import URI, Client, client_of, span, started

pytestmark = pytest.mark.slow


def rows_of(path: Path) -> list[Row]:
    with EventLog(path) as log:
        return [row for row in log.rows() if row.showing is not None]


async def command(client: Client, name: str, item: dict[str, object]) -> None:
    arguments = [{"id": item["command"]["arguments"][0]["id"]}]  # type: ignore[index]
    assert await client.request("workspace/executeCommand", {"command": f"assay.{name}", "arguments": arguments}) is None


async def test_the_life_of_an_accepted_suggestion_is_in_the_log(answering_gguf: Path, tmp_path: Path) -> None:
    async with started(answering_gguf, "x = 1\nresult?", options={"log.path": str(tmp_path / "log"), "log.text": True}) as client:
        for name in ("shown", "accepted", "acceptedPart", "rejected"):
            for arguments in ([], [None], [{"id": "unknown"}], [{"id": 3}]):  # what nobody knows does no harm
                params = {"command": f"assay.{name}", "arguments": arguments}
                assert await client.request("workspace/executeCommand", params) is None
        (item,) = await client.complete(URI, 1, 7)
        await command(client, "shown", item)
        client.change(URI, 2, {"range": span(1, 7, 1, 7), "text": " "})
        (rest,) = await client.complete(URI, 1, 8)
        assert rest["insertText"] == "answer"
        client.change(URI, 3, {"range": span(1, 8, 1, 8), "text": "answer"})
        await command(client, "accepted", rest)
        client.change(URI, 4, {"text": "x=1\nresult?\n\n\nanswer\n"})
        client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
        client.change(URI, 5, {"range": span(4, 0, 4, 6), "text": "nothing"})
        client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
        assert await client.leave() == 0
    showing = item["command"]["arguments"][0]["id"]
    rows = rows_of(tmp_path / "log")
    assert {row.showing for row in rows} == {showing}
    requests = [row.event for row in rows if isinstance(row.event, RequestEnded)]
    assert [(request.outcome, request.id) for request in requests] == [
        ("produced", showing),
        ("produced", rest["command"]["arguments"][0]["id"]),
    ]
    (shown,) = [row.event for row in rows if isinstance(row.event, ShowingSeen)]
    assert shown.by == "client"
    (ended,) = [row.event for row in rows if isinstance(row.event, ShowingEnded)]
    assert (ended.ending, ended.by, ended.characters, ended.typed, ended.accepted) == (ShowingEnding.ACCEPTED, "client", 7, 1, 6)
    kept = [row.event for row in rows if isinstance(row.event, RetentionChecked)]
    assert [(each.after_s, each.share, each.why) for each in kept] == [(None, 1.0, ""), (None, 0.0, ""), (15, None, "closed")]
    texts = [(row.event.what, row.event.text.strip()) for row in rows if isinstance(row.event, TextLogged)]
    assert texts == [("suggested", "answer"), ("found", "answer"), ("found", "nothing")]


async def test_another_alternative_is_reported_with_its_own_numbers(tiny_gguf: Path, log: Path) -> None:
    async with started(tiny_gguf, "def f(x):\n    return x", options={"log.path": str(log), "log.text": True, "alternatives": 4}) as client:
        _, second, *_ = await client.complete(URI, 1, 12, invoked=True)
        await command(client, "shown", second)
        await command(client, "accepted", second)
        client.change(URI, 2, {"range": second["range"], "text": second["insertText"]})
        assert await client.leave() == 0
    suggestion = second["command"]["arguments"][0]
    showing = suggestion["id"]
    (decided,) = [one for one in read_log(log).decided if one.request.id == showing]
    assert (decided.shown, decided.request.measures) == (True, suggestion["measures"])
    assert {ShowingSeen, ShowingEnded, RetentionChecked, TextLogged} <= {type(row.event) for row in rows_of(log) if row.showing == showing}
    with EventLog(log) as opened:
        opened.forget_documents([hash_of(URI)])
    assert rows_of(log) == []


async def test_of_two_files_with_one_text_the_renamed_one_is_followed(answering_gguf: Path, tmp_path: Path) -> None:
    async with client_of(answering_gguf) as client:
        can = {"workspace": {"fileOperations": {"didRename": True}}, "textDocument": {"inlineCompletion": {}}}
        params = {"processId": None, "capabilities": can, "initializationOptions": {"log.path": str(tmp_path / "log")}}
        capabilities = (await client.request("initialize", params))["capabilities"]
        client.notify("initialized", {})
        assert capabilities["textDocumentSync"]["save"]
        assert capabilities["workspace"]["fileOperations"]["didRename"]["filters"]
        names = []
        for uri in (URI, "file:///project/b.py"):
            client.open(uri, "a?")
            (item,) = await client.complete(uri, 0, 2)
            names.append(item["command"]["arguments"][0]["id"])
            client.change(uri, 2, {"range": span(0, 2, 0, 2), "text": " answer"})
        client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        client.notify("textDocument/didClose", {"textDocument": {"uri": "file:///project/b.py"}})
        client.notify("workspace/didRenameFiles", {"files": [{"oldUri": URI, "newUri": "file:///project/c.py"}]})
        client.open("file:///project/c.py", "a? answer")
        client.notify("textDocument/didSave", {"textDocument": {"uri": "file:///project/c.py"}})
        assert await client.leave() == 0
    kept = [(row.showing, row.event.share) for row in rows_of(tmp_path / "log") if isinstance(row.event, RetentionChecked)]
    assert (names[0], 1.0) in kept
    assert (names[1], 1.0) not in kept


async def test_what_had_ended_before_an_edit_is_followed_through_it_also_when_the_timer_is_late() -> None:
    said: list[Event] = []
    documents = Documents("utf-8")
    outcome_tracker = OutcomeTracker(documents, lambda event, _: said.append(event))
    start = Position(1, 0)
    place = Place("x = 1\n", "", Range(start, start))
    documents.open(URI, "python", 1, "x = 1\n")
    outcome_tracker.offered(
        GenerationRequest(URI, place, invoked=False, start=6),
        [Suggestion("id", "one two", place.range, "line", uncalibrated("kept"), {}, {})],
    )
    outcome_tracker.reported("shown", "id")
    for column, character in enumerate("one tw"):
        at = Position(1, column)
        outcome_tracker.edited(URI, documents.change(URI, 2, [Change(character, Range(at, at))]))
    outcome_tracker.reported("accepted", "id")
    time.sleep(SETTLE_S)  # the event loop stands still
    top = Position(0, 0)
    outcome_tracker.edited(URI, documents.change(URI, 3, [Change("y = 23456\n", Range(top, top))]))
    outcome_tracker.saved(URI)
    outcome_tracker.close()
    assert [event.text for event in said if isinstance(event, TextLogged)] == ["one two", "one tw"]
