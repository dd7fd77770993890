"""The client's settings: requested at the start and after each change, or taken from its notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..background_tasks import BackgroundTasks
from .settings import DEFAULTS, SECTION, LiveSettings, parse_settings
from .table import ShowAbove

_ANSWER_TIMEOUT_S = 2.0
# Only the client may say these. No setting of a workspace can.
_TRUSTED, _CHOOSES = "workspaceTrusted", "choosesModels"
_REGISTRATION_ID = "assay/settings"


class ClientSettings:
    """The client's latest settings. Its answer to `workspace/configuration` takes precedence over `initializationOptions`."""

    def __init__(self, server: LanguageServer, tasks: BackgroundTasks, apply: Callable[[], Awaitable[None]]) -> None:
        """apply: called after each reading; it never runs twice at the same time."""
        self._server = server
        self._tasks = tasks
        self._apply = apply
        self._lock = asyncio.Lock()
        self._initial: Any = None
        self._answer: Any = None
        # Where a command has set the dial, None where the setting counts; and what the setting was then.
        self._dial: ShowAbove | None = None
        self._own_dial = DEFAULTS.show_above
        # Whether the client says that the user trusts the workspace; None if it says nothing.
        self.workspace_trusted: bool | None = None
        # True if the client shows its list of models on `assay/chooseModel`.
        self.chooses_models = False

    def begin(self, initialization_options: Any) -> None:
        """Read the options that the client sent with `initialize`."""
        if isinstance(initialization_options, dict):
            trusted = initialization_options.get(_TRUSTED)
            # Any other value must not count as true.
            self.workspace_trusted = None if trusted is None else trusted is True
            self.chooses_models = initialization_options.get(_CHOOSES) is True
            initialization_options = {name: value for name, value in initialization_options.items() if name not in (_TRUSTED, _CHOOSES)}
        self._initial = initialization_options

    def parsed(self) -> tuple[LiveSettings, tuple[str, ...]]:
        """The settings, with the dial where a command has set it since the user changed it; their problems in sentences for people."""
        settings, problems = parse_settings(self._initial, self._answer)
        if settings.show_above != self._own_dial:
            self._own_dial, self._dial = settings.show_above, None
        return settings if self._dial is None else replace(settings, show_above=self._dial), problems

    @property
    def has_configuration(self) -> bool:
        """True if the client answers `workspace/configuration`."""
        workspace = self._server.client_capabilities.workspace
        return workspace is not None and bool(workspace.configuration)

    async def read(self, sent: Any = None) -> None:
        """Read the settings again and apply them. sent: those of the client's message, used only if the client can't be asked."""
        async with self._lock:
            if self.has_configuration:
                await self._ask()
            else:
                self._answer = sent
            await self._apply()

    async def set_dial(self, show_above: ShowAbove | None) -> None:
        """Set the dial until the user changes its setting; None: as that says."""
        self._dial = show_above
        async with self._lock:
            await self._apply()

    def follow_changes(self) -> None:
        """Register for changes of the settings. VS Code, for one, reports them only after that."""
        workspace = self._server.client_capabilities.workspace
        changes = workspace and workspace.did_change_configuration
        if not (changes and changes.dynamic_registration):
            return
        options = types.DidChangeConfigurationRegistrationOptions(SECTION)
        registration = types.Registration(_REGISTRATION_ID, types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)
        self._tasks.start(self._server.client_register_capability_async(types.RegistrationParams([registration])))

    async def _ask(self) -> None:
        """Wait a moment for the answer. Until it comes the last one counts; a late one is applied on arrival."""
        items = [types.ConfigurationItem(section=SECTION)]
        answer = asyncio.ensure_future(self._server.workspace_configuration_async(types.ConfigurationParams(items)))
        await asyncio.wait({answer}, timeout=_ANSWER_TIMEOUT_S)
        if answer.done():
            self._take(answer)
        else:
            answer.add_done_callback(lambda late: self._tasks.start(self._apply_late(late)))

    async def _apply_late(self, answer: asyncio.Future[Any]) -> None:
        async with self._lock:
            self._take(answer)
            await self._apply()

    def _take(self, answer: asyncio.Future[Any]) -> None:
        if not answer.cancelled() and answer.exception() is None:
            self._answer = next(iter(answer.result()), None)
