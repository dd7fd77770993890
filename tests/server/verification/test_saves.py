"""After a save tests are run anew only while that is allowed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from shop_project import isolated, write

from assay.calibration.trust import TESTS, remember
from assay.server.background_tasks import BackgroundTasks
from assay.server.documents.workspace import Roots
from assay.server.verification import verifications as verifications_module
from assay.server.verification.consent import Consent
from assay.server.verification.verifications import Verifications

pytestmark = pytest.mark.slow

BUG = "def double(x):\n    return x * 3\n"
TEST = "import one\n\n\ndef test_double():\n    assert one.double(2) == 4\n"


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
        async with asyncio.timeout(20):
            while made.pids:
                await asyncio.sleep(0.05)
        assert len(notes) == ran
    finally:
        await made.close()
