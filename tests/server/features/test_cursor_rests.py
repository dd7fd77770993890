"""Where the cursor rests the model has read, and written, before the user begins to type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ...inference.completion_server import Speech, serving
from ..client import place, started
from ..logged import requests_of

pytestmark = pytest.mark.slow

URI = "file:///project/main.py"


async def sources(gguf: Path, log: Path, rests: tuple[int, int], asks: tuple[int, int], uri: str = URI, **options: Any) -> list[str]:
    """Where the answer to a request comes from behind a cursor that rested."""
    async with started(gguf, options={"log": {"path": str(log)}, **options}) as client:
        await client.ready()
        client.open(uri, "a?\nwhat is b?\n")
        client.notify("assay/cursorRests", place(uri, *rests))
        await client.complete(uri, *asks)
        await client.leave()
    return [line["source"] for line in requests_of(log)]


@pytest.mark.parametrize(("rests", "asks"), [((0, 2), (0, 2)), ((1, 4), (1, 10))], ids=["at the line's end", "within a line"])
async def test_where_the_cursor_rested_is_ready(
    answering_gguf: Path, tmp_path: Path, rests: tuple[int, int], asks: tuple[int, int]
) -> None:
    assert set(await sources(answering_gguf, tmp_path / "log", rests, asks)) <= {"memory", "running"}


@pytest.mark.parametrize(
    ("options", "prepared"),
    [({}, True), ({"speculate": False}, False), ({"automatic": False}, False), ({"disabledLanguages": ["python"]}, False)],
)
async def test_nothing_is_prepared_that_may_not_come_by_itself(answering_gguf: Path, options: dict[str, Any], prepared: bool) -> None:
    async with started(answering_gguf, options=options) as client:
        await client.ready()
        client.open(URI, "a?\n")
        client.notify("assay/cursorRests", place(URI, 0, 2))
        client.notify("assay/cursorRests", place("file:///not/open.py", 0, 0))
        await client.request("assay/context", place(URI, 0, 2))  # which the model's process answers behind that
        status = await client.request("assay/status")
        assert (status["work"]["decoded_tokens"] > 0, sum(status["outcomes"].values())) == (prepared, 0)


async def test_a_file_with_secrets_is_not_read_and_one_that_rests_while_the_model_loads_is_read_then(answering_gguf: Path) -> None:
    async with started(answering_gguf) as client:
        client.open("file:///project/.env", "a?\n")
        client.notify("assay/cursorRests", place("file:///project/.env", 0, 2))
        await client.ready()
        client.open(URI, "a?\n")
        await client.request("assay/context", place(URI, 0, 2))
        assert (await client.request("assay/status"))["work"]["decoded_tokens"] == 0
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


async def test_a_rest_without_a_place_is_named_in_the_log_and_ends_nothing(answering_gguf: Path) -> None:
    async with started(answering_gguf) as client:
        client.notify("assay/cursorRests", {"position": "here"})
        client.open(URI, "a?")
        assert await client.complete(URI, 0, 2)
