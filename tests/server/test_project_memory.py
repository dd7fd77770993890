"""The project memory through the language server: the embedded model in its process, a folder on the disk, a client that edits."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.inference.opening import EMBEDDED
from assay.server.model import followed_project
from assay.server.model.followed_project import FollowedProject
from assay.server.model.read_projects import MAX_FOLDERS, ProjectState, ReadProjects
from assay.suggestion.memory import folder

from .client import Client, started, wait_until

OPTIONS = {"memory": "project", "alternatives": 1, "remember": False, "speculate": False, "kind": "line", "showAbove": 0}
STORE = "def open_ledger_{name}(path):\n    return path\n\n\ndef use(path):\n    store = open_ledger_{name}(path)\n    return store\n"
CALL = "def main(path):\n    store = open_ledger"
SEEN_S = 2.0


def store(name: str) -> str:
    return STORE.format(name=name)


class Asking:
    """A client that asks behind `CALL` in a document of a project."""

    def __init__(self, client: Client, root: Path) -> None:
        self.client, self.root = client, root
        self.uri = (root / "main.py").as_uri()

    async def item(self) -> dict[str, Any] | None:
        items = await self.client.complete(self.uri, 1, len(CALL.split("\n")[1]), invoked=True)
        return items[0] if items else None

    async def text(self) -> str:
        item = await self.item()
        return "" if item is None else str(item["insertText"])

    async def until(self, holds: Callable[[str], bool], limit_s: float = 20.0) -> float:
        """Ask until the answer is as wanted; the seconds that it took."""
        began = time.monotonic()
        while not holds(text := await self.text()):
            assert time.monotonic() - began < limit_s, text
            await asyncio.sleep(0.05)
        return time.monotonic() - began

    async def read(self) -> list[dict[str, Any]]:
        """Wait until all folders are read; their states."""
        while True:
            status = await self.client.request("assay/status")
            if status["memory"] and all(each["state"] != "reading" for each in status["memory"]):
                found: list[dict[str, Any]] = status["memory"]
                return found
            await asyncio.sleep(0.02)


@asynccontextmanager
async def asking(root: Path, files: dict[str, str], **options: Any) -> AsyncIterator[Asking]:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    async with started(EMBEDDED, options=OPTIONS | options, root=root) as client:
        await client.ready()
        one = Asking(client, root)
        client.open(one.uri, CALL)
        if options.get("memory", "project") == "project":
            await one.read()
        yield one


@pytest.mark.slow
async def test_names_of_other_files_are_completed_and_changes_of_the_disk_and_of_the_editor_are_seen(tmp_path: Path) -> None:
    files = {"secrets.py": store("key"), "made/db.py": store("made"), ".gitignore": "made/\n", "app/db.py": store("index")}
    async with asking(tmp_path, files) as one:
        assert [state["files"] for state in await one.read()] == [1], "secrets and ignored files have no say"
        item = await one.item()
        assert item["insertText"].startswith("_index")
        told = await one.client.request("assay/explain", {"id": item["command"]["arguments"][0]["id"]})
        assert told["seen_before"][0] == {"file": "app/db.py", "line": 6}
        assert "Seen before in `app/db.py`, line 6." in told["markdown"]
        (tmp_path / "app/db.py").write_text(store("folder"))
        assert await one.until(lambda text: text.startswith("_folder")) < SEEN_S
        (tmp_path / "app/db.py").unlink()
        assert await one.until(lambda text: "_folder" not in text) < SEEN_S
        assert not (await one.text()).startswith(("_key", "_made"))
        (tmp_path / "new").mkdir()
        (tmp_path / "new/db.py").write_text(store("archive"))
        assert await one.until(lambda text: text.startswith("_archive")) < SEEN_S
        # a new process reads the same folders
        before = await one.client.ready()
        one.client.notify("workspace/didChangeConfiguration", {"settings": {"assay": OPTIONS | {"modelOptions": {"threads": 1}}}})
        while (await one.client.ready())["process"] == before["process"]:
            await asyncio.sleep(0.05)
        await one.until(lambda text: text.startswith("_archive"))


@pytest.mark.slow
async def test_what_an_editor_has_not_saved_counts_over_the_disk_until_it_is_closed_also_after_the_memory_was_off(tmp_path: Path) -> None:
    async with asking(tmp_path, {"app/db.py": store("index")}) as one:
        uri = (tmp_path / "app/db.py").as_uri()
        one.client.open(uri, store("index"))
        one.client.change(uri, 2, {"text": store("folder")})
        await one.until(lambda text: text.startswith("_folder"))
        for scope in ("off", "project"):
            one.client.notify("workspace/didChangeConfiguration", {"settings": {"assay": OPTIONS | {"memory": scope}}})
        await one.until(lambda text: text.startswith("_folder"))
        one.client.change(uri, 3, {"text": store("folder") + "#" * 500_000})  # too long to be read, so the file counts
        await one.until(lambda text: text.startswith("_index"))
        one.client.change(uri, 4, {"text": store("folder")})
        await one.until(lambda text: text.startswith("_folder"))
        one.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        await one.until(lambda text: text.startswith("_index"))


@pytest.mark.slow
async def test_other_files_and_the_open_one_are_read_as_the_setting_says_and_the_calibrator_is_for_that(tmp_path: Path) -> None:
    text, calibrators = store("index") + "\n\n" + "# something else\n" * 3_000, []
    async with asking(tmp_path, {"app/db.py": store("folder")}, remember=True) as one:
        uri, line = (tmp_path / "long.py").as_uri(), text.count("\n") + 1
        for scope in ("project", "file", "off"):
            if scope != "project":  # what was suggested from other files is forgotten when they are no longer read
                settings = OPTIONS | {"memory": scope, "remember": True}
                one.client.notify("workspace/didChangeConfiguration", {"settings": {"assay": settings}})
            item = await one.item()
            assert item["insertText"].startswith("_folder") == (scope == "project")
            calibrators.append(item["command"]["arguments"][0]["confidence"]["calibrator"])
        assert (await one.client.request("assay/status"))["memory"] == []
        one.client.open(uri, text + CALL)
        for scope in ("off", "file"):
            settings = OPTIONS | {"memory": scope, "remember": True}
            one.client.notify("workspace/didChangeConfiguration", {"settings": {"assay": settings}})
            items = await one.client.complete(uri, line, len(CALL.split("\n")[1]), invoked=True)
            assert any(item["insertText"].startswith("_index") for item in items) == (scope == "file"), scope
    project, file, off = calibrators
    assert project == file is not None
    assert off not in (None, project), "the one for any model"


async def test_an_unreadable_folder_is_tried_ever_more_seldom_until_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_project, "LOOK_S", 0.05)
    monkeypatch.setattr(folder, "MAX_ENTRIES", 2)
    states: list[ProjectState] = []
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("x = 1\n")
    idle = threading.Event()
    idle.set()
    followed = FollowedProject(tmp_path, states.append, idle)
    try:
        for number in range(20):
            followed.use_buffer("a.py", f"x = {number}\n")
            await asyncio.sleep(0.04)
        # At 0, .05, .15, .35 and .75 seconds.
        assert 1 <= [each.state for each in states].count("given up") <= 5
        assert "more than 2 files" in states[-1].reason
        (tmp_path / "c.py").unlink()
        await wait_until(lambda: followed.project is not None)
        assert (states[-1].state, states[-1].files) == ("ready", 2)
    finally:
        followed.close()


@pytest.mark.slow
async def test_the_line_that_is_named_is_the_one_that_was_seen_in_a_long_file_and_where_lines_are_put_in_above(tmp_path: Path) -> None:
    async with asking(tmp_path, {}, memory="file", remember=True, **{"context.prefixTokens": 16_384}) as one:
        column = len(CALL.split("\n")[1])

        async def named(name: str, line: int) -> dict[str, Any]:
            item, *_ = await one.client.complete((tmp_path / name).as_uri(), line, column)
            assert item["insertText"].startswith("_index")
            told = await one.client.request("assay/explain", {"id": item["command"]["arguments"][0]["id"]})
            return dict(told["seen_before"][0])

        long = "# filler\n" * 40_000 + store("index") + "\n\n" + "# something else\n" * 3_000 + CALL
        one.client.open((tmp_path / "long.py").as_uri(), long)
        assert await named("long.py", long.count("\n")) == {"file": None, "line": 40_006}
        own, uri = store("index") + "\n\n" + "# something else\n" * 100 + CALL, (tmp_path / "own.py").as_uri()
        one.client.open(uri, own)
        assert await named("own.py", own.count("\n")) == {"file": None, "line": 6}
        one.client.insert(uri, 2, 0, 0, "# a comment\n" * 40)
        assert await named("own.py", own.count("\n") + 40) == {"file": None, "line": 46}


@pytest.mark.slow
async def test_each_folder_has_a_memory_of_its_own_and_a_file_outside_has_none(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    (tmp_path / "two/main.py").write_text(store("folder"))
    async with asking(tmp_path / "one", {"db.py": store("index")}) as one:
        folder = {"uri": (tmp_path / "two").as_uri(), "name": "two"}
        one.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
        assert (await one.text()).startswith("_index")
        one.client.open((tmp_path / "two/new.py").as_uri(), CALL)
        one.uri = (tmp_path / "two/new.py").as_uri()
        await one.until(lambda text: text.startswith("_folder"))
        one.uri = (tmp_path / "alone.py").as_uri()
        one.client.open(one.uri, CALL)
        assert not (await one.text()).startswith(("_index", "_folder"))


def test_of_more_folders_than_are_read_the_first_are_and_it_is_said_in_one_note() -> None:
    sent: list[dict[str, Any]] = []
    projects = ReadProjects()
    projects.tell(sent.append)
    roots = [f"/{number}" for number in range(MAX_FOLDERS + 100)]
    assert projects.follow(roots)
    assert sent == [{"op": "follow", "roots": tuple(roots[:MAX_FOLDERS])}]
    first = f"/{MAX_FOLDERS}"
    assert f"in {first} and those behind it only the open file" in projects.states[first]["reason"]
    assert len(projects.states) == 1
    projects.tell(sent.append)
    assert list(projects.states) == [first]
    assert not projects.follow(roots[: MAX_FOLDERS + 1])
    assert projects.follow(roots[:3])
    assert projects.states == {}
