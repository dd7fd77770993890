"""What the server and the model's process say to each other: MessagePack in frames of a 4-byte big-endian length and a body.

A message with half a character (a lone surrogate), which only JSON's escapes can say, is JSON.

Requests: {"id", "op": "load" | "complete" | "context" | "info", …}, {"op": "cancel", "id"}, {"op": "close"}.
Results: {"id", "ok": …} or {"id", "error": {"type", "message"}}; a cancel and a close have none. Before the result of a "complete" may come
any number of {"id", "text"}: what the model has written so far. Between results may come {"alive": true}: the model is slow, not hung.

For the project memory, without results: {"op": "follow", "roots"}: the folders whose files are read; {"op": "buffer", "root", "path",
"text"}: what an open document has in place of a file, null where that is closed. Between results may come {"project": …}: the state of a
folder's index.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, fields
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import msgspec

from ...inference.completion.prompt import Surroundings
from ...inference.completion.settings import Settings
from ...inference.model import Fingerprint, Generation, Source, StopReason, Timings, Token

if TYPE_CHECKING:
    from ..requests.request import GenerationRequest

HEADER_BYTES = 4
_MEMORY = ("scope", "before", "after", "root", "path")
_SETTINGS = tuple(field.name for field in fields(Settings))


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
    place, around, settings = request.place, request.surroundings, request.settings
    return {
        "prefix": place.prefix,
        "suffix": place.suffix,
        "kind": place.kind,
        "settings": {name: getattr(settings, name) for name in _SETTINGS},
        "surroundings": {"head": around.head, "path": around.path, "extra": around.extra},
        "memory": {name: getattr(request.memory, name) for name in _MEMORY},
        "max_ms": request.max_ms,
        "count": request.count,
    }


def arguments_of(data: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `complete_several`, but for the memory, which is made of what `model_part` says of it."""
    around = data["surroundings"]
    data = {name: value for name, value in data.items() if name != "memory"}
    extra = tuple((path, text) for path, text in around["extra"])
    return {**data, "settings": Settings(**data["settings"]), "surroundings": Surroundings(around["head"], around["path"], extra)}


def generation_to_json(generation: Generation) -> dict[str, Any]:
    """A generation as JSON: a token's bytes are hexadecimal, for they need not be whole characters."""
    return {
        "text": generation.text,
        "tokens": [[t.id, t.text.hex(), t.logprob, t.best_other_logprob, t.entropy, t.shares] for t in generation.tokens],
        "stopped_by": generation.stopped_by.value,
        "timings": asdict(generation.timings),
        "sources": [[source.path, source.line, source.part] for source in generation.sources],
        "memory": generation.memory,
    }


def generation_from_json(data: dict[str, Any]) -> Generation:
    """The inverse of `generation_to_json`."""
    return Generation(
        text=data["text"],
        tokens=tuple(
            Token(number, bytes.fromhex(text), logprob, best_other, entropy, tuple(shares))
            for number, text, logprob, best_other, entropy, shares in data["tokens"]
        ),
        stopped_by=StopReason(data["stopped_by"]),
        timings=Timings(**data["timings"]),
        sources=tuple(Source(path, line, part) for path, line, part in data["sources"]),
        memory=data["memory"],
    )


def fingerprint_to_json(fingerprint: Fingerprint) -> dict[str, Any]:
    """Every field of a fingerprint."""
    return asdict(fingerprint)


def fingerprint_from_json(data: dict[str, Any]) -> Fingerprint:
    """The inverse of `fingerprint_to_json`."""
    return Fingerprint(**data)


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
