"""Whether the calibrators of opened folders are trusted: what the editor tells of it, and the question where it tells nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from pygls.lsp.server import LanguageServer

from ...calibration.control_characters import escaped_line
from ...calibration.project_folder import PROJECT_FOLDER
from ...calibration.trust import remember
from ..background_tasks import BackgroundTasks
from ..user_messages import is_remembered, title_chosen

TRUST_GRANTED = "assay/didGrantWorkspaceTrust"
_NO = "Don't use them"
_YES = "Use them"


class TrustQuestions:
    """Asks the user of one project after the other, of each once. Nothing waits for the answers."""

    def __init__(self, server: LanguageServer, tasks: BackgroundTasks, on_answer: Callable[[], None]) -> None:
        """on_answer: called when an answer was remembered."""
        self._server, self._tasks, self._on_answer = server, tasks, on_answer
        self._asked: set[Path] = set()
        self._may_ask = asyncio.Event()
        self._turn = asyncio.Lock()

    def begin(self) -> None:
        """The client takes requests from here on."""
        self._may_ask.set()

    @property
    def has_asked(self) -> bool:
        """Whether the user was asked of any project."""
        return bool(self._asked)

    def ask(self, project: Path) -> None:
        """Ask whether a project's calibrators are to be used, unless that was asked before."""
        if project not in self._asked:
            self._asked.add(project)
            self._tasks.start(self._ask(project))

    async def _ask(self, project: Path) -> None:
        await self._may_ask.wait()
        # The name of a folder must not write the question.
        name = escaped_line(str(project))
        message = (
            f"Assay: the project {name} has calibrators of its own ({PROJECT_FOLDER.as_posix()}). They decide what probability you see "
            "for its files. Use them only if you trust whoever made them."
        )
        async with self._turn:
            title = await title_chosen(self._server, message, (_NO, _YES))
            if title not in (_NO, _YES):
                return
            await is_remembered(self._server, lambda: remember(project, trusted=title == _YES))
        self._on_answer()
