"""The kinds of values that settings have. Each function gives one kind: in words, as JSON Schema, and as its parser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...calibration.control_characters import escaped

# Characters of a value or a name that a message quotes: enough for the user to find it.
MAX_QUOTED = 60
# JSON can hold these, but no path and no message to another process can.
_UNUSABLE = re.compile(r"[\x00\ud800-\udfff]")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Values:
    """The possible values of a setting.

    words: follows "it may be" in a message. read: parses a value from JSON. It raises ValueError, with a message where `words` does not
    explain what is wrong.
    """

    words: str
    schema: Mapping[str, Any]
    read: Callable[[Any], Any]


def switch() -> Values:
    """True or false, but not 1 or "true"."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value

    return Values("true or false", {"type": "boolean"}, read)


def one_of(*words: str) -> Values:
    """One of these texts."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError
        return value

    quoted = [f'"{word}"' for word in words]
    return Values(f"{', '.join(quoted[:-1])} or {quoted[-1]}", {"type": "string", "enum": list(words)}, read)


def number(low: float, high: float, of: str = "") -> Values:
    """A float from `low` to `high`. of: its unit."""

    def read(value: Any) -> float:
        if type(value) not in (int, float) or not low <= value <= high:
            raise ValueError
        return float(value)

    return Values(_range("a number", low, high, of), {"type": "number", "minimum": low, "maximum": high}, read)


def whole(low: int, high: int, of: str = "") -> Values:
    """An int from `low` to `high`. of: its unit. 4.0 counts as 4, as in JSON Schema."""

    def read(value: Any) -> int:
        if type(value) not in (int, float) or not low <= value <= high or value != int(value):
            raise ValueError
        return int(value)

    return Values(_range("a whole number", low, high, of), {"type": "integer", "minimum": low, "maximum": high}, read)


def or_word(word: str, numbers: Values, *more: str) -> Values:
    """One word, or one of several, or a number."""
    words = (word, *more)

    def read(value: Any) -> Any:
        return value if isinstance(value, str) and value in words else numbers.read(value)

    # In JSON Schema, `pattern` applies only to texts, and `minimum` and `maximum` only to numbers.
    pattern = f"^{word}$" if not more else f"^({'|'.join(words)})$"
    schema = {**numbers.schema, "type": ["string", numbers.schema["type"]], "pattern": pattern}
    said = ", ".join(f'"{one}"' for one in words)
    return Values(f"{said} or {numbers.words}", schema, read)


def text(words: str) -> Values:
    """A text that is not empty."""
    return Values(words, {"type": "string", "minLength": 1}, _text)


def place(words: str) -> Values:
    """A path or an address, as text. `~` is expanded."""
    return Values(words, text(words).schema, _place)


def key_files(words: str) -> Values:
    """A dict of paths by the addresses of servers; of a path alone, by "". `~` is expanded."""

    def read(value: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            return {"": _place(value)}
        if wrong := [address for address in value if not str(address).startswith(("http://", "https://"))]:
            raise ValueError(f"{quoted(wrong[0])} in it is not the http(s):// address of a server")
        return {_text(address): _place(file) for address, file in value.items()}

    files = {"^https?://": {"type": "string", "minLength": 1}}
    schema = {"type": ["string", "object"], "minLength": 1, "patternProperties": files, "additionalProperties": False}
    return Values(words, schema, read)


def file(words: str) -> Values:
    """A Path. `~` is expanded."""
    return Values(words, text(words).schema, lambda value: Path(_place(value)))


def texts(words: str, each: str) -> Values:
    """A frozenset of texts that are not empty. each: what one of them is, in words."""

    def read(value: Any) -> frozenset[str]:
        if not isinstance(value, list | tuple):
            raise ValueError
        for item in value:
            if not isinstance(item, str) or not item:
                raise ValueError(f"{quoted(item)} in it is not {each}")
        return frozenset(value)

    return Values(words, {"type": "array", "items": {"type": "string", "minLength": 1}}, read)


def folders(words: str) -> Values:
    """A frozenset of Paths. `~` is expanded."""

    def read(value: Any) -> frozenset[Path]:
        if not isinstance(value, list | tuple):
            raise ValueError
        return frozenset(Path(_place(item)) for item in value)

    return Values(words, {"type": "array", "items": {"type": "string", "minLength": 1}}, read)


def quoted(value: Any) -> str:
    """The value as JSON for a message: shortened, and no deeper than one list."""
    inner = (_quoted(item, "[…]") for item in value[:MAX_QUOTED]) if isinstance(value, list | tuple) else ()
    return _quoted(value, f"[{', '.join(inner)}]")


def clipped(words: str) -> str:
    """The text for a message: one line, shortened, without control characters and lone surrogates."""
    return _printable(_cut(words))


def _cut(words: str) -> str:
    return words if len(words) <= MAX_QUOTED else f"{words[: MAX_QUOTED - 1]}…"


def _printable(words: str) -> str:
    return escaped(_SPACE.sub(" ", words))


def _quoted(value: Any, as_list: str) -> str:
    if isinstance(value, list | tuple):
        return clipped(as_list) if value else "[]"
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    # Python refuses to print an integer of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 4 * MAX_QUOTED:
        return "such a large number" if value > 0 else "such a small number"
    return _printable(json.dumps(_cut(value) if isinstance(value, str) else value, ensure_ascii=False))


def _range(kind: str, low: float, high: float, of: str) -> str:
    return f"{kind}{of and ' of '}{of} from {low:,} to {high:,}"


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    if _UNUSABLE.search(value):
        raise ValueError("it has a character that names and paths can't have")
    return value


def _place(value: Any) -> str:
    path = _text(value)
    if not path.startswith("~"):
        return path
    try:
        return str(Path(path).expanduser())
    except RuntimeError as error:
        raise ValueError("there is no such home folder; give the whole path") from error
