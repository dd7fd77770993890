"""Where the cursor rests the model has read, and written, before the user begins to type."""

from __future__ import annotations

from pathlib import Path

import pytest

from ...inference.completion_server import Speech, serving
from ..client import place, started
from ..logged import requests_of

pytestmark = pytest.mark.slow

URI = "file:///project/main.py"


async def test_where_the_cursor_rested_is_ready_at_a_lines_end_and_within_a_line(answering_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, options={"log": {"path": str(log)}}) as client:
        await client.ready()
        for name, rests, asks in (("a", (0, 2), (0, 2)), ("b", (1, 4), (1, 10))):
            uri = f"file:///project/{name}.py"
            client.open(uri, "a?\nwhat is b?\n")
            client.notify("assay/cursorRests", place(uri, *rests))
            await client.complete(uri, *asks)
        await client.leave()
    assert {line["source"] for line in requests_of(log)} <= {"memory", "running"}


async def test_nothing_is_prepared_that_may_not_come_by_itself(answering_gguf: Path) -> None:
    async with started(answering_gguf, options={"speculate": False}) as client:
        client.notify("assay/cursorRests", {"position": "here"})
        client.open("file:///project/.env", "a?\n")
        client.open(URI, "a?\n")
        await client.ready()
        for options in ({"speculate": False}, {"automatic": False}, {"disabledLanguages": ["python"]}, {}):
            client.notify("workspace/didChangeConfiguration", {"settings": {"memory": "off"} | options})
            client.notify("assay/cursorRests", place("file:///project/.env", 0, 2))
            client.notify("assay/cursorRests", place("file:///not/open.py", 0, 0))
            if options:
                client.notify("assay/cursorRests", place(URI, 0, 2))
            await client.request("assay/context", place(URI, 0, 2))  # which the model's process answers behind that
            status = await client.request("assay/status")
            assert (status["work"]["decoded_tokens"], sum(status["outcomes"].values())) == (0, 0)


async def test_what_rests_while_the_model_loads_is_prepared_then(answering_gguf: Path) -> None:
    async with started(answering_gguf, "a?\n", uri=URI) as client:
        client.notify("assay/cursorRests", place(URI, 0, 2))
        await client.ready()
        await client.request("assay/context", place(URI, 0, 2))
        assert (await client.request("assay/status"))["work"]["decoded_tokens"] > 0


async def test_a_server_is_not_asked_because_a_cursor_rests() -> None:
    speech = Speech()
    with serving(speech) as address:
        async with started(address) as client:
            await client.ready()
            client.open(URI, "a?\n")
            asked = len(speech.asked)
            client.notify("assay/cursorRests", place(URI, 0, 2))
            await client.request("assay/status")
            await client.request("assay/status")
            assert not [path for _, path, _ in speech.asked[asked:] if "completion" in path]
