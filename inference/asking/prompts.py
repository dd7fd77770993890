"""Prompts as versioned files of plain text.

A file begins with `assay/prompt/1` and `version: N`. A line `=== ROLE` begins a message (system, user or assistant), which reaches to the
next such line, without white space around it. `{{name}}` is a slot. A change of the text is a new version, and another question.

    assay/prompt/1
    version: 1
    === user
    Describe this program in one sentence.
    {{program}}
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from ..errors import BadPromptFile
from ..regular_file import read_regular_file
from .asker import Message, Role

_FORMAT = "assay/prompt/1"
_MAX_BYTES = 1 << 20
_VERSION = re.compile(r"version: ([1-9]\d{0,5})")
_BEGINNING = re.compile(r"=== (\w+)")
_SLOT = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A prompt. messages: with their slots. fingerprint: SHA-256 of the file, in hex."""

    version: int
    messages: tuple[Message, ...]
    fingerprint: str

    @property
    def slots(self) -> frozenset[str]:
        """The names of the slots."""
        return frozenset(name for message in self.messages for name in _SLOT.findall(message.text))

    def render(self, **slots: str) -> tuple[Message, ...]:
        """The messages with each slot's text in its place, as it is: what looks like a slot in it is none.

        Raises ValueError where a slot is missing or there is none of that name.
        """
        if slots.keys() != self.slots:
            raise ValueError(f"slots {sorted(slots)} were given, the prompt has {sorted(self.slots)}")
        return tuple(Message(message.role, _SLOT.sub(lambda slot: slots[slot[1]], message.text)) for message in self.messages)


def load_prompt(path: Path) -> PromptFile:
    """Read a prompt. Raises BadPromptFile, which says where it is wrong."""
    try:
        data = read_regular_file(path, _MAX_BYTES)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadPromptFile(path, 1, f"can't be read ({getattr(error, 'strerror', None) or 'it is no text'})") from error
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[:1] != [_FORMAT]:
        raise BadPromptFile(path, 1, f'the first line is not "{_FORMAT}"')
    version = _VERSION.fullmatch("".join(lines[1:2]))
    if version is None:
        raise BadPromptFile(path, 2, 'the second line is not "version: N"')
    return PromptFile(int(version[1]), _messages(path, lines), hashlib.sha256(data).hexdigest())


def _messages(path: Path, lines: list[str]) -> tuple[Message, ...]:
    begun: list[tuple[int, Role, list[str]]] = []
    for number, line in enumerate(lines[2:], start=3):
        if beginning := _BEGINNING.fullmatch(line):
            role = next((role for role in get_args(Role) if role == beginning[1]), None)
            if role is None:
                raise BadPromptFile(path, number, f'"{beginning[1]}" is no role: {", ".join(get_args(Role))}')
            begun.append((number, role, []))
        elif begun:
            begun[-1][2].append(line)
        elif line.strip():
            raise BadPromptFile(path, number, 'text before the first "=== ROLE"')
    messages = tuple(Message(role, "\n".join(text).strip()) for _, role, text in begun)
    for (number, *_), message in zip(begun, messages, strict=True):
        if not message.text:
            raise BadPromptFile(path, number, "the message is empty")
    if not any(message.role == "user" for message in messages):
        raise BadPromptFile(path, len(lines), "no message is the user's")
    return messages
