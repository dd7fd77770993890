"""Which tests are run after acceptances, and what is logged of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from assay.calibration.confidence import uncalibrated
from assay.calibration.log.events import AcceptanceTested
from assay.calibration.measures.agreement import SINGLE_DRAW
from assay.calibration.registry import Purpose
from assay.inference.model import Generation, StopReason, Timings
from assay.server.background_tasks import BackgroundTasks
from assay.server.documents.documents import Documents
from assay.server.requests.offers import Offer
from assay.server.verification.accepted_tests import AcceptedTests, event_of
from assay.suggestion.repair.verified import Verification
from assay.suggestion.suggestion import Suggestion

from ..client import wait_until
from ..wanted import AT, wanted

PURPOSE = Purpose("", "", "exact_match", "line", "python")


class Slow:
    """Answers when it is let."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go = asyncio.Event()

    async def judged(self, _uri: str, _before: str, texts: Sequence[str], **_: str) -> AsyncIterator[Verification]:
        self.asked += texts
        await self.go.wait()
        for text in texts:
            yield Verification(True, len(text), 0.5)


async def test_of_acceptances_that_come_while_tests_run_the_latest_is_tested() -> None:
    slow, tasks = Slow(), BackgroundTasks()
    told: list[tuple[AcceptanceTested | None, str | None]] = []
    tests = AcceptedTests(slow, tasks, lambda event, showing: told.append((event, showing)), lambda: None)  # type: ignore[arg-type]
    assert tests.as_json() is None
    documents = Documents("utf-16")
    for number in range(4):
        document = documents.open("file:///a.py", "python", number, "x" * (number + 1))
        suggestion = Suggestion("", document.text, AT, "line", uncalibrated("exact_match"), {}, {})
        made = Generation(document.text, (), StopReason.LINE, Timings(1.0, 1.0, 10, 0))
        tests.begin(Offer(suggestion, made, wanted("", uri=document.uri), PURPOSE, SINGLE_DRAW), document, f"s{number}")
        await asyncio.sleep(0)
    slow.go.set()
    await wait_until(lambda: len(told) >= 2)
    assert slow.asked == ["x", "xxxx"]
    assert [(showing, event and event.tests) for event, showing in told] == [("s0", 1), ("s3", 4)]
    assert (tests.as_json() or {})["title"] == "✔ 4 tests pass (0.5 s)"
    tasks.cancel()


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        (Verification(True, 2, 0.1), True),
        (Verification(False, 2, 0.1, breaks=("t",)), False),
        (Verification(False, 2, 0.1, mends=("u",), breaks=("t",)), False),
        (Verification(False, 2, 0.1), None),
        (Verification(None, 2, 0.1), None),
    ],
)
def test_a_test_that_fails_with_it_and_without_it_makes_no_label(said: Verification, passed: bool | None) -> None:
    assert event_of(said).passed is passed
