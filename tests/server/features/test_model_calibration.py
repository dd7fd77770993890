"""A model without numbers gets some while the user works: the question, the request, and the process that waits while somebody types."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.calibration.declined_models import decline, is_declined
from assay.inference.opening import EMBEDDED, ModelChoice
from assay.server.confidence import child_process
from assay.server.confidence.child_process import ChildProcessFailed, CommandProcess, arguments_of

from ..client import QUESTION, RpcError, client_of, started, wait_until

pytestmark = pytest.mark.slow

FUNCTION = 'def f{n}(items):\n    """Sum."""\n    total = {n}\n    for item in items:\n        total += item\n    return total\n\n\n'
REQUEST = "assay/calibrateModel"


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "shop.py").write_text("".join(FUNCTION.format(n=n) for n in range(9)))
    return folder


async def until_declined(model: str) -> None:
    await wait_until(lambda: is_declined(model))


async def test_the_user_is_asked_of_a_model_without_numbers_and_never_again_once_it_was_declined(tiny_gguf: Path, project: Path) -> None:
    async with client_of(tiny_gguf) as client:
        client.replies[QUESTION] = {"title": "Never for this model"}
        await client.initialize(root=project, asks=True)
        model = (await client.ready())["model"]
        asked = (await client.question())["params"]
        assert f"only borrowed numbers for {model['name']} yet" in asked["message"]
        assert [action["title"] for action in asked["actions"]] == ["Not now", "Calibrate", "Never for this model"]
        await until_declined(model["id"])
    assert is_declined(model["id"], datetime.now(UTC) + timedelta(days=3000))
    async with started(tiny_gguf, root=project, asks=True) as client:
        await client.ready()
        with pytest.raises(RpcError):  # whatever is asked comes before this answer
            await client.request(REQUEST, {"minutes": 0})
        assert QUESTION not in [asked["method"] for asked in client.requests]


async def test_not_now_is_for_a_week_and_a_closed_question_for_this_session(tiny_gguf: Path, project: Path) -> None:
    async with client_of(tiny_gguf) as client:
        client.replies[QUESTION] = {"title": "Not now"}
        await client.initialize(root=project, asks=True)
        model = (await client.ready())["model"]["id"]
        await until_declined(model)
    assert is_declined(model, datetime.now(UTC) + timedelta(days=6))
    assert not is_declined(model, datetime.now(UTC) + timedelta(days=8))


async def test_neovim_whose_questions_hold_the_editor_is_told_the_command_once(tiny_gguf: Path, project: Path) -> None:
    for heard in (True, False):
        async with started(tiny_gguf, root=project, asks=True, name="Neovim") as client:
            model = (await client.ready())["model"]["id"]
            if heard:
                await client.heard("window/showMessage", ":Assay calibrate")
                await until_declined(model)
            assert QUESTION not in [asked["method"] for asked in client.requests]
            assert heard == any(told["method"] == "window/showMessage" for told in client.notifications)


@pytest.mark.parametrize("name", ["Neovim", "Visual Studio Code", "Helix"])
async def test_with_the_embedded_model_the_user_is_told_once_of_larger_ones(project: Path, name: str) -> None:
    for heard in (True, False):
        async with client_of(EMBEDDED) as client:
            client.replies[QUESTION] = {"title": "Choose a Model…"}
            await client.initialize(root=project, asks=True, name=name, options={"choosesModels": name == "Visual Studio Code"})
            await client.ready()
            if not heard:
                with pytest.raises(RpcError):  # whatever is told comes before this answer
                    await client.request(REQUEST, {"minutes": 0})
            elif name != "Visual Studio Code":
                command = ":Assay model" if name == "Neovim" else "assay model get"
                await client.heard("window/showMessage", f"a larger model is right more often: {command}")
            else:
                assert "a larger model is right more often" in (await client.question())["params"]["message"]
                await client.heard("assay/chooseModel")
            assert heard == any("larger" in str(told) for told in (*client.notifications, *client.requests))


async def test_a_yes_asks_the_model_and_tells_what_came_of_it(tiny_gguf: Path, project: Path) -> None:
    async with started(tiny_gguf, root=project, progress=True) as client:
        await client.ready()
        # More minutes than it takes: it ends when everything was asked, on a busy machine as well.
        found = await client.request(REQUEST, {"minutes": 60, "project": True, "workDoneToken": "mine"})
        assert (found["project"], found["ended"]) == (str(project), "all")
        numbers, borrowed, _ = found["said"].partition("; some borrowed")
        assert numbers.startswith(f"suggestions of {found['model_name']} have a number for line in "), found["said"]
        assert "; for line_rest in " in numbers
        assert "; for line_middle in " in numbers
        assert borrowed
        shown = [told["params"]["value"] for told in client.notifications if told["method"] == "$/progress"]
        assert [value["kind"] for value in shown if value["kind"] != "report"][-1] == "end"


async def test_a_request_that_is_cancelled_ends_the_work_and_a_second_one_is_refused(tiny_gguf: Path, project: Path) -> None:
    async with started(tiny_gguf, root=project) as client:
        await client.ready()
        first = client.ask(REQUEST, {"minutes": 60})
        with pytest.raises(RpcError, match="running already"):
            await client.request(REQUEST, {})
        client.notify("$/cancelRequest", {"id": first})
        with pytest.raises(RpcError):
            await client.answer(first)
        for wrong in ({"minutes": 0}, {"minutes": True}, {"project": 1}):
            with pytest.raises(RpcError, match=REQUEST):
                await client.request(REQUEST, wrong)


def states_of(group: int) -> set[str]:
    """The states of a group's processes, as the system has them."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            found.add(fields[0])
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
async def test_the_process_stops_while_somebody_types(tiny_gguf: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "QUIET_S", 0.3)
    process = CommandProcess()
    told: list[str] = []
    choice = ModelChoice(str(tiny_gguf))
    running = asyncio.create_task(process.run(arguments_of(choice, "off", 60, [], project=False), project, told.append))
    async with asyncio.timeout(60):
        await wait_until(lambda: process._group is not None and any((project.parent / "cache").rglob("answers.jsonl")))
        group = process._group
        process.typed()
        await wait_until(lambda: states_of(group) == {"T"})
        await wait_until(lambda: "T" not in states_of(group))
        process.typed()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await wait_until(lambda: states_of(group) <= {"Z"})
    assert any("shop" in line for line in told)


async def test_what_goes_wrong_is_said_in_the_words_of_the_command(project: Path) -> None:
    choice = ModelChoice(str(project / "gone.gguf"), {"flash_attention": False, "threads": "auto"}, "small")
    arguments = arguments_of(choice, "file", 5, [project], project=True)
    assert arguments[arguments.index("--prompt-size") + 1] == "small"
    assert arguments[-4:] == ["file", "--project", "--", str(project)]
    assert json.dumps(arguments).count("--flash-attention") == 1
    with pytest.raises(ChildProcessFailed, match=r"gone\.gguf"):
        await CommandProcess().run(arguments, project, lambda _: None)


def test_an_answer_that_can_not_be_read_counts_so_that_nobody_is_asked_twice(own_home: Path) -> None:
    assert not is_declined("0" * 16)
    decline("0" * 16)
    assert is_declined("0" * 16)
    (file,) = own_home.rglob("*.json")
    file.write_text("{")
    assert is_declined("0" * 16)
