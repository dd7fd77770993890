"""What the user is told once of the model in use, and numbers for one that has none: the question, and the work with its progress."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ...calibration.control_characters import escaped_line
from ...calibration.declined_models import decline, is_declined
from ...calibration.found_models import entries_of
from ...inference.embedded_model import EMBEDDED
from ..background_tasks import BackgroundTasks
from ..confidence.child_process import ChildProcessFailed, CommandProcess, arguments_of
from ..model.process import ModelUnavailable
from ..session import Session
from ..settings.client_settings import ClientSettings
from ..user_messages import is_remembered, show, title_chosen
from .progress import cancellable_progress
from .trust import TrustQuestions

MINUTES = 5.0
# The harmless one first: where answers have numbers, a key that was meant for the text chooses that.
_LATER, _NOW, _NEVER = "Not now", "Calibrate", "Never for this model"
_ASK_AGAIN_AFTER = timedelta(days=7)
# With what stands around it less than a line of 80 columns: a longer message makes Neovim wait for a key.
_SMALL = "a larger model is right more often"
_CHOOSE = "Choose a Model…"
# To a client with a list of models, which it is to show.
CHOOSE_MODEL = "assay/chooseModel"


class CannotCalibrate(Exception):
    """No calibrators are fitted; the message says why, for people."""


class ModelCalibration:
    """Fits calibrators to the model in use, asks once for each model without any, and tells once that there are larger ones.

    Neovim's questions hold the editor, so there the user is told what to type.
    """

    def __init__(
        self,
        editor: LanguageServer,
        tasks: BackgroundTasks,
        session: Session,
        client_settings: ClientSettings,
        trust_questions: TrustQuestions,
    ) -> None:
        self._editor, self._tasks, self._session = editor, tasks, session
        self._client_settings, self._trust_questions = client_settings, trust_questions
        self._process, self._is_running = CommandProcess(), False
        self._asked: set[str] = set()
        self._may_ask = asyncio.Event()

    def begin(self) -> None:
        """The client takes requests from here on."""
        self._may_ask.set()

    def typed(self) -> None:
        """The user types."""
        self._process.typed()

    def consider(self) -> None:
        """Ask whether the model in use is to have numbers, if it has none and the user was not asked about it."""
        self._tasks.start(self._consider())

    async def run(self, minutes: float, *, project: bool = False, token: str | int | None = None) -> dict[str, Any]:
        """What `assay calibrate model --json` prints. token: the client's, for progress. Raises CannotCalibrate."""
        if self._is_running:
            raise CannotCalibrate("it is running already")
        self._is_running = True
        try:
            return await self._run(minutes, project=project, token=token)
        finally:
            self._is_running = False

    async def _run(self, minutes: float, *, project: bool, token: str | int | None) -> dict[str, Any]:
        live, roots = self._session.live, self._session.roots.paths
        try:
            loaded = await live.loaded()
        except ModelUnavailable as error:
            raise CannotCalibrate(str(error)) from error
        if live.settings != replace(loaded.settings(live.choice.prompt_size), extra_tokens=0):
            raise CannotCalibrate("what the model is shown was changed (assay.context.…), and numbers are for the usual: set it back first")
        if project and not roots:
            raise CannotCalibrate("no folder is open")
        home = Path.home().resolve()
        folders = roots[:1] if project else [root for root in roots if not home.is_relative_to(root.resolve())]
        arguments = arguments_of(live.choice, self._session.settings.memory, minutes, folders, project=project)
        async with cancellable_progress(self._editor, "numbers", "fitting calibrators to the model", token) as tell:
            try:
                # At the top no folder is the current project, so that only the open folders are read, and nothing around them.
                return await self._process.run(arguments, Path(home.anchor), tell)
            except ChildProcessFailed as error:
                raise CannotCalibrate(str(error)) from error

    async def _consider(self) -> None:
        await self._may_ask.wait()
        session, live = self._session, self._session.live
        try:
            loaded = await live.loaded()
        except ModelUnavailable:
            return
        found, usual = loaded.fingerprint, replace(loaded.settings(live.choice.prompt_size), extra_tokens=0)
        if Path(live.choice.located) == EMBEDDED:
            await self._tell_of_larger(found.id)
            return
        registry, _ = await session.calibrators.of(session.first_root)
        # What is asked of a project's calibrators goes first: they may be for this model.
        if self._trust_questions.has_asked or found.id in self._asked or live.settings != usual:
            return
        prompts = live.prompts(with_memory=session.settings.memory != "off").values()
        fitting = entries_of(registry, found.id, found.kin)
        if any(entry.calibrator.fitted_on.prompt in prompts for entry in fitting):
            return
        lacking = "only borrowed numbers" if fitting else "no numbers"
        self._asked.add(found.id)
        if await asyncio.to_thread(is_declined, found.id):
            return
        # The name of a model comes from its file, and must not write the question.
        words = escaped_line(found.name)
        if session.is_neovim:
            show(self._editor, f"{lacking} for {words} yet: :Assay calibrate")
            await self._remember(found.id, None)
        elif self._can_ask():
            await self._ask(found.id, words, lacking)

    async def _tell_of_larger(self, embedded: str) -> None:
        if not (self._session.is_neovim or self._can_ask()) or await asyncio.to_thread(is_declined, embedded):
            return
        await self._remember(embedded, None)
        if not self._client_settings.chooses_models:
            show(self._editor, f"{_SMALL}: {':Assay model' if self._session.is_neovim else 'assay model get'}")
        elif await title_chosen(self._editor, f"Assay comes with a small model: {_SMALL}.", (_CHOOSE,)) == _CHOOSE:
            self._editor.protocol.notify(CHOOSE_MODEL, {})

    def _can_ask(self) -> bool:
        window = self._editor.client_capabilities.window
        return window is not None and window.show_message is not None and window.show_message.message_action_item is not None

    async def _ask(self, model: str, name: str, lacking: str) -> None:
        message = f"Assay: {lacking} for {name} yet: calibrate now (about {MINUTES:g} minutes, in the background)?"
        title = await title_chosen(self._editor, message, (_LATER, _NOW, _NEVER))
        # Closed, or calibrated without a result, it is asked again later, too, and not at each start.
        await self._remember(model, None if title == _NEVER else datetime.now(UTC) + _ASK_AGAIN_AFTER)
        if title == _NOW:
            await self._run_and_tell()

    async def _remember(self, model: str, until: datetime | None) -> None:
        await is_remembered(self._editor, lambda: decline(model, until))

    async def _run_and_tell(self) -> None:
        try:
            answer = await self.run(MINUTES)
        except CannotCalibrate as error:
            show(self._editor, f"no calibrators were fitted: {error}", types.MessageType.Warning)
        else:
            show(self._editor, str(answer["said"]))
