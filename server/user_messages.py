"""Messages that the editor shows to the user, and questions that they answer by a button."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer


def show(server: LanguageServer, message: str, kind: types.MessageType = types.MessageType.Info) -> None:
    """Show a message."""
    server.window_show_message(types.ShowMessageParams(kind, f"Assay: {message}"))


async def title_chosen(server: LanguageServer, question: str, titles: Sequence[str]) -> str | None:
    """The title that the user chose of some; empty where they chose none, None from a client that can't ask.

    The safe one comes first: where answers have numbers, a key that was meant for the text chooses that.
    """
    actions = [types.MessageActionItem(title) for title in titles]
    params = types.ShowMessageRequestParams(types.MessageType.Info, question, actions)
    try:
        answer = await server.window_show_message_request_async(params)
    except JsonRpcException:
        return None
    return str(getattr(answer, "title", "") or "")


async def is_remembered(server: LanguageServer, remember: Callable[[], object]) -> bool:
    """Whether the user's answer could be written down; where not, the user is told."""
    try:
        await asyncio.to_thread(remember)
    except OSError as error:
        show(server, f"your answer can't be remembered: {error.filename}: {error.strerror}", types.MessageType.Warning)
        return False
    return True
