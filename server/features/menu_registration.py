"""Whether the ordinary completion menu asks Assay: registered at the start, or later with clients that allow it."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ..background_tasks import BackgroundTasks
from ..settings.table import Plain

_REGISTRATION_ID = "assay/plainCompletion"


class MenuRegistration:
    """Registers the menu's handler where suggestions belong into the menu."""

    def __init__(self, server: LanguageServer, tasks: BackgroundTasks) -> None:
        self._server = server
        self._tasks = tasks
        # Answers `textDocument/completion`. Set where the server is built.
        self.handler: Callable[..., Any] | None = None
        self._setting: Plain = "auto"
        self._has_inline_completion = False
        self._can_register_later = False
        self._is_registered = False
        self._triggers: list[str] = []

    def begin(self, capabilities: types.ClientCapabilities, setting: Plain, *, is_neovim: bool) -> None:
        """Take what the client can do. Where nothing can be registered later, the menu is registered now if it is wanted."""
        self._setting = setting
        text = capabilities.text_document
        self._has_inline_completion = text is not None and text.inline_completion is not None
        self._can_register_later = text is not None and text.completion is not None and bool(text.completion.dynamic_registration)
        # Editors other than Neovim ask after the characters of a word by themselves.
        self._triggers = [*" ([{.,:=+-*/<>", *(string.ascii_letters + string.digits + "_" if is_neovim else "")]
        if self.is_wanted and not self._can_register_later:
            self._add_handler()

    @property
    def is_wanted(self) -> bool:
        """Whether suggestions belong into the menu: with `auto`, for clients without inline completion."""
        return self._setting == "on" or (self._setting == "auto" and not self._has_inline_completion)

    def apply(self, setting: Plain) -> None:
        """Register with the client, or unregister, as the setting says now."""
        self._setting = setting
        wanted = self.is_wanted
        if self._can_register_later and wanted != self._is_registered:
            self._is_registered = wanted
            self._tasks.start(self._register() if wanted else self._unregister())

    def _add_handler(self) -> None:
        assert self.handler is not None
        self._server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=self._triggers))(self.handler)

    async def _register(self) -> None:
        if types.TEXT_DOCUMENT_COMPLETION not in self._server.protocol.fm.features:
            self._add_handler()
        options = types.CompletionRegistrationOptions(trigger_characters=self._triggers)
        registration = types.Registration(_REGISTRATION_ID, types.TEXT_DOCUMENT_COMPLETION, options)
        await self._server.client_register_capability_async(types.RegistrationParams([registration]))

    async def _unregister(self) -> None:
        one = types.Unregistration(_REGISTRATION_ID, types.TEXT_DOCUMENT_COMPLETION)
        await self._server.client_unregister_capability_async(types.UnregistrationParams([one]))
