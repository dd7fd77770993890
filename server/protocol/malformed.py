"""What is wrong with a message, and what it is about all the same, so that a request is answered under its own id. Pure functions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import cattrs
from pygls.exceptions import JsonRpcParseError

# Of lists and objects in each other. The protocol's own messages have a dozen.
_MAX_DEPTH = 100
_TOO_DEEP = f"The message is nested deeper than {_MAX_DEPTH} levels"
# The path of the fault, which cattrs puts at the end of its message.
_PATH = re.compile(r"(?<= @ )\$\S*$")
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


def decoded(body: bytes) -> Any:
    """The JSON of a message. Raises JsonRpcParseError, also for what Python can't read, or can't walk through."""
    try:
        data = json.loads(body)
    except RecursionError:
        raise JsonRpcParseError(_TOO_DEEP) from None
    except ValueError as error:
        raise JsonRpcParseError(f"The message is not JSON: {error}") from None
    if is_deeper(data, _MAX_DEPTH):
        raise JsonRpcParseError(_TOO_DEEP)
    return data


def envelope_fault(data: Any) -> str | None:
    """What makes decoded JSON no message; None where it is one."""
    if not isinstance(data, dict):
        return "A message is one JSON object"
    if data.get("jsonrpc") != "2.0":
        return 'A message has "jsonrpc": "2.0"'
    if "id" in data and not is_id(data["id"]):
        return '"id" is a string or an integer'
    if "method" in data:
        return None if isinstance(data["method"], str) else '"method" is a string'
    if "id" in data and ("result" in data or "error" in data):
        return None
    return 'A message has a "method", or an "id" with a "result" or an "error"'


def is_id(value: Any) -> bool:
    """Whether a request may have this id."""
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def faults(error: Exception) -> list[str]:
    """What is wrong and where, by the names of the protocol instead of its Python classes."""
    describe: Callable[..., list[str]] = cattrs.transform_error
    try:
        return [_PATH.sub(_protocols_names, fault) for fault in describe(error)]
    except Exception:
        return [str(error)]


def _protocols_names(path: re.Match[str]) -> str:
    return re.sub("_([a-z])", lambda letter: letter[1].upper(), path[0])


def uri_of(data: dict[str, Any]) -> str | None:
    """The document or notebook that a message is about, if it says so."""
    params = data.get("params")
    document = (params.get("textDocument") or params.get("notebookDocument")) if isinstance(params, dict) else None
    uri = document.get("uri") if isinstance(document, dict) else None
    return uri if isinstance(uri, str) else None
