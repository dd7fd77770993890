"""The tests that touch an accepted suggestion, run in the background: what they say is shown, and logged as a label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...calibration.log.events import AcceptanceTested
from ...suggestion.repair.verified import Verification
from ..background_tasks import BackgroundTasks
from ..requests.given import Given
from .verifications import Verifications


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An accepted suggestion. showing: as in the log. before, after: the text of the document without it, and with it."""

    showing: str | None
    uri: str
    before: str
    after: str


class AcceptedTests:
    """Runs one after the other. Of those that come meanwhile the latest waits; the others are not run."""

    def __init__(
        self, verifications: Verifications, tasks: BackgroundTasks, on_result: Callable[[AcceptanceTested | None, str | None], None]
    ) -> None:
        """on_result: is told that there is something new to show, and what is to be logged of which showing, if anything."""
        self._verifications, self._tasks, self._on_result = verifications, tasks, on_result
        self._waiting: Acceptance | None = None
        self._is_running = False
        self.latest: Verification | None = None
        # The suggestion that was accepted last, whether tests are run or not.
        self.accepted: Given | None = None

    def begin(self, acceptance: Acceptance) -> None:
        """Run the tests that touch it, soon."""
        self._waiting = acceptance
        if not self._is_running:
            self._is_running = True
            self._tasks.start(self._run())

    def as_json(self) -> dict[str, Any] | None:
        """What the latest tests said, for the status: docs/formats.md."""
        return None if self.latest is None else {**self.latest.as_json(), "title": self.latest.title}

    async def _run(self) -> None:
        try:
            while (acceptance := self._waiting) is not None:
                self._waiting = None
                async for said in self._verifications.judged(acceptance.uri, acceptance.before, [acceptance.after], asks="once"):
                    self.latest = said
                    self._on_result(event_of(said) if said.tests and acceptance.showing else None, acceptance.showing)
        finally:
            self._is_running = False


def event_of(said: Verification) -> AcceptanceTested:
    """What is logged: no names of tests."""
    passed = True if said.passed else False if said.breaks else None
    return AcceptanceTested(passed=passed, tests=said.tests, mends=len(said.mends), milliseconds=round(said.seconds * 1e3, 1))
