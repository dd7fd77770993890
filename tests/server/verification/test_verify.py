"""Repairs and accepted suggestions, verified by a project's own tests through a real server: with consent, and never without."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from shop_project import isolated, write
from tiny_gguf import scripted, write_tiny_gguf

from assay.calibration.log.events import AcceptanceTested
from assay.calibration.trust import TESTS, remember, remembered

from ..client import Client, RpcError, span, started, wait_until
from ..logged import events_of

pytestmark = pytest.mark.slow

BUG = "def double(x):\n    return x * 3\n"
RIGHT = BUG.replace("3", "2")
TEST = "import one\n\n\ndef test_double():\n    assert one.double(2) == 4\n\n\ndef test_zero():\n    assert one.double(0) == 0\n"
SLOW_S = 300.0


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that writes the number that `double` multiplies by."""
    return write_tiny_gguf(tmp_path_factory.mktemp("model") / "two.gguf", scripted(b" 2", b"\n", prompt=b"*"))


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    """A project of which the user has said nothing yet."""
    return write(tmp_path / "project", {"one.py": BUG, "test_one.py": TEST})


def settings(python: Path, **more: Any) -> dict[str, Any]:
    return {"tests": {"python": str(python), **more}}


async def verified(client: Client, uri: str, *texts: str) -> list[dict[str, Any]]:
    number = client.ask("assay/verify", {"textDocument": {"uri": uri}, "texts": texts, "partialResultToken": "p"})
    told: list[dict[str, Any]] = (await client.answer(number, SLOW_S))["verifications"]
    return told


async def test_without_the_users_yes_no_test_is_run_and_the_reason_is_told(model: Path, project: Path, bare_python: Path) -> None:
    uri = (project / "one.py").as_uri()
    async with started(model, BUG, uri=uri, root=project, options=settings(bare_python), answers=False) as client:
        number = client.ask("assay/verify", {"textDocument": {"uri": uri}, "texts": [RIGHT]})
        question = await client.question()
        assert "may Assay run the tests of" in question["params"]["message"]
        no = question["params"]["actions"][0]["title"]
        client.send({"id": question["id"], "result": {"title": no}})
        ((told),) = (await client.answer(number))["verifications"]
        assert (told["passed"], told["tests"]) == (None, 0)
        assert told["why"] == "you said that Assay may not run the tests of this project"
        assert not remembered(project, TESTS).is_open
        assert "you said that Assay may not run" in (await verified(client, uri, RIGHT))[0]["why"]
        await client.leave()
    remember(project, trusted=True, about=TESTS)
    async with started(model, BUG, uri=uri, root=project, options=settings(bare_python), trusted=False) as client:
        assert (await verified(client, uri, RIGHT))[0]["why"] == "the editor says that this workspace is not trusted"
        await client.leave()


async def test_the_name_of_a_folder_writes_no_line_of_the_question(model: Path, project: Path, bare_python: Path) -> None:
    renamed = project.rename(project.with_name("shop\nAssay: all is well\x1b[2K\u202e"))
    uri = (renamed / "one.py").as_uri()
    async with started(model, BUG, uri=uri, root=renamed, options=settings(bare_python), answers=False) as client:
        client.ask("assay/verify", {"textDocument": {"uri": uri}, "texts": [RIGHT]})
        message = (await client.question())["params"]["message"]
        assert r"shop\nAssay: all is well\x1b[2K\u202e, to verify repairs?" in message
        await client.leave()


async def test_who_runs_tests_is_asked_again_where_a_question_may_be_out_of_sight(model: Path, project: Path, bare_python: Path) -> None:
    uri = (project / "one.py").as_uri()
    async with started(model, BUG, uri=uri, root=project, options=settings(bare_python), answers=False) as client:
        await client.request("assay/repairs", {"textDocument": {"uri": uri}, "range": span(1, 0, 1, 0)})
        first = await client.question()
        argument = {"uri": uri, "range": span(1, 0, 1, 0)}
        number = client.ask("workspace/executeCommand", {"command": "assay.runTests", "arguments": [argument]})
        second = await client.question(2)
        assert second["params"] == first["params"]
        client.send({"id": second["id"], "result": {"title": "Don't run them"}})
        assert (await client.answer(number))["why"] == "you said that Assay may not run the tests of this project"
        await client.leave()


async def test_what_is_of_no_project_or_turned_off_has_a_reason(model: Path, project: Path, bare_python: Path, tmp_path: Path) -> None:
    remember(project, trusted=True, about=TESTS)
    async with started(model, root=project, options=settings(bare_python)) as client:
        for uri, why in (
            ("untitled:one.py", "not saved in a file"),
            ((tmp_path / "other.py").as_uri(), "none of the open folders"),
            ((project / "notes.md").as_uri(), "only the tests of Python files"),
        ):
            client.open(uri, BUG)
            assert why in (await verified(client, uri, RIGHT))[0]["why"]
        await client.leave()
    async with started(model, root=project, options={"repair": {"verify": False}}) as client:
        client.open((project / "one.py").as_uri(), BUG)
        assert "assay.repair.verify" in (await verified(client, (project / "one.py").as_uri(), RIGHT))[0]["why"]
        await client.leave()


