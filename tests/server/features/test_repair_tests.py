"""Repairs in the editor that the project's tests were run with: what their titles say, and what goes away."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from clamp_project import BASKET, BASKET_TESTS, CLAMP, CLAMP_TESTS
from shop_project import isolated, write

from assay.calibration.trust import TESTS, remember, remembered
from assay.inference.opening import EMBEDDED
from assay.server.repairs.found import title_of
from assay.suggestion.repair.verified import Verification

from ..client import Client, span, started, wait_until
from ..logged import requests_of
from ..repairs.repair_of import repair_of

SLOW_S = 300.0
# Something better is there for sure.
TYPO = CLAMP.replace("value < high", "value < hgih")


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    return write(tmp_path / "project", {"clamp.py": CLAMP, "test_clamp.py": CLAMP_TESTS})


async def repairs(client: Client, uri: str) -> dict[str, Any]:
    return await found_at(client, uri, 3)


async def found_at(client: Client, uri: str, line: int) -> dict[str, Any]:
    params = {"textDocument": {"uri": uri}, "range": span(line, 0, line, 0)}
    found: dict[str, Any] = await client.answer(client.ask("assay/repairs", params), SLOW_S)
    return found


async def put_in(client: Client, uri: str, line: int) -> dict[str, Any]:
    """The action that repairs a line, with its edit."""
    actions = await client.actions(uri, span(line, 0, line, 0))
    (action,) = [action for action in actions if action["title"] == "Assay: repair this line"]
    resolved: dict[str, Any] = await client.answer(client.ask("codeAction/resolve", action), SLOW_S)
    return resolved


def told(client: Client) -> str:
    return "\n".join(said["params"]["message"] for said in client.notifications if said["method"] == "window/showMessage")


@pytest.mark.slow
async def test_with_consent_repairs_that_tests_refuse_go_and_others_say_what_they_mend(project: Path, bare_python: Path) -> None:
    isolated()
    uri = (project / "clamp.py").as_uri()
    options = {"memory": "file", "repair.candidates": 8, "repair.maxMs": 60_000, "tests.python": str(bare_python)}
    async with started(EMBEDDED, CLAMP, uri=uri, root=project, options=options, resolves=True, answers=False) as client:
        # nobody has said yes: the user is asked, and what is found is given without waiting for the answer
        before = await repairs(client, uri)
        assert len(before["repairs"]) > 2
        assert (before["refused_by_tests"], {each["verification"] for each in before["repairs"]}) == (0, {None})
        assert (before["judged"], before["not_verified"]) == (0, "you are being asked whether tests may run")
        remember(project, trusted=True, about=TESTS)
        after = await repairs(client, uri)
        assert 0 < len(after["repairs"]) <= len(before["repairs"])
        assert after["not_verified"] == ""
        assert 0 < after["refused_by_tests"] <= after["judged"] - len(after["repairs"])
        # those that mend all come first, then those that mend some
        assert "✔ 2 tests pass (" in after["repairs"][0]["title"]
        assert after["repairs"][0]["title"].endswith(", mends test_high, test_between")
        for each in after["repairs"]:
            assert each["verification"]["passed"]
            assert "✔ " in each["title"]
            assert "mends test_" in each["title"]
        actions = await client.actions(uri, span(3, 4, 3, 4))
        assert f"Assay: {after['repairs'][0]['title']}" in [action["title"] for action in actions]
        await client.leave()


TWO_BUGS = f"{CLAMP}\n\ndef total(values):\n    result = 0\n    for value in values:\n        result -= value\n    return result\n"
TWO_BUGS_TESTS = f"{CLAMP_TESTS}\n\ndef test_total():\n    from clamp import total\n\n    assert total([1, 2]) == 3\n"


@pytest.mark.slow
async def test_all_failing_tests_of_a_file_are_repaired_in_one_edit(project: Path, bare_python: Path) -> None:
    isolated()
    write(project, {"clamp.py": TWO_BUGS, "test_clamp.py": TWO_BUGS_TESTS})
    remember(project, trusted=True, about=TESTS)
    uri = (project / "clamp.py").as_uri()
    options = {"memory": "file", "repair.maxMs": 60_000, "tests.python": str(bare_python)}
    async with started(EMBEDDED, TWO_BUGS, uri=uri, root=project, options=options) as client:
        client.replies["workspace/applyEdit"] = {"applied": True}
        command = {"command": "assay.repairTests", "arguments": [{"uri": uri}]}
        assert await client.answer(client.ask("workspace/executeCommand", command), SLOW_S) is True, told(client)
        (asked,) = [request for request in client.requests if request["method"] == "workspace/applyEdit"]
        assert len(asked["params"]["edit"]["changes"][uri]) == 2
        assert "Assay: 3 failing tests mended: ✔ 4 tests pass (" in told(client)
        client.change(uri, 2, {"range": span(0, 0, 0, 0), "text": "\n"})
        assert await client.answer(client.ask("workspace/executeCommand", command), SLOW_S) is False
        assert "No repair: the file has changes that are not saved" in told(client)
        write(project, {"clamp.py": "\n" + TWO_BUGS.replace("-=", "+=").replace("value < high", "value > high")})
        client.change(uri, 3, {"text": (project / "clamp.py").read_text()})
        assert await client.answer(client.ask("workspace/executeCommand", command), SLOW_S) is False
        assert "No repair: No test that runs this file fails." in told(client), "what is saved now is looked at"
        await client.leave()


@pytest.mark.slow
async def test_the_best_repair_that_passes_is_put_in_though_all_shown_fail(project: Path, bare_python: Path, tmp_path: Path) -> None:
    isolated()
    write(project, {"clamp.py": BASKET, "test_clamp.py": BASKET_TESTS})
    remember(project, trusted=True, about=TESTS)
    uri, line, log = (project / "clamp.py").as_uri(), 9, tmp_path / "log"
    options = {"memory": "file", "repair.candidates": 1, "repair.maxMs": 60_000, "tests.python": str(bare_python)}
    async with started(EMBEDDED, BASKET, uri=uri, root=project, options=options | {"repair.verify": False}, resolves=True) as client:
        (unverified,) = (await found_at(client, uri, line))["repairs"]
        assert "<= self.limit" not in unverified["text"]
        await client.leave()
    async with started(EMBEDDED, BASKET, uri=uri, root=project, options=options | {"log.path": str(log)}, resolves=True) as client:
        (change,) = (await put_in(client, uri, line))["edit"]["documentChanges"]
        assert [edit["newText"] for edit in change["edits"]] == ["="]
        found = await found_at(client, uri, line)
        assert found["repairs"][0]["text"].endswith("<= self.limit")
        assert found["judged"] > 1
        assert found["refused_by_tests"] == found["judged"] - 1
        await client.leave()
    ended = [(request["outcome"], request["id"]) for request in requests_of(log)]
    assert ended == [("produced", found["repairs"][0]["id"])]


@pytest.mark.slow
async def test_who_gets_a_repair_that_is_not_verified_yet_is_told_why_each_time(project: Path, bare_python: Path) -> None:
    isolated()
    uri = (project / "clamp.py").as_uri()
    write(project, {"test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(30)\n"})
    options = {"repair.maxMs": 3_000, "tests.python": str(bare_python)}
    async with started(EMBEDDED, TYPO, uri=uri, root=project, options=options, resolves=True, answers=False) as client:
        for count in (1, 2):
            assert "edit" in await put_in(client, uri, 3)
            assert told(client).count("Assay: not verified: you are being asked whether tests may run") == count
        remember(project, trusted=True, about=TESTS)
        assert "edit" in await put_in(client, uri, 3)
        assert "Assay: not verified: the tests took over 3 s (assay.repair.maxMs)" in told(client)
        assert all(len(line) < 70 for line in told(client).splitlines())
        await client.leave()


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["Don't run them", "Run them"])
async def test_who_has_answered_is_not_told_that_they_are_being_asked(project: Path, answer: str) -> None:
    uri = (project / "clamp.py").as_uri()
    async with started(EMBEDDED, CLAMP, uri=uri, root=project, options={"memory": "file"}, resolves=True, answers=False) as client:
        found = await repairs(client, uri)
        assert found["not_verified"] == "you are being asked whether tests may run"
        async with asyncio.timeout(20):
            while not (questions := [request for request in client.requests if request["method"] == "window/showMessageRequest"]):
                await asyncio.sleep(0.02)
            client.send({"id": questions[0]["id"], "result": {"title": answer}})
            await wait_until(lambda: not remembered(project, TESTS).is_open)
        client.answers = True
        client.replies["workspace/applyEdit"] = {"applied": True}
        argument = found["lines"] | {"id": found["repairs"][1]["id"]}
        assert await client.request("workspace/executeCommand", {"command": "assay.repair", "arguments": [argument]}) is True
        assert told(client) == ""
        if answer != "Run them":
            assert (await repairs(client, uri))["not_verified"] == ""
        await client.leave()


@pytest.mark.slow
async def test_why_no_tests_know_a_file_is_in_the_log_and_nothing_is_said_where_the_user_said_no(project: Path) -> None:
    uri = (project / "notes.js").as_uri()
    async with started(EMBEDDED, root=project, resolves=True) as client:
        client.open(uri, "function f(a) {\n  return a + 1;\n}\n", language="javascript")
        assert "edit" in await put_in(client, uri, 1)
        await client.heard("window/logMessage", "not verified: only the tests of Python files are run")
        assert "not verified" not in told(client)
        await client.leave()
    remember(project, trusted=False, about=TESTS)
    uri = (project / "clamp.py").as_uri()
    async with started(EMBEDDED, TYPO, uri=uri, root=project, resolves=True) as client:
        assert "edit" in await put_in(client, uri, 3)
        assert "not verified" not in told(client)
        await client.leave()


def test_a_title_says_that_tests_pass_and_which_are_mended_and_nothing_of_what_is_not_known() -> None:
    repair = repair_of("a")
    plain = title_of(repair)
    assert title_of(repair, Verification(None, 0, 0.0, why="no tests")) == plain
    assert title_of(repair, Verification(True, 12, 0.41)) == f"{plain}  ✔ 12 tests pass (0.4 s)"
    mends = ("t.py::test_a", "t.py::T::test_b", "t.py::test_c[1]")
    assert title_of(repair, Verification(True, 3, 1.0, mends)) == f"{plain}  ✔ 3 tests pass (1.0 s), mends test_a, test_b and 1 more"
    others = Verification(True, 3, 1.0, mends[:1], failing=("u", "v"))
    assert title_of(repair, others) == f"{plain}  ✔ mends test_a; 2 others fail as before (1.0 s)"
