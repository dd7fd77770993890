"""What the server and the model's process say to each other: MessagePack in frames of a 4-byte big-endian length and a body.

A message with half a character (a lone surrogate), which only JSON's escapes can say, is JSON.

Requests: {"id", "op": "load" | "complete" | "context" | "info" | "repair" | "surprise", …}, {"op": "cancel", "id"}, {"op": "close"}.
Results: {"id", "ok": …} or {"id", "error": {"type", "message"}}; a cancel and a close have none. Before a result may come any number of
{"id", "text"}: of a "complete" what the model has written so far, of a "repair" what was found, in words. Between results may come
{"alive": true}: the model is slow, not hung. Results come in the order of the requests, but that repairs and surprises let others go first.

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
    from ..repairs.request import RepairRequest
    from ..requests.request import GenerationRequest

HEADER_BYTES = 4
_MEMORY = ("scope", "before", "after", "root", "path")
_REPAIR = ("text", "first", "end", "language", "encoding", "most", "max_ms", "message", "instruct")
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
    place = request.place
    return {
        "prefix": place.prefix,
        "suffix": place.suffix,
        "kind": place.kind,
        "language": place.language,
        "settings": settings_part(request.settings),
        "surroundings": surroundings_part(request.surroundings),
        "memory": {name: getattr(request.memory, name) for name in _MEMORY},
        "max_ms": request.max_ms,
        "count": request.count,
    }


def repair_part(request: RepairRequest) -> dict[str, Any]:
    """What of a request for repairs, or for surprising tokens, the model's process needs."""
    return {
        **{name: getattr(request, name) for name in _REPAIR},
        "settings": settings_part(request.settings),
        "surroundings": surroundings_part(request.surroundings),
        "memory": {name: getattr(request.memory, name) for name in ("scope", "root", "path")},
    }


def settings_part(settings: Settings) -> dict[str, Any]:
    """As `settings_of` reads it."""
    return {name: getattr(settings, name) for name in _SETTINGS}


def settings_of(data: dict[str, Any]) -> Settings:
    """The inverse of `settings_part`."""
    return Settings(**data)


def surroundings_part(around: Surroundings) -> dict[str, Any]:
    """As `surroundings_of` reads it."""
    return {"head": around.head, "path": around.path, "extra": around.extra}


def surroundings_of(data: dict[str, Any]) -> Surroundings:
    """The inverse of `surroundings_part`."""
    return Surroundings(data["head"], data["path"], tuple((path, text) for path, text in data["extra"]))


def arguments_of(data: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `complete_several`, but for the memory, which is made of what `model_part` says of it."""
    data = {name: value for name, value in data.items() if name != "memory"}
    return {**data, "settings": settings_of(data["settings"]), "surroundings": surroundings_of(data["surroundings"])}


def generation_to_json(generation: Generation) -> dict[str, Any]:
    """A generation as JSON: a token's bytes are hexadecimal, for they need not be whole characters."""
    return {
        "text": generation.text,
        "tokens": [[t.id, t.text.hex(), t.logprob, t.best_other_logprob, t.entropy, t.shares] for t in generation.tokens],
        "stopped_by": generation.stopped_by.value,
        "timings": asdict(generation.timings),
        "sources": [[source.path, source.line, source.part] for source in generation.sources],
        "memory": generation.memory,
        "parses": generation.parses,
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
        parses=data["parses"],
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
