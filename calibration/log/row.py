"""How an event stands in a row of the log, and how it is read again. Pure functions."""

from __future__ import annotations

from typing import get_args

import msgspec

from .events import Event, Row

# By class of event, the name of its kind.
KINDS: dict[type, str] = {kind: str(kind.__struct_config__.tag) for kind in get_args(Event)}

# The year 5138: no clock shows a later time, and every earlier one can be written as a date.
_MAX_TIME_MS = 10**14
_encoder = msgspec.json.Encoder()
_DECODERS: dict[bytes, msgspec.json.Decoder[Event]] = {tag.encode(): msgspec.json.Decoder(kind) for kind, tag in KINDS.items()}


def body_of(event: Event) -> str:
    """The JSON of an event."""
    try:
        return _encoder.encode(event).decode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which JSON from an editor may hold.
        return msgspec.json.encode(_whole(msgspec.to_builtins(event))).decode()


def _whole(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(name): _whole(inner) for name, inner in value.items()}
    return value


def row_of(number: object, time_ms: object, server: object, showing: object, kind: object, body: object) -> Row | str:
    """The row, or why it is skipped: "damaged" or "unknown"."""
    if not (isinstance(number, int) and isinstance(time_ms, int) and isinstance(server, bytes) and isinstance(kind, bytes)):
        return "damaged"
    if not 0 <= time_ms < _MAX_TIME_MS:
        return "damaged"
    if not (isinstance(body, bytes) and isinstance(showing, bytes | None)):
        return "damaged"
    decoder = _DECODERS.get(kind)
    if decoder is None:
        return "unknown"
    try:
        return Row(number, time_ms, server.decode(), None if showing is None else showing.decode(), decoder.decode(body))
    except (ValueError, RecursionError):
        return "damaged"
