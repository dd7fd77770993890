from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llama_server import free_port

from assay.inference.completion.settings import Settings
from assay.inference.model import Fingerprint
from assay.inference.opening import ModelChoice
from assay.server.model import live as model_watch
from assay.server.model import process as model_process
from assay.server.model.ipc import frame, model_part, read_frame
from assay.server.model.process import LoadedModel, ModelProcess, ModelProcessDied, ModelUnavailable, State

from ...inference.completion_server import Speech, serving
from ..client import wait_until
from ..wanted import wanted

CHILD = [sys.executable, "-P", "-m", "assay.server.model.worker"]


@asynccontextmanager
async def running(choice: ModelChoice, **more: Any) -> AsyncIterator[ModelProcess]:
    process = ModelProcess(choice, **more)
    await process.start()
    try:
        yield process
    finally:
        await process.close()


class Worker:
    """The model's process, told one message after the other."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self.stdin, self.stdout = process, process.stdin, process.stdout

    def tell(self, *messages: dict[str, Any] | bytes) -> None:
        self.stdin.write(b"".join(message if isinstance(message, bytes) else frame(message) for message in messages))
        self.stdin.flush()

    def heard(self) -> dict[str, Any]:
        message = read_frame(self.stdout)
        assert message is not None
        return message


@pytest.fixture
def worker() -> Iterator[Worker]:
    with subprocess.Popen(CHILD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield Worker(process)
        process.stdin.close()


def complete(number: int) -> dict[str, Any]:
    return {"id": number, "op": "complete", "asked": model_part(wanted("def f():\n    return ", "")), "tell": False}


def test_other_files_are_shown_only_with_a_size_of_the_users_own_and_to_a_model_that_tells_files_apart() -> None:
    large = LoadedModel(Fingerprint("m", "qwen2", 1, "f16", "w", "t", "r"), "psm", 4096, True, True, "large", "", 1.0)
    assert (large.settings().extra_tokens, large.settings("large").extra_tokens, large.settings("normal").extra_tokens) == (0, 1024, 0)
    assert replace(large, files=False).settings("large") == large.settings() == Settings(2048, 512)


def test_one_message_after_the_other_is_answered_and_one_that_can_not_be_read_ends_the_process(worker: Worker, tiny_gguf: Path) -> None:
    worker.tell(complete(0), {"id": 1, "op": "load", "where": "none.gguf", "options": {}})
    assert worker.heard()["error"]["message"] == "no model is loaded"
    assert worker.heard()["error"]["type"] == "NoSuchModel"
    worker.tell({"id": 0, "op": "load", "where": str(tiny_gguf), "options": {}})
    assert worker.heard()["ok"]["layout"] == "anchored"
    worker.tell(complete(1), {"op": "cancel", "id": 1}, complete(2))
    first, second = (worker.heard() for _ in range(2))
    assert (first["id"], first["ok"][0]["stopped_by"]) == (1, "cancelled")
    assert (second["id"], second["ok"][0]["stopped_by"] != "cancelled") == (2, True)
    worker.tell(b"\0\0\0\1{")
    assert worker.process.wait(10) == 0  # its stdin is still open


def test_prints_of_libraries_do_not_land_among_the_messages() -> None:
    program = (
        "import os, sys; from assay.server.model.ipc import frame, take_stdio; stdin, stdout = take_stdio(); "
        "print('from python', flush=True); os.write(1, b'from c\\n'); stdout.write(frame({'n': len(sys.stdin.read()) + len(stdin.read())}))"
    )
    done = subprocess.run([sys.executable, "-c", program], input=b"12345", capture_output=True, check=True, timeout=30)
    assert done.stdout == frame({"n": 5})
    assert b"from python" in done.stderr
    assert b"from c" in done.stderr


async def test_a_request_cancelled_while_it_waited_never_runs_and_the_folder_is_not_imported_from(
    answering_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    async with running(ModelChoice(str(answering_gguf))) as process:
        await process.loaded()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)
        first, second, third = (asyncio.create_task(process.complete(wanted(text, ""))) for text in ("a?", "b?", "c?"))
        await asyncio.sleep(0.05)
        second.cancel()
        first.cancel()
        os.kill(process.pid, signal.SIGCONT)
        assert (await third)[0].text == " answer"
        assert process.requests_sent == 3  # load, the first and the third
        with pytest.raises(asyncio.CancelledError):
            await second


@pytest.mark.slow
async def test_a_silent_process_is_ended_though_each_request_is_cancelled(answering_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_process, "_HUNG_S", 0.3)
    async with running(ModelChoice(str(answering_gguf))) as process:
        await process.loaded()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(ModelProcessDied, match="did not answer"):
            await process.complete(wanted("a?", "", max_ms=100))
        await process.loaded()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)
        while process.state == "ready":
            asking = asyncio.create_task(process.complete(wanted("a?", "", max_ms=50)))
            await asyncio.sleep(0.05)
            asking.cancel()
        assert process.reason == "the model's process is started again after it did not answer within 0 s"
        assert (await process.complete(wanted("a?", "", max_ms=10_000)))[0].text == " answer"


async def test_a_file_that_changes_or_goes_is_noticed_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_watch, "LOOK_S", 0.02)
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one")
    seen: list[str] = []

    async def follow() -> None:
        async for change in model_watch.changes(path):
            seen.append(change)  # noqa: PERF401 - there is no end to wait for

    async def last_seen(change: str) -> None:
        await wait_until(lambda: seen[-1:] == [change])

    following = asyncio.create_task(follow())
    await asyncio.sleep(0.1)
    assert seen == []
    with path.open("ab") as file:
        for _ in range(20):
            file.write(b"more")
            file.flush()
            await asyncio.sleep(0.01)
    await last_seen("changed")
    path.unlink()
    await last_seen("gone")
    path.write_bytes(b"one")
    await last_seen("changed")
    assert seen[-3:] == ["changed", "gone", "changed"]
    following.cancel()


@pytest.mark.parametrize("choice", [ModelChoice(None), ModelChoice("a.gguf", {"threads": object()})], ids=["no Python", "no JSON"])
async def test_whatever_keeps_a_process_from_starting_is_told_to_each_request(choice: ModelChoice, monkeypatch: pytest.MonkeyPatch) -> None:
    if choice.where is None:
        monkeypatch.setattr(sys, "executable", None)  # as Python has it where it does not find itself
    async with running(choice) as process:
        with pytest.raises(ModelUnavailable, match="not"):
            await asyncio.wait_for(process.complete(wanted("a?", "")), 30)
        assert process.state == "failed"


@pytest.mark.slow
async def test_a_server_that_is_away_is_tried_again_by_later_requests_and_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_process, "_TRY_AGAIN_S", 0.0)
    port, states = free_port(), list[State]()
    async with running(ModelChoice(f"http://127.0.0.1:{port}"), on_state=states.append) as process:
        with pytest.raises(ModelUnavailable, match=r"can't be reached .* tried again when a suggestion is asked for"):
            await process.loaded()
        sent = process.requests_sent
        while process.requests_sent < sent + 2:  # each is a load
            with pytest.raises(ModelUnavailable):
                await process.complete(wanted("a", ""))
            await asyncio.sleep(0.05)
        assert states == ["failed"]
        with serving(Speech(), port):
            while process.state == "failed":
                with suppress(ModelUnavailable):
                    await process.complete(wanted("a", ""))
                await asyncio.sleep(0.05)
            assert (await process.complete(wanted("a", "")))[0].text == "bc"
        assert states == ["failed", "ready"]


@pytest.mark.slow
async def test_a_server_that_is_away_is_not_tried_at_each_request() -> None:
    async with running(ModelChoice(f"http://127.0.0.1:{free_port()}")) as process:
        with pytest.raises(ModelUnavailable):
            await process.loaded()
        await asyncio.wait({process._life})
        for _ in range(20):
            with pytest.raises(ModelUnavailable):
                await process.complete(wanted("a", ""))
            assert process._life.done()


@pytest.mark.slow
async def test_a_process_that_dies_again_and_again_is_given_up_with_the_reason(answering_gguf: Path) -> None:
    states: list[State] = []
    async with running(ModelChoice(str(answering_gguf)), on_state=states.append) as process:
        for _ in range(4):
            await process.loaded()
            assert process.pid is not None
            os.kill(process.pid, signal.SIGSTOP)
            asking = asyncio.create_task(process.complete(wanted("a?", "")))
            await asyncio.sleep(0.05)
            os.kill(process.pid, signal.SIGKILL)
            with pytest.raises(ModelProcessDied, match="SIGKILL"):
                await asking
        with pytest.raises(ModelUnavailable, match=r"died 4 times within 60 s, last was ended by SIGKILL\. To start it again, change"):
            await process.complete(wanted("a?", ""))
        assert states == ["ready", "loading", "ready", "loading", "ready", "loading", "ready", "failed"]
        await process.reload("its file has changed")
        assert (await process.complete(wanted("a?", "")))[0].text == " answer"


async def test_after_close_requests_are_refused_and_the_process_is_gone(tiny_gguf: Path) -> None:
    process = ModelProcess(ModelChoice(str(tiny_gguf)))
    await process.start()
    waiting = asyncio.create_task(process.complete(wanted("a", "")))
    await asyncio.sleep(0.1)
    await process.close()
    assert process.pid is None
    with pytest.raises(ModelUnavailable, match="shutting down"):
        await waiting
