"""The kinds of values that settings have. Each function gives one kind: in words, as JSON Schema, and what is made of a value."""

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
_TEXT = {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Values:
    """The possible values of a setting.

    words: follows "it may be" in a message. schema: as JSON Schema, by which a value is checked. made: what the settings hold of a value
    that fits. It raises ValueError, with a message where `words` does not explain what is wrong. each: what one of a list is, in words.
    """

    words: str
    schema: Mapping[str, Any]
    made: Callable[[Any], Any] = lambda value: value
    each: str = ""

    def read(self, value: Any) -> Any:
        """Parse a value from JSON. Raises ValueError, as `made` does."""
        if fits(self.schema, value):
            return self.made(value)
        wrong = [item for item in value if not fits(self.schema["items"], item)] if self.each and isinstance(value, list | tuple) else []
        raise ValueError(f"{quoted(wrong[0])} in it is not {self.each}" if wrong else "")


def fits(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a schema allows a value, as far as our schemas go; what an object has in it is not looked at. 4.0 is a whole number."""
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, str):
        is_one = value in schema.get("enum", (value,)) and len(value) >= schema.get("minLength", 0)
        return "string" in kinds and is_one and re.fullmatch(schema.get("pattern", "(?s).*"), value) is not None
    if isinstance(value, int | float):
        is_within = "minimum" in schema and schema["minimum"] <= value <= schema["maximum"]
        return is_within and ("number" in kinds or ("integer" in kinds and value == int(value)))
    if isinstance(value, list | tuple):
        return "array" in kinds and all(fits(schema["items"], item) for item in value)
    return isinstance(value, dict) and "object" in kinds


def switch() -> Values:
    """True or false, but not 1 or "true"."""
    return Values("true or false", {"type": "boolean"})


def one_of(*words: str) -> Values:
    """One of these texts."""
    quoted = [f'"{word}"' for word in words]
    return Values(f"{', '.join(quoted[:-1])} or {quoted[-1]}", {"type": "string", "enum": list(words)})


def number(low: float, high: float, of: str = "") -> Values:
    """A float from `low` to `high`. of: its unit."""
    return Values(_range("a number", low, high, of), {"type": "number", "minimum": low, "maximum": high}, float)


def whole(low: int, high: int, of: str = "") -> Values:
    """An int from `low` to `high`. of: its unit."""
    return Values(_range("a whole number", low, high, of), {"type": "integer", "minimum": low, "maximum": high}, int)


def or_word(word: str, numbers: Values, *more: str) -> Values:
    """One word, or one of several, or a number."""
    words = (word, *more)
    # In JSON Schema, `pattern` applies only to texts, and `minimum` and `maximum` only to numbers.
    pattern = f"^{word}$" if not more else f"^({'|'.join(words)})$"
    schema = {**numbers.schema, "type": ["string", numbers.schema["type"]], "pattern": pattern}
    said = ", ".join(f'"{one}"' for one in words)
    return Values(f"{said} or {numbers.words}", schema, lambda value: value if isinstance(value, str) else numbers.made(value))


def text(words: str) -> Values:
    """A text that is not empty."""
    return Values(words, _TEXT, _text)


def place(words: str) -> Values:
    """A path or an address, as text. `~` is expanded."""
    return Values(words, _TEXT, _place)


def key_files(words: str) -> Values:
    """A dict of paths by the addresses of servers; of a path alone, by "". `~` is expanded."""

    def made(value: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            return {"": _place(value)}
        if wrong := [address for address in value if not str(address).startswith(("http://", "https://"))]:
            raise ValueError(f"{quoted(wrong[0])} in it is not the http(s):// address of a server")
        return {_text(address): _place(file) for address, file in value.items()}

    schema = {"type": ["string", "object"], "minLength": 1, "patternProperties": {"^https?://": _TEXT}, "additionalProperties": False}
    return Values(words, schema, made)


def file(words: str) -> Values:
    """A Path. `~` is expanded."""
    return Values(words, _TEXT, lambda value: Path(_place(value)))


def texts(words: str, each: str) -> Values:
    """A frozenset of texts that are not empty. each: what one of them is, in words."""
    return Values(words, {"type": "array", "items": _TEXT}, frozenset, each)


def folders(words: str) -> Values:
    """A frozenset of Paths. `~` is expanded."""
    return Values(words, {"type": "array", "items": _TEXT}, lambda value: frozenset(Path(_place(item)) for item in value))


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
