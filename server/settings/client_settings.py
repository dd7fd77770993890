"""The settings as the client gives them: asked for at the start and after each change, or taken from what it sends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..background_tasks import BackgroundTasks
from .settings import SECTION, LiveSettings, parse_settings

_ANSWER_TIMEOUT_S = 2.0
# What only the client itself may say, and no setting of a workspace.
_TRUSTED, _CHOOSES = "workspaceTrusted", "choosesModels"
_REGISTRATION_ID = "assay/settings"


class ClientSettings:
    """What the client said last. Its answer to `workspace/configuration` takes precedence over `initializationOptions`."""

    def __init__(self, server: LanguageServer, tasks: BackgroundTasks, apply: Callable[[], Awaitable[None]]) -> None:
        """apply: called after each reading; it never runs twice at the same time."""
        self._server = server
        self._tasks = tasks
        self._apply = apply
        self._lock = asyncio.Lock()
        self._initial: Any = None
        self._answer: Any = None
        # Whether the user trusts the workspace, says the client; None where it says nothing.
        self.workspace_trusted: bool | None = None
        # Whether the client shows its list of models when it is sent `assay/chooseModel`.
        self.chooses_models = False

    def begin(self, initialization_options: Any) -> None:
        """Take what the client sent with `initialize`."""
        if isinstance(initialization_options, dict):
            said = initialization_options.get(_TRUSTED)
            # What is neither true nor false must not open what true would.
            self.workspace_trusted = None if said is None else said is True
            self.chooses_models = initialization_options.get(_CHOOSES) is True
            initialization_options = {name: value for name, value in initialization_options.items() if name not in (_TRUSTED, _CHOOSES)}
        self._initial = initialization_options

    def parsed(self) -> tuple[LiveSettings, tuple[str, ...]]:
        """The settings, and what is wrong with them, in sentences for people."""
        return parse_settings(self._initial, self._answer)

    @property
    def are_asked_for(self) -> bool:
        """Whether the client answers `workspace/configuration`."""
        workspace = self._server.client_capabilities.workspace
        return workspace is not None and bool(workspace.configuration)

    async def read(self, sent: Any = None) -> None:
        """Read the settings again and apply them. sent: what came with the client's message; counts only where it can't be asked."""
        async with self._lock:
            if self.are_asked_for:
                await self._ask()
            else:
                self._answer = sent
            await self._apply()

    async def apply(self) -> None:
        """Apply them again, as they are."""
        async with self._lock:
            await self._apply()

    def follow_changes(self) -> None:
        """Ask the client to tell when settings change, where it tells only who registered for it, as VS Code does."""
        workspace = self._server.client_capabilities.workspace
        changes = workspace and workspace.did_change_configuration
        if not (changes and changes.dynamic_registration):
            return
        options = types.DidChangeConfigurationRegistrationOptions(SECTION)
        registration = types.Registration(_REGISTRATION_ID, types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)
        self._tasks.start(self._server.client_register_capability_async(types.RegistrationParams([registration])))

    async def _ask(self) -> None:
        """Wait a moment for the answer. Until it comes the last one counts; a late one is applied when it comes."""
        items = [types.ConfigurationItem(section=SECTION)]
        asking = asyncio.ensure_future(self._server.workspace_configuration_async(types.ConfigurationParams(items)))
        await asyncio.wait({asking}, timeout=_ANSWER_TIMEOUT_S)
        if asking.done():
            self._take(asking)
        else:
            asking.add_done_callback(lambda late: self._tasks.start(self._apply_late(late)))

    async def _apply_late(self, asked: asyncio.Future[Any]) -> None:
        async with self._lock:
            self._take(asked)
            await self._apply()

    def _take(self, asked: asyncio.Future[Any]) -> None:
        if not asked.cancelled() and asked.exception() is None:
            self._answer = next(iter(asked.result()), None)
