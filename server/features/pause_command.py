"""The command `assay.pause`: for some minutes suggestions come only when they are invoked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from ..language_server import AssayServer
from .pause import MAX_MINUTES

PAUSE = "assay.pause"


def pause_for_minutes(ls: AssayServer, arguments: Sequence[Any]) -> str | None:
    """Let suggestions come only when they are invoked, for so many minutes; until when (ISO 8601), None with 0, which ends the pause.

    Raises JsonRpcInvalidParams where the one argument is not {minutes}.
    """
    minutes = arguments[0].get("minutes") if len(arguments) == 1 and isinstance(arguments[0], dict) else None
    if not isinstance(minutes, int | float) or isinstance(minutes, bool):
        raise JsonRpcInvalidParams(f'{PAUSE}: the one argument is {{"minutes": a number from 0 to {MAX_MINUTES:g}}}')
    try:
        ls.pause.begin(minutes)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{PAUSE}: {error}") from error
    return ls.pause.until_iso
