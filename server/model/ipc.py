"""What the server and the model's process say to each other: MessagePack in frames of a 4-byte big-endian length and a body.

A message with half a character (a lone surrogate), which only JSON's escapes can say, is JSON.

Requests: {"id", "op": "load" | "complete" | "context" | "repair" | "surprise", …}, {"op": "cancel", "id"}, {"op": "close"}.
Results: {"id", "ok": …} or {"id", "error": {"type", "message"}}; a cancel and a close have none. Before a result may come any number of
{"id", "text"}: of a "complete" what the model has written so far, of a "repair" what was found. Between results may come
{"alive": true}: the model is slow, not hung. Results come in the order of the requests, but that repairs and surprises let others go first.

For the project memory, without results: {"op": "follow", "roots"}: the folders whose files are read; {"op": "buffer", "root", "path",
"text"}: what an open document has in place of a file, null where that is closed. Between results may come {"project": …}: the state of a
folder's index.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import msgspec

from ...inference.completion.prompt import Surroundings
from ...inference.completion.settings import Settings

if TYPE_CHECKING:
    from .request import GenerationRequest

HEADER_BYTES = 4


def frame(message: dict[str, Any]) -> bytes:
    """One message, ready to be written."""
    try:
        body = msgspec.msgpack.encode(message)
    except (UnicodeEncodeError, OverflowError, TypeError):  # what JSON can say, or says better why not
        body = json.dumps(message).encode()
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def read_frame(stream: IO[bytes]) -> dict[str, Any] | None:
    """The next message; None at the end of the stream, also when it ends inside a message."""
    header = stream.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    size = int.from_bytes(header, "big")
    body = stream.read(size)
    return parse(body) if len(body) == size else None


def parse(body: bytes) -> dict[str, Any]:
    """The message of a frame's body. Raises ValueError where it holds none."""
    message = json.loads(body) if body.startswith(b"{") else msgspec.msgpack.decode(body)
    if not isinstance(message, dict):
        raise ValueError("a frame that holds no message")
    return message


def model_part(request: GenerationRequest) -> dict[str, Any]:
    """What of a request the model's process needs, as `arguments_of` reads it."""
    place = request.place
    names = ("settings", "surroundings", "memory", "max_ms", "ends_at", "count")
    parts = {name: msgspec.to_builtins(getattr(request, name)) for name in names}
    return {"prefix": place.prefix, "suffix": place.suffix, "kind": place.kind, "language": place.language, **parts}


def arguments_of(data: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `complete_several`, but for the memory, which is made of what `model_part` says of it.

    The time until `ends_at` is the time that is left now: a request may have waited for its turn, or for the processor.
    """
    data = {name: value for name, value in data.items() if name not in ("memory", "ends_at")} | {"max_ms": _left_ms(data)}
    read = {"settings": Settings(**data["settings"]), "surroundings": msgspec.convert(data["surroundings"], Surroundings)}
    return {**data, **read}


def _left_ms(data: dict[str, Any]) -> float | None:
    limits = [] if data["max_ms"] is None else [data["max_ms"]]
    if data["ends_at"] is not None:
        limits.append(max(0.0, data["ends_at"] - time.monotonic()) * 1e3)  # a clock that all processes of a machine share
    return min(limits, default=None)


def take_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Stdin and stdout for our messages alone.

    File descriptor 0 then reads nothing and 1 writes to stderr, so that no library's print, in Python or in C, lands in our stream.
    To be called before anything is opened: a file might else have taken the number of a stream that this process was started without.
    Raises OSError where it was.
    """
    if sys.stdin is None or sys.stdout is None:
        raise OSError("stdin or stdout is closed, and messages go over them")
    stdin = os.fdopen(os.dup(0), "rb")
    stdout = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return stdin, stdout
