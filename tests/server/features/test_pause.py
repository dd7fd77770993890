"""Pauses, and what the status says of them and of what the dial hides, through a real server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import RequestEnded

from ..client import URI, Client, RpcError, span, started, wait_until

pytestmark = pytest.mark.slow


async def pause(client: Client, *arguments: Any) -> Any:
    return await client.request("workspace/executeCommand", {"command": "assay.pause", "arguments": list(arguments)})


async def status(client: Client, name: str) -> Any:
    return (await client.request("assay/status"))[name]


async def test_in_a_pause_only_what_is_invoked_comes_and_nothing_is_prepared(answering_gguf: Path) -> None:
    async with started(answering_gguf, "x?") as client:
        await client.ready()
        until = await pause(client, {"minutes": 10})
        in_ten_minutes = datetime.now(UTC) + timedelta(minutes=10)
        assert abs(datetime.fromisoformat(until) - in_ten_minutes) < timedelta(minutes=1)
        assert await status(client, "paused") == until == (await client.heard("$/assay/didChangeStatus", until))["paused"]
        assert await client.complete(URI, 0, 2) == []
        assert await status(client, "work") == {"prompt_tokens": 0, "decoded_tokens": 0}
        item, *_ = await client.complete(URI, 0, 2, invoked=True)
        assert item["insertText"] == " answer"
        client.change(URI, 2, {"range": span(0, 2, 0, 2), "text": " answer"})
        before = await status(client, "work")
        await client.request("workspace/executeCommand", item["command"] | {"title": None})
        await asyncio.sleep(0.3)
        assert await status(client, "work") == before
        assert await pause(client, {"minutes": 0}) is None
        assert await status(client, "paused") is None
        assert client.notifications[-1]["params"]["paused"] is None
        client.change(URI, 3, {"text": "y?"})
        assert len(await client.complete(URI, 0, 2)) == 1


async def test_a_pause_ends_by_itself_and_the_editor_is_told(answering_gguf: Path) -> None:
    async with started(answering_gguf, "x?") as client:
        await client.ready()
        await pause(client, {"minutes": 60})
        await pause(client, {"minutes": 0.005})  # another end takes the place of the first
        count = len(client.notifications)
        await wait_until(lambda: any(each["params"].get("paused", "") is None for each in client.notifications[count:]))
        assert await status(client, "paused") is None
        assert len(await client.complete(URI, 0, 2)) == 1


WRONG = ["[{}]", "[10]", *(f'[{{"minutes": {minutes}}}]' for minutes in ('"10"', "true", "-1", "1441", "NaN", "-Infinity", "1e400"))]


async def test_what_is_no_pause_is_refused_with_what_it_should_be(tiny_gguf: Path) -> None:
    async with started(tiny_gguf) as client:
        for arguments in ("[]", *WRONG, '[{"minutes": 5}, 1]', f'[{{"minutes": -1{"0" * 400}}}]'):
            params = f'{{"command": "assay.pause", "arguments": {arguments}}}'
            client.raw(f'{{"jsonrpc": "2.0", "id": 77, "method": "workspace/executeCommand", "params": {params}}}'.encode())
            with pytest.raises(RpcError, match=r"assay.pause: .*minutes.* from 0 to 1440") as refused:
                await client.answer(77)
            assert refused.value.code == -32602
        assert await status(client, "paused") is None


async def test_each_hidden_generation_is_counted_once_in_the_status_and_in_the_log(answering_gguf: Path, tmp_path: Path) -> None:
    options = {"event": "kept", "showUncalibrated": False, "explore": 0, "log.path": str(tmp_path / "log")}
    async with started(answering_gguf, "x?", options=options) as client:
        assert await client.complete(URI, 0, 2) == []
        assert (await client.heard("$/assay/didChangeStatus", '"hidden": 1'))["hidden"] == 1
        client.change(URI, 2, {"range": span(0, 2, 0, 2), "text": " ans"})
        assert await client.complete(URI, 0, 6) == []
        assert await client.complete(URI, 0, 6, invoked=True)
        assert await status(client, "hidden") == 1
        client.change(URI, 3, {"text": "other?"})
        assert await client.complete(URI, 0, 6) == []
        assert await status(client, "hidden") == 2
        await client.leave()
    with EventLog(tmp_path / "log") as log:
        hidden = [
            (row.showing, row.event.id) for row in log.rows() if isinstance(row.event, RequestEnded) and row.event.outcome == "hidden"
        ]
    first, along, other = hidden
    assert first == (first[1], first[1]) == (along[0], first[1])
    assert other[0] == other[1] != first[1]
