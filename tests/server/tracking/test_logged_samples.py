"""From an editor's edits, through a whole server and its log, to samples."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from assay.calibration.samples import Sample, read_samples
from assay.cli import main as cli

from ..client import URI, Client, span, started


def exported(log: Path, at_s: int) -> dict[str, Sample]:
    out = log.with_name("samples.jsonl")
    assert cli.main(["logs", "export", "--log", str(log), "--out", str(out), "--at", str(at_s)]) == 0
    return {sample.id: sample for sample in read_samples(out)}


async def suggested(client: Client, line: int) -> dict[str, Any]:
    """The suggestion behind the question mark of a line, seen."""
    (item,) = await client.complete(URI, line, 2)
    suggestion: dict[str, Any] = item["command"]["arguments"][0]
    await client.request("workspace/executeCommand", {"command": "assay.shown", "arguments": [{"id": suggestion["id"]}]})
    return suggestion


def put_in(client: Client, version: int, line: int, text: str) -> None:
    client.change(URI, version, {"range": span(line, 2, line, 2), "text": text})


@pytest.mark.slow
async def test_what_is_undone_was_not_kept_and_of_what_is_passed_by_nothing_is_known(answering_gguf: Path, tmp_path: Path) -> None:
    async with started(answering_gguf, "a?\nb?\nc?\n", root=Path("/project"), options={"log.path": str(tmp_path / "log")}) as client:
        undone = await suggested(client, 0)
        put_in(client, 2, 0, " answer")
        client.change(URI, 3, {"range": span(0, 2, 0, 9), "text": ""})
        ignored = await suggested(client, 1)
        put_in(client, 4, 1, "!")
        closed = await suggested(client, 2)
        put_in(client, 5, 2, " answer")
        assert await client.leave() == 0
    found = exported(tmp_path / "log", 300)
    assert {name: sample.labels for name, sample in found.items()} == {
        undone["id"]: {"kept": False},
        ignored["id"]: {"kept": None},
        closed["id"]: {"kept": None},
    }
    assert found[undone["id"]].measures == undone["measures"]
    assert len({sample.project for sample in found.values()}) == len({sample.file for sample in found.values()}) == 1


@pytest.mark.slow
async def test_what_stands_there_later_was_kept_whoever_put_it_there(answering_gguf: Path, tmp_path: Path) -> None:
    async with started(answering_gguf, "a?\nb?\nc?\nd?\n", options={"log.path": str(tmp_path / "log")}) as client:
        accepted = await suggested(client, 0)
        put_in(client, 2, 0, " answer")
        replaced = await suggested(client, 1)
        put_in(client, 3, 1, " answer")
        client.change(URI, 4, {"range": span(1, 0, 1, 9), "text": "no"})
        rejected = await suggested(client, 2)
        await client.request("workspace/executeCommand", {"command": "assay.rejected", "arguments": [{"id": rejected["id"]}]})
        typed_later = await suggested(client, 3)
        await client.request("workspace/executeCommand", {"command": "assay.rejected", "arguments": [{"id": typed_later["id"]}]})
        put_in(client, 5, 3, " answer")
        await asyncio.sleep(16)
        assert await client.leave() == 0
    found = exported(tmp_path / "log", 15)
    assert {name: sample.labels["kept"] for name, sample in found.items()} == {
        accepted["id"]: True,
        replaced["id"]: False,
        rejected["id"]: False,
        typed_later["id"]: True,
    }
