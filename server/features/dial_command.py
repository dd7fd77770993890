"""The command `assay.setDial`: sets the dial until the server ends, for clients that can't change their settings themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from ..confidence.stops import SETTING_OF
from ..language_server import AssayServer
from ..settings.settings import SHOW_ABOVE
from ..settings.table import ShowAbove

SET_DIAL = "assay.setDial"


async def set_dial(ls: AssayServer, arguments: Sequence[Any]) -> dict[str, Any]:
    """Set the dial to a stop or a level, whatever the setting `assay.showAbove` is, until that changes. null gives the setting back.

    Returns the stop that the dial is at now, and what it does, in words. Raises JsonRpcInvalidParams where the one argument is neither
    {stop} nor {showAbove}.
    """
    ls.dial_override = _wanted(arguments)
    await ls.client_settings.apply()
    return ls.stops.brief()


def _wanted(arguments: Sequence[Any]) -> ShowAbove | None:
    given = arguments[0] if len(arguments) == 1 else None
    if isinstance(given, dict) and len(given) == 1:
        ((name, value),) = given.items()
        if name == "stop" and isinstance(value, str) and value in SETTING_OF:
            return SETTING_OF[value]
        if name == "showAbove":
            if value is None:
                return None
            try:
                return SHOW_ABOVE.read(value)  # type: ignore[no-any-return]
            except ValueError:
                pass
    stops = ", ".join(f'"{stop}"' for stop in SETTING_OF)
    raise JsonRpcInvalidParams(
        f'{SET_DIAL}: the one argument is {{"stop": one of {stops}}} or {{"showAbove": {SHOW_ABOVE.values.words}, or null}}'
    )