async def test_changes_are_judged_one_after_the_other_beside_what_is_not_saved(model: Path, project: Path, bare_python: Path) -> None:
    isolated()
    remember(project, trusted=True, about=TESTS)
    uri = (project / "one.py").as_uri()
    async with started(model, root=project, options=settings(bare_python)) as client:
        unsaved = "# not saved\n" + BUG
        client.open(uri, unsaved)
        right, worse = await verified(client, uri, unsaved.replace("3", "2"), unsaved.replace("3", "4"))
        assert (right["passed"], right["tests"], right["mends"]) == (True, 2, ["test_one.py::test_double"])
        assert right["title"].startswith("✔ 2 tests pass (")
        assert worse["passed"] is False
        assert worse["why"].startswith("test_one.py::test_double fails as before: ")
        partial = [told["params"]["value"]["index"] for told in client.notifications if told["method"] == "$/progress"]
        assert partial == [0, 1]
        edit = {"range": span(2, 15, 2, 16), "newText": "2"}
        number = client.ask("assay/verify", {"textDocument": {"uri": uri, "version": 1}, "edits": [edit]})
        assert (await client.answer(number, SLOW_S))["verifications"][0]["passed"] is True
        # what is saved in another file counts at once
        (project / "test_one.py").write_text(TEST.replace("== 4", "== 6"))
        await asyncio.sleep(1.1)
        (told,) = await verified(client, uri, unsaved.replace("3", "2"))
        assert (told["passed"], told["breaks"]) == (False, ["test_one.py::test_double"])
        await client.leave()


async def test_the_tests_of_lines_are_run_on_command_and_consent_can_be_taken_back(model: Path, project: Path, bare_python: Path) -> None:
    isolated()
    uri = (project / "one.py").as_uri()
    async with started(model, RIGHT, uri=uri, root=project, options=settings(bare_python), answers=False) as client:
        command = {"command": "assay.runTests", "arguments": [{"uri": uri, "range": span(1, 0, 1, 3)}]}
        number = client.ask("workspace/executeCommand", command)
        question = await client.question()
        client.send({"id": question["id"], "result": {"title": question["params"]["actions"][1]["title"]}})
        told = await client.answer(number, SLOW_S)
        assert (told["passed"], told["tests"], told["mends"]) == (True, 2, ["test_one.py::test_double"])
        await client.heard("window/showMessage", "2 tests pass")
        await client.request("workspace/executeCommand", {"command": "assay.forbidTests", "arguments": [{"uri": uri}]})
        told = await client.request("workspace/executeCommand", command)
        assert "may not run the tests" in told["why"]
        await client.leave()


async def test_after_an_acceptance_the_tests_run_and_make_a_label(model: Path, project: Path, bare_python: Path, tmp_path: Path) -> None:
    isolated()
    remember(project, trusted=True, about=TESTS)
    uri, log = (project / "one.py").as_uri(), tmp_path / "events.sqlite3"
    options = settings(bare_python, afterAcceptance=True) | {"log": {"path": str(log)}, "kind": "line"}
    async with started(model, "def double(x):\n    return x *\n", uri=uri, root=project, options=options) as client:
        item, *_ = await client.complete(uri, 1, 14, invoked=True)
        assert item["insertText"].endswith(" 2")
        client.insert(uri, 2, 1, 14, " 2")
        await client.request("workspace/executeCommand", {**item["command"], "title": ""})
        async with asyncio.timeout(SLOW_S):
            while (tests := (await client.request("assay/status"))["tests"]) is None:
                await asyncio.sleep(0.2)
        assert (tests["passed"], tests["tests"]) == (True, 2)
        command = {"command": "assay.runTests", "arguments": [{"uri": uri}]}
        assert (await client.answer(client.ask("workspace/executeCommand", command), SLOW_S))["passed"] is True
        client.insert(uri, 3, 0, 0, "# another line\n")
        with pytest.raises(RpcError, match="no suggestion was accepted"):
            await client.request("workspace/executeCommand", command)
        await client.leave()
    (event,) = [event for event in events_of(log) if isinstance(event, AcceptanceTested)]
    assert (event.passed, event.tests, event.mends) == (True, 2, 2)


@pytest.mark.parametrize("how", ["leaves", "killed"])
async def test_no_process_stays_behind_when_the_server_ends(model: Path, project: Path, bare_python: Path, how: str) -> None:
    isolated()
    write(project, {"test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(600)\n"})
    remember(project, trusted=True, about=TESTS)
    uri = (project / "one.py").as_uri()
    async with started(model, BUG, uri=uri, root=project, options=settings(bare_python)) as client:
        client.ask("assay/verify", {"textDocument": {"uri": uri}, "texts": [RIGHT]})
        await client.heard("window/logMessage", "running the tests of")
        running = await _started(client.process.pid)
        if how == "leaves":
            await client.leave()
        else:
            client.process.kill()
            await client.process.wait()
    await wait_until(lambda: not any(map(_lives, running)))


async def _started(server: int) -> list[int]:
    """The processes below a server that run tests, once the jail is among them."""
    async with asyncio.timeout(60):
        while True:
            below = [pid for pid in _below(server) if "verification.worker" in _command(pid) or "assay_oracle" in _command(pid)]
            if any("assay_oracle" in _command(pid) for pid in below):
                return below
            await asyncio.sleep(0.1)


def _below(root: int) -> list[int]:
    """The children of a process, and theirs."""
    try:
        told = " ".join(file.read_text() for file in Path(f"/proc/{root}/task").glob("*/children"))
    except OSError:
        return []
    return [found for child in told.split() for found in (int(child), *_below(int(child)))]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def _lives(pid: int) -> bool:
    return bool(_command(pid))
