"""Characters that drive a terminal, or that a reader does not see: in texts that others wrote they are shown escaped, as `\\x1b`.

All that a command prints goes through an `EscapingStream`. What an editor is told goes through `escaped`, where the server sends it.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import Any, TextIO

# Control characters but tab and newline; those that turn the direction of writing; ends of lines that an editor may not show as such; those
# that nothing is seen of; and halves of characters, which UTF-8 has not. What joins or varies a character is seen, but not behind ASCII.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029"
    "\u00ad\u115f\u1160\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e00ff\ud800-\udfff]"
    "|(?<![^\x00-\x7f])(?:[\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef](?!\u20e3))+"
)
_LINE = re.compile(f"[\t\n]|{_UNSEEN.pattern}")
_NAMES = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
# A sequence of ours, as `own` makes it: what others write can't know the number.
_OURS = str(secrets.randbits(63))


def escaped(text: str) -> str:
    r"""The text with `\x1b`, `\u202e` and so on for what drives a terminal or is not seen; tabs and newlines stay."""
    return _UNSEEN.sub(_as_escape, text)


def escaped_line(text: str) -> str:
    r"""The same on one line, with `\t` and `\n`: a name that is shown in a sentence must not write lines of its own."""
    return _LINE.sub(_as_escape, text)


def escaped_json(document: str) -> str:
    """The same JSON with its own escapes for these characters, which stand in strings only."""
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], document)


def unseen_in(text: str, known: str = "") -> str:
    """The first character that is shown escaped, so; empty where there is none. Of the text's lines, however they end.

    known: a text whose own such characters do not count: a file in Arabic or Hebrew is full of marks of direction.
    """
    found = (match for match in _UNSEEN.finditer(re.sub("\r\n|\r", "\n", text)) if match[0] not in known)
    return next(map(_as_escape, found), "")


def own(parameters: str) -> str:
    """A sequence of ours for a terminal, such as `31m`, which an `EscapingStream` does not escape."""
    return f"\x1b[{_OURS};{parameters}"


class EscapingStream:
    """A stream of text that shows what others wrote `escaped`, and sequences of our `own` as they are. Else it is the stream."""

    _PART = re.compile(f"(\x1b\\[){_OURS};([0-9;]*m)")

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text, escaped."""
        # Between two sequences of ours stand three parts: the text, and what the sequence is made of.
        parts = self._PART.split(text)
        self._stream.write("".join(part if number % 3 else escaped(part) for number, part in enumerate(parts)))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def exactly(self, text: str) -> None:
        """Write the text as it is."""
        self._stream.write(self._PART.sub(r"\1\2", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def write_exactly(stream: TextIO, text: str) -> None:
    """Write a text as it is: one of ours, or for a program."""
    if isinstance(stream, EscapingStream):
        stream.exactly(text)
    else:
        stream.write(text)


def _as_escape(found: re.Match[str]) -> str:
    return "".join(_NAMES.get(each) or _code(ord(each)) for each in found[0])


def _code(number: int) -> str:
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
