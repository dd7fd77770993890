"""The process that runs a project's tests: asked, killed, asked again, beside another one, and made anew after a save."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from shop_project import isolated, write

from assay.calibration.trust import TESTS, remember
from assay.server.background_tasks import BackgroundTasks
from assay.server.documents.workspace import Roots
from assay.server.verification import verifications as verifications_module
from assay.server.verification.consent import Consent
from assay.server.verification.verifications import ProjectProcess, Verifications

from ..client import wait_until

BUG = "def double(x):\n    return x * 3\n"
RIGHT = BUG.replace("3", "2")
TEST = "import one\n\n\ndef test_double():\n    assert one.double(2) == 4\n"

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path, own_home: Path) -> Path:
    isolated()
    return write(tmp_path / "project", {"one.py": BUG, "test_one.py": TEST})


@pytest.fixture
async def tests(project: Path, bare_python: Path) -> AsyncIterator[ProjectProcess]:
    made = ProjectProcess(project, bare_python, lambda _: None)
    yield made
    await made.close()


async def test_one_that_is_killed_is_started_again_by_the_next_request(tests: ProjectProcess, project: Path) -> None:
    file = project / "one.py"
    assert (await tests.judge(file, BUG, RIGHT)).passed
    asking = asyncio.create_task(tests.judge(file, BUG, RIGHT + "\n\n"))
    await asyncio.sleep(0)
    assert tests.pid is not None
    os.kill(tests.pid, signal.SIGKILL)
    told = await asking
    assert told.passed or told.why.endswith("the next request starts it again")
    assert (await tests.judge(file, BUG, RIGHT)).passed


async def test_two_editors_at_once_get_the_same_answers(tests: ProjectProcess, project: Path, bare_python: Path) -> None:
    other = ProjectProcess(project, bare_python, lambda _: None)
    try:
        both = await asyncio.gather(*(each.judge(project / "one.py", BUG, RIGHT) for each in (tests, other)))
    finally:
        await other.close()
    assert [(told.passed, told.mends) for told in both] == [(True, ("test_one.py::test_double",))] * 2


async def test_a_request_that_nobody_waits_for_any_more_does_not_confuse_the_next(tests: ProjectProcess, project: Path) -> None:
    file = project / "one.py"
    first = asyncio.create_task(tests.judge(file, BUG, BUG.replace("3", "4")))
    await asyncio.sleep(0.05)
    first.cancel()
    assert (await tests.judge(file, BUG, RIGHT)).passed


async def test_what_takes_too_long_is_ended_with_a_sentence(tests: ProjectProcess, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifications_module, "MAX_ANSWER_S", 0.05)
    told = await tests.judge(project / "one.py", BUG, RIGHT)
    assert (told.passed, told.tests) == (None, 0)
    assert "took longer than" in told.why
    assert tests.pid is None


async def test_once_consent_is_taken_back_elsewhere_a_save_ends_the_process_and_runs_nothing(
    tmp_path: Path, own_home: Path, bare_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolated()
    monkeypatch.setattr(verifications_module, "_SAVED_S", 0.05)
    project = write(tmp_path / "project", {"one.py": BUG, "test_one.py": TEST})
    notes: list[str] = []
    consent = Consent(cast(Any, None), BackgroundTasks(), lambda: True)
    made = Verifications(consent, lambda: Roots((project,)), lambda: bare_python, notes.append)
    uri = (project / "one.py").as_uri()
    remember(project, trusted=True, about=TESTS)
    try:
        (told,) = [each async for each in made.judged(uri, BUG, [BUG.replace("3", "2")], asks="later")]
        assert told.passed
        assert made.pids
        ran = len(notes)
        remember(project, trusted=False, about=TESTS)
        (project / "test_one.py").write_text(TEST + "\n")
        made.saved(uri)
        await wait_until(lambda: not made.pids)
        assert len(notes) == ran
    finally:
        await made.close()
