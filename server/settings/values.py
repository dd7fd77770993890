"""What a setting may be: in words, as JSON Schema, and as the check that reads it, each kind of value from one function."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...calibration.control_characters import strip_control_characters

# A value or a name is shown to the user up to here: enough to find it again.
SHOWN = 60
# What no path and no message to another process can hold: JSON can.
_UNUSABLE = re.compile(r"[\x00\ud800-\udfff]")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Values:
    """What a setting may be: in words that follow "it may be", as JSON Schema, and as the check that gives the typed value.

    read takes what JSON gave. It raises ValueError; a message in it is the reason, where the words are not reason enough.
    """

    words: str
    schema: Mapping[str, Any]
    read: Callable[[Any], Any]


def switch() -> Values:
    """True or false, and not 1 or "true"."""

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
    """A float, both ends allowed; of: its unit."""

    def read(value: Any) -> float:
        if type(value) not in (int, float) or not low <= value <= high:
            raise ValueError
        return float(value)

    return Values(_range("a number", low, high, of), {"type": "number", "minimum": low, "maximum": high}, read)


def whole(low: int, high: int, of: str = "") -> Values:
    """An int, both ends allowed; of: its unit. 4.0 is 4, as in JSON Schema: JSON has one kind of number."""

    def read(value: Any) -> int:
        if type(value) not in (int, float) or not low <= value <= high or value != int(value):
            raise ValueError
        return int(value)

    return Values(_range("a whole number", low, high, of), {"type": "integer", "minimum": low, "maximum": high}, read)


def or_word(word: str, numbers: Values) -> Values:
    """This word, or a number of these."""

    def read(value: Any) -> Any:
        return value if isinstance(value, str) and value == word else numbers.read(value)

    # In JSON Schema a pattern says nothing of numbers, nor do minimum and maximum of texts.
    schema = {**numbers.schema, "type": ["string", numbers.schema["type"]], "pattern": f"^{word}$"}
    return Values(f'"{word}" or {numbers.words}', schema, read)


def text(words: str) -> Values:
    """A text that is not empty."""
    return Values(words, {"type": "string", "minLength": 1}, _text)


def place(words: str) -> Values:
    """A path or an address, as text, its home folder written out."""
    return Values(words, text(words).schema, _place)


def file(words: str) -> Values:
    """A Path, its home folder written out."""
    return Values(words, text(words).schema, lambda value: Path(_place(value)))


def texts(words: str, each: str) -> Values:
    """A frozenset of texts that are not empty; each: what one of them is."""

    def read(value: Any) -> frozenset[str]:
        if not isinstance(value, list | tuple):
            raise ValueError
        for item in value:
            if not isinstance(item, str) or not item:
                raise ValueError(f"{shown(item)} in it is not {each}")
        return frozenset(value)

    return Values(words, {"type": "array", "items": {"type": "string", "minLength": 1}}, read)


def shown(value: Any) -> str:
    """The value as JSON for a message, as far as that fits and no deeper than one list."""
    inner = (_shown(item, "[…]") for item in value[:SHOWN]) if isinstance(value, list | tuple) else ()
    return _shown(value, f"[{', '.join(inner)}]")


def clipped(words: str) -> str:
    """The text as a message can hold it: one line, not too long, and nothing in it that a terminal or UTF-8 can't bear."""
    return _bearable(_cut(words))


def _cut(words: str) -> str:
    return words if len(words) <= SHOWN else f"{words[: SHOWN - 1]}…"


def _bearable(words: str) -> str:
    return strip_control_characters(_SPACE.sub(" ", words)).encode("utf-8", "replace").decode()


def _shown(value: Any, as_list: str) -> str:
    if isinstance(value, list | tuple):
        return clipped(as_list) if value else "[]"
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    # Python refuses to write out an integer of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 4 * SHOWN:
        return "so great a number" if value > 0 else "so small a number"
    return _bearable(json.dumps(_cut(value) if isinstance(value, str) else value, ensure_ascii=False))


def _range(kind: str, low: float, high: float, of: str) -> str:
    return f"{kind}{of and ' of '}{of} from {low:,} to {high:,}"


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    if _UNUSABLE.search(value):
        raise ValueError("there is a character in it that names and paths can't have")
    return value


def _place(value: Any) -> str:
    path = _text(value)
    if not path.startswith("~"):
        return path
    try:
        return str(Path(path).expanduser())
    except RuntimeError as error:
        raise ValueError("there is no such home folder, give the whole path") from error
