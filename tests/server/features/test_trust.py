"""Which calibrators of opened folders count: by what the editor tells of trust, or by what the user answers."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from synthetic_samples import made_for, world

from assay.calibration.calibrator import Calibrator, save
from assay.calibration.fitting.fit import fit
from assay.calibration.trust import answer_file, remember, remembered
from assay.inference.completion.task import task_of

from ..client import QUESTION, Client, client_of, started, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def fitting(answering_ids: tuple[str, str]) -> Calibrator:
    """A calibrator for the model that answers."""
    made = fit(world(300)[0], "exact_match", kind="platt", resamples=50).calibrator
    return made_for(made, *answering_ids, task_of("a?", "", "line"))


@pytest.fixture
def project(tmp_path: Path, own_home: Path, fitting: Calibrator) -> Path:
    """A project that came with a calibrator of its own; the user has answered nothing yet."""
    save(fitting, tmp_path / "project" / ".assay" / "calibrators" / "theirs.json")
    return tmp_path / "project"


async def origin_at(client: Client, project: Path) -> str | None:
    """Where the number of a suggestion comes from, None where it is borrowed."""
    uri = (project / f"{time.monotonic_ns()}.py").as_uri()
    client.open(uri, "a?")
    (item,) = await client.complete(uri, 0, 2)
    told = await client.request("assay/explain", {"id": item["command"]["arguments"][0]["id"]})
    return None if told["confidence"]["status"] == "borrowed" else str(told["calibrator"]["origin"])


async def until(client: Client, project: Path, wanted: str | None) -> None:
    async with asyncio.timeout(20):
        while await origin_at(client, project) != wanted:
            await asyncio.sleep(0.05)


def questions(client: Client) -> int:
    return sum(asked["method"] == QUESTION for asked in client.requests)


async def test_where_the_editor_says_nothing_the_user_is_asked_once_and_may_change_their_mind(answering_gguf: Path, project: Path) -> None:
    async with started(answering_gguf, root=project, answers=False) as client:
        asked = await client.question()
        assert str(project) in asked["params"]["message"]
        no, yes = (action["title"] for action in asked["params"]["actions"])
        assert no != yes
        assert await origin_at(client, project) is None
        status = await client.request("assay/status")
        (skipped,) = [reason for reason in status["skipped_calibrators"] if str(project) in reason]
        assert skipped.endswith(f"to use them: assay calibrate trust {project}")
        client.send({"id": asked["id"], "result": {"title": no}})
        await wait_until(lambda: not remembered(project).is_open)
        assert await origin_at(client, project) is None
        remember(project, trusted=True)  # as a command does
        await until(client, project, "project")
        assert questions(client) == 1
        assert await client.leave() == 0
    async with started(answering_gguf, root=project, answers=False) as client:
        await until(client, project, "project")
        remember(project, trusted=False)
        await until(client, project, None)
        assert questions(client) == 0


@pytest.mark.parametrize("answer", [{"result": None}, {"error": {"code": -32601, "message": "no"}}, {"result": {"title": "?"}}])
async def test_an_unanswered_question_trusts_nothing_and_comes_again(answering_gguf: Path, project: Path, answer: dict[str, Any]) -> None:
    async with started(answering_gguf, root=project, answers=False) as client:
        client.send({"id": (await client.question())["id"], **answer})
        assert await origin_at(client, project) is None
        assert remembered(project).is_open
        assert await client.leave() == 0


async def test_the_editors_own_word_counts_and_what_the_settings_say_is_none(answering_gguf: Path, project: Path) -> None:
    remember(project, trusted=True)
    async with client_of(answering_gguf) as client:
        client.configuration = {"workspaceTrusted": True, "memory": "off"}
        await client.initialize(root=project, trusted=False, configuration=True)
        client.notify("workspace/didChangeConfiguration", {"settings": {"assay": {"workspaceTrusted": True}}})
        assert await origin_at(client, project) is None
        client.notify("assay/didGrantWorkspaceTrust")
        await until(client, project, "project")
        assert questions(client) == 0


@pytest.mark.parametrize("said", ["true", 1])
async def test_what_is_neither_true_nor_false_trusts_nothing(answering_gguf: Path, project: Path, said: Any) -> None:
    async with started(answering_gguf, root=project, options={"workspaceTrusted": said}) as client:
        assert await origin_at(client, project) is None
        assert questions(client) == 0


async def test_the_editors_word_is_not_for_a_folder_above_the_workspace(answering_gguf: Path, project: Path) -> None:
    (project / "src").mkdir()
    async with started(answering_gguf, root=project / "src", trusted=True, answers=False) as client:
        asked = await client.question()
        assert await origin_at(client, project / "src") is None
        client.send({"id": asked["id"], "result": asked["params"]["actions"][1]})
        await until(client, project / "src", "project")


async def test_an_answer_that_can_not_be_kept_is_said(answering_gguf: Path, project: Path) -> None:
    answer_file(project).parent.parent.mkdir()
    answer_file(project).parent.write_text("no folder")
    async with started(answering_gguf, root=project, answers=False) as client:
        asked = await client.question()
        client.send({"id": asked["id"], "result": asked["params"]["actions"][1]})
        told = await client.heard("window/showMessage", "can't be remembered")
        assert str(answer_file(project)) in told["message"]


async def test_projects_are_asked_about_in_turn_and_no_name_writes_the_question(
    answering_gguf: Path, project: Path, fitting: Calibrator
) -> None:
    named = project.rename(project.with_name("shop\n\x1b[2Jis safe [Trusted](command:workbench.action.quit)"))
    other = project.with_name("other")
    save(fitting, other / ".assay" / "calibrators" / "theirs.json")
    async with started(answering_gguf, folders=[named, other], answers=False) as client:
        first = await client.question()
        await asyncio.sleep(0.3)
        assert questions(client) == 1
        client.send({"id": first["id"], "result": None})
        second = await client.question(2)
        (message,) = (asked["params"]["message"] for asked in (first, second) if "shop" in asked["params"]["message"])
        assert first["params"]["message"] != second["params"]["message"]
        assert not {"\x1b", "\n"} & set(message)
        assert "[Trusted] (command:workbench.action.quit)" in message


async def test_calibrators_that_never_end_hold_up_neither_a_suggestion_nor_the_end(answering_gguf: Path, project: Path) -> None:
    folder = project / ".assay" / "calibrators"
    large = project / "large.json"
    large.write_text("[" + ",".join(["[[[0]]]"] * 1_800_000) + "]")
    for number in range(200):
        (folder / f"{number}.json").symlink_to(large)
    for number in range(100):
        (folder / f"more{number}.json").write_bytes(large.read_bytes()[: 2 << 20])
    async with started(answering_gguf, root=project, trusted=True) as client:
        await client.ready()
        began = time.monotonic()
        await origin_at(client, project)
        assert time.monotonic() - began < 5
        began = time.monotonic()
        assert await client.leave() == 0
        assert time.monotonic() - began < 3
