"""The tests that touch an accepted suggestion, and where it stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ...calibration.log.events import AcceptanceTested
from ...suggestion.positions import count_line_ends
from ...suggestion.repair.verified import Verification
from ..background_tasks import BackgroundTasks
from ..documents.documents import Document
from ..documents.workspace import path_of
from ..requests.offers import Offer
from .verifications import Verifications

# The editor's edit may come after its command.
_EDIT_S = 1.0


class AcceptedTests:
    """Runs one after the other. Of those that come meanwhile the latest waits; the others are not run.

    Attributes
        accepted: the suggestion that was accepted last, whether tests are run or not.
        latest: what the latest tests said.
    """

    def __init__(
        self,
        verifications: Verifications,
        tasks: BackgroundTasks,
        log: Callable[[AcceptanceTested, str | None], None],
        on_result: Callable[[], None],
    ) -> None:
        """log: takes what the tests said of which showing; on_result: told that `latest` is new."""
        self._verifications, self._tasks, self._log, self._on_result = verifications, tasks, log, on_result
        self._waiting: tuple[str | None, str, str, str] | None = None
        self._is_running = False
        self.latest: Verification | None = None
        self.accepted: Offer | None = None

    def begin(self, offer: Offer, document: Document | None, showing: str | None) -> None:
        """A suggestion was accepted. document: where the tests that touch it are to be run, soon; None where none are to be."""
        self.accepted = offer
        path = path_of(offer.request.uri)
        if document is not None and path is not None and path.suffix == ".py":
            self._tasks.start(self._begin(offer, document, showing))

    def as_json(self) -> dict[str, Any] | None:
        """What the latest tests said, for the status: docs/formats.md."""
        return None if self.latest is None else {**self.latest.as_json(), "title": self.latest.title}

    async def _begin(self, offer: Offer, document: Document, showing: str | None) -> None:
        texts = _texts_of(document, offer)
        if texts is None:
            await asyncio.sleep(_EDIT_S)
            texts = _texts_of(document, offer)
        if texts is not None:
            self._waiting = (showing, document.uri, *texts)
            if not self._is_running:
                await self._run()

    async def _run(self) -> None:
        self._is_running = True
        try:
            while self._waiting is not None:
                (showing, uri, before, after), self._waiting = self._waiting, None
                async for said in self._verifications.judged(uri, before, [after], asks="once"):
                    self.latest = said
                    if said.tests and showing:
                        self._log(event_of(said), showing)
                    self._on_result()
        finally:
            self._is_running = False


def accepted_lines(document: Document, offer: Offer | None) -> range | None:
    """The lines (from 1) of the suggestion that was accepted last, as long as it stands in the document where it was put in."""
    if offer is None or offer.request.uri != document.uri or _texts_of(document, offer) is None:
        return None
    first = count_line_ends(document.text[: offer.request.start]) + 1
    return range(first, first + count_line_ends(offer.request.selected + offer.suggestion.text) + 1)


def event_of(said: Verification) -> AcceptanceTested:
    """What is logged: no names of tests."""
    passed = True if said.passed else False if said.breaks else None
    return AcceptanceTested(passed=passed, tests=said.tests, mends=len(said.mends), milliseconds=round(said.seconds * 1e3, 1))


def _texts_of(document: Document, offer: Offer) -> tuple[str, str] | None:
    """The text without a suggestion, and with it; None where it does not stand there."""
    request, after = offer.request, document.text
    inserted = request.selected + offer.suggestion.text
    if not after.startswith(inserted, request.start):
        return None
    return after[: request.start] + request.stood + after[request.start + len(inserted) :], after
