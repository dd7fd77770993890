"""The commands of repairs through a real server: for clients that choose in a list of their own, and for those without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import RetentionChecked, ShowingEnded, ShowingSeen
from assay.inference.opening import EMBEDDED

from ..client import Client, started
from .test_code_actions import HERE, TEXT, URI, edited, repairing

pytestmark = pytest.mark.slow


async def execute(client: Client, command: dict[str, Any]) -> Any:
    return await client.request("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})


def makes_edits(client: Client, *, applied: bool = True) -> list[str]:
    """Have the client make the edits that it is sent, as editors do; the texts that come of them."""
    texts: list[str] = []

    def make(params: dict[str, Any]) -> dict[str, Any]:
        if applied:
            version = 1 + len(texts)
            texts.append(edited(TEXT, version, params))
            client.change(URI, version + 1, {"text": texts[-1]})
        return {"applied": applied}

    client.replies["workspace/applyEdit"] = make
    return texts


async def test_who_has_no_list_is_asked_by_a_message_and_what_was_chosen_is_put_in_and_logged(log: Path) -> None:
    async with repairing(**{"log.path": str(log)}) as client:
        texts, asked = makes_edits(client), []

        def choose(params: dict[str, Any]) -> dict[str, Any]:
            asked.append([action["title"] for action in params["actions"]])
            return {"title": asked[0][1]}

        client.replies["window/showMessageRequest"] = choose
        _, action = await client.actions(URI, HERE)
        assert await execute(client, action["command"]) is True
        listed = (await client.request("assay/repairs", {"textDocument": {"uri": URI}, "range": HERE}))["repairs"]
        assert len(asked[0]) == 3
        assert len(texts) == 1
        assert listed
        client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
        client.change(URI, 3, {"text": TEXT})
        client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
        await client.leave()
    with EventLog(log) as events:
        rows = [(row.showing, row.event) for row in events.rows() if row.showing is not None]
    first, second = dict.fromkeys(showing for showing, _ in rows)
    assert [event.by for showing, event in rows if showing == first and isinstance(event, ShowingSeen)] == ["client"]
    own = [event for showing, event in rows if showing == second]
    (ended,) = [event for event in own if isinstance(event, ShowingEnded)]
    assert (ended.ending, ended.accepted) == ("accepted", ended.characters)
    looks = [(look.after_s, look.share, look.why) for look in own if isinstance(look, RetentionChecked)]
    assert looks == [(None, 1.0, ""), (None, 0.0, "undone"), (None, 0.0, ""), (15, None, "closed")]


async def test_who_closes_the_list_gets_no_edit_and_it_is_logged_as_rejected(log: Path) -> None:
    async with repairing(**{"log.path": str(log)}) as client:
        texts = makes_edits(client)
        _, action = await client.actions(URI, HERE)
        assert await execute(client, action["command"]) is False
        assert texts == []
        await client.leave()
    with EventLog(log) as events:
        assert [row.event.ending for row in events.rows() if isinstance(row.event, ShowingEnded)] == ["rejected"]


async def test_a_chosen_repair_is_put_in_by_its_id_and_one_of_an_older_text_is_not() -> None:
    async with repairing() as client:
        texts = makes_edits(client)
        found = await client.request("assay/repairs", {"textDocument": {"uri": URI, "version": 1}, "range": HERE})
        second = found["repairs"][1]
        argument = found["lines"] | {"id": second["id"]}
        assert await execute(client, {"command": "assay.repair", "arguments": [argument]}) is True
        assert texts == [edited(TEXT, 1, {"edit": {"documentChanges": [_document_edit(second)]}})]
        assert await execute(client, {"command": "assay.repair", "arguments": [argument]}) is False
        assert await client.heard("window/showMessage", "The text has changed")


async def test_an_edit_that_the_client_does_not_make_is_told() -> None:
    async with repairing() as client:
        makes_edits(client, applied=False)
        fix, _ = await client.actions(URI, HERE)
        assert await execute(client, {"command": "assay.repair", "arguments": [fix["data"]]}) is False
        assert await client.heard("window/showMessage", "did not make the edit")


async def test_a_client_that_does_not_resolve_gets_commands() -> None:
    async with started(EMBEDDED, TEXT, uri=URI) as client:
        repair, choose = await client.actions(URI, HERE)
        assert (repair["command"], choose["command"]) == ("assay.repair", "assay.chooseRepair")
        makes_edits(client, applied=False)
        assert await execute(client, repair) is False


def _document_edit(repair: dict[str, Any]) -> dict[str, Any]:
    return {"textDocument": {"uri": URI, "version": 1}, "edits": [repair["edit"]]}
