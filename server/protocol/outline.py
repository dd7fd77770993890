"""What a message is about, where it can't be decoded: so that a request is answered under its own id all the same. Pure functions."""

from __future__ import annotations

import json
import re
from typing import Any

# Of one bracket or sign, a string, or another value.
_PIECE = re.compile(rb'[{}\[\],:]|"(?:[^"\\]+|\\.)*+"|[^\s{}\[\],:"]+', re.DOTALL)
_OUTLINED = {b'"id"': "id", b'"method"': "method", b'"jsonrpc"': "jsonrpc"}
# More digits no id has, and Python refuses to read some thousands.
_MAX_VALUE = 1_000


def outline(body: bytes) -> dict[str, Any]:
    """The fields `id`, `method` and `jsonrpc` of a message whose brackets are closed, however deep they are; else none of them.

    A field that is too long is None.
    """
    found: dict[str, Any] = {}
    depth, before, last = 0, b"", b""
    for match in _PIECE.finditer(body):
        piece = match[0]
        if piece in b"{[":
            depth += 1
        elif piece in b"}]":
            depth -= 1
        elif depth == 1 and last == b":" and before in _OUTLINED:
            try:
                found[_OUTLINED[before]] = json.loads(piece) if len(piece) <= _MAX_VALUE else None
            except ValueError:
                return {}
        before, last = last, piece
    return found if depth == 0 else {}


def is_deeper(data: Any, levels: int) -> bool:
    """Whether decoded JSON has lists and objects in more levels than these."""
    level = [data]
    for _ in range(levels + 1):
        level = [each for each in level if isinstance(each, dict | list)]
        if not level:
            return False
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return True
