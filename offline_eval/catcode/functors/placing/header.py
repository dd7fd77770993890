"""What is given of a function that is to be written, and what a language has to know of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Protocol

# What a function is called where its own name would tell what it does.
NEUTRAL = "solve"


@dataclass(frozen=True, slots=True)
class Header:
    """What stands above a function's body, without comments.

    above: whole lines before the signature, such as imports and functions that are given, too. signature: to the end of its last line.
    name: of the function.
    """

    above: str
    signature: str
    name: str

    @property
    def text(self) -> str:
        """All of it."""
        return self.above + self.signature

    def called(self, name: str) -> Header:
        """The same under another name of the function."""
        return replace(self, above=renamed(self.above, self.name, name), signature=renamed(self.signature, self.name, name), name=name)


class NoHeader(ValueError):
    """No function can be found in what is given of a program; the message says why."""


class Placing(Protocol):
    """A language, as a module.

    header_of: the header in a published prompt. name: of the function; None for the last one. Raises NoHeader.
    placed: the whole program of an answer's code, which may be the function with all that it needs, or its body alone.
    parses: whether a program is of the language, as far as its grammar tells.
    anonymous: a program with the function called NEUTRAL, without what else tells its purpose or its types, where the language can do
    without.
    """

    def header_of(self, prompt: str, name: str | None) -> Header: ...  # noqa: D102
    def placed(self, header: Header, code: str) -> str: ...  # noqa: D102
    def parses(self, program: str) -> bool: ...  # noqa: D102
    def anonymous(self, program: str, name: str) -> str: ...  # noqa: D102


def renamed(code: str, name: str, other: str) -> str:
    """The code with every word that is a name written otherwise."""
    return re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", other, code)
