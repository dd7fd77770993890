"""Whether the tests of a project may be run: the editor's word that the workspace is trusted, and the user's yes for this project."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pygls.lsp.server import LanguageServer

from ...calibration.control_characters import escaped_line
from ...calibration.trust import TESTS, remember, remembered
from ..background_tasks import BackgroundTasks
from ..user_messages import is_remembered, title_chosen

_NO = "Don't run them"
_YES = "Run them"
# Ask now and wait for the answer, also where the question was closed before; now, but only once; or once, without waiting.
Asks = Literal["now", "once", "later"]
UNANSWERED = "you are being asked whether tests may run"
_CLOSED = "you have not said yet that Assay may run the tests of this project"


class Consent:
    """Asks the user about one project after the other."""

    def __init__(self, server: LanguageServer, tasks: BackgroundTasks, trusted: Callable[[], bool | None]) -> None:
        """trusted: what the editor says of the workspace, None where it says nothing."""
        self._server, self._tasks, self._trusted = server, tasks, trusted
        self._asked: set[Path] = set()
        self._open: set[Path] = set()
        self._turn = asyncio.Lock()

    async def why_not(self, project: Path, asks: Asks) -> str:
        """Why the tests of a project may not be run, or nothing. Where there is no answer yet the user is asked as `asks` says."""
        if self._trusted() is False:
            return "the editor says that this workspace is not trusted"
        trust = await asyncio.to_thread(remembered, project, TESTS)
        if trust.counts or not trust.is_open:
            return trust.why_not
        if asks == "now" or project not in self._asked:
            self._asked.add(project)
            if asks == "later":
                self._open.add(project)
                self._tasks.start(self._ask_in_turn(project))
            elif asks == "now" and self.is_asking(project):
                # An editor may have put the earlier question out of sight.
                return await self._ask(project)
            else:
                return await self._ask_in_turn(project)
        return UNANSWERED if self.is_asking(project) else _CLOSED

    def is_asking(self, project: Path) -> bool:
        """Whether the user has a question about a project that they have not answered."""
        return project in self._open

    async def is_refused(self, project: Path) -> bool:
        """Whether the user, or the editor in their name, has said that the tests of a project may not be run. Asks nobody."""
        trust = await asyncio.to_thread(remembered, project, TESTS)
        return self._trusted() is False or not (trust.counts or trust.is_open)

    async def is_given(self, project: Path) -> bool:
        """Whether the tests of a project may be run. Asks nobody."""
        return self._trusted() is not False and (await asyncio.to_thread(remembered, project, TESTS)).counts

    async def _ask_in_turn(self, project: Path) -> str:
        self._open.add(project)
        try:
            async with self._turn:
                trust = await asyncio.to_thread(remembered, project, TESTS)
                return await self._ask(project) if trust.is_open else trust.why_not
        finally:
            self._open.discard(project)

    async def _ask(self, project: Path) -> str:
        # The name of a folder must not write the question.
        name = escaped_line(str(project))
        message = f"Assay: may Assay run the tests of {name}, to verify repairs? They run in a sandbox, on a copy of the project."
        title = await title_chosen(self._server, message, (_NO, _YES))
        if title is None:
            return remembered(project, TESTS).why_not
        self._open.discard(project)
        if title not in (_NO, _YES):
            return _CLOSED
        await self.answer(project, allowed=title == _YES)
        return "" if title == _YES else "you said that Assay may not run the tests of this project"

    async def answer(self, project: Path, *, allowed: bool) -> bool:
        """Remember what the user says of a project. Gives whether that could be done; where not, the user is told."""
        return await is_remembered(self._server, lambda: remember(project, trusted=allowed, about=TESTS))
