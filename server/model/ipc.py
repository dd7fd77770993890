"""What the server and the model's process say to each other: JSON in frames of a 4-byte big-endian length and a body.

Requests: {"id", "op": "load" | "complete" | "context" | "info", …}, {"op": "cancel", "id"}, {"op": "close"}.
Answers: {"id", "ok": …} or {"id", "error": {"type", "message"}}; a cancel and a close have none. Before the answer to a "complete" may come
any number of {"id", "text"}: what the model has written so far. Between answers may come {"alive": true}: the model is slow, not hung.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass, field
from typing import IO, Any, BinaryIO

from ...inference.completion.prompt import Surroundings
from ...inference.completion.settings import Settings
from ...inference.completion.task import Kind
from ...inference.model import Fingerprint, Generation, StopReason, Timings, Token

HEADER_BYTES = 4


def frame(message: dict[str, Any]) -> bytes:
    """One message, ready to be written."""
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
    """The message of a frame's body."""
    message = json.loads(body)
    assert isinstance(message, dict)
    return message


@dataclass(frozen=True, slots=True)
class Question:
    """What the model is asked at a place; fields as `inference.completion.complete_several`."""

    prefix: str
    suffix: str
    kind: Kind = "line"
    settings: Settings = field(default_factory=Settings)
    surroundings: Surroundings = field(default_factory=Surroundings)
    max_ms: float | None = None
    count: int = 1


def question_to_json(question: Question) -> dict[str, Any]:
    """What `question_from_json` reads."""
    return asdict(question)


def question_from_json(data: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `complete_several`."""
    around = data["surroundings"]
    extra = tuple((path, text) for path, text in around["extra"])
    return {**data, "settings": Settings(**data["settings"]), "surroundings": Surroundings(around["head"], around["path"], extra)}


def generation_to_json(generation: Generation) -> dict[str, Any]:
    """A generation as JSON: a token's bytes are hexadecimal, for they need not be whole characters."""
    return {
        "text": generation.text,
        "tokens": [[t.id, t.text.hex(), t.logprob, t.best_other_logprob, t.entropy] for t in generation.tokens],
        "stopped_by": generation.stopped_by.value,
        "timings": asdict(generation.timings),
    }


def generation_from_json(data: dict[str, Any]) -> Generation:
    """The inverse of `generation_to_json`."""
    return Generation(
        text=data["text"],
        tokens=tuple(Token(number, bytes.fromhex(text), *logs) for number, text, *logs in data["tokens"]),
        stopped_by=StopReason(data["stopped_by"]),
        timings=Timings(**data["timings"]),
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
