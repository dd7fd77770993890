"""What a model of this process brings for being asked in chat: its template, and the control tokens that this places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ControlToken:
    """A control token. strips_before, strips_behind: whether white space there is a part of it."""

    id: int
    strips_before: bool = False
    strips_behind: bool = False


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """How a model is asked in chat.

    Attributes
        template: in Jinja.
        named: what the template finds under these names, such as bos_token.
        controls: the control tokens, by their spelling.
        beginning: the tokens that each prompt begins with.
        tokenize: the tokens of a text between two control tokens, none of which is one. True: it is the beginning of all.
        hashed: whether the model's fingerprint says which template it is.
    """

    template: str
    named: Mapping[str, str]
    controls: Mapping[str, ControlToken]
    beginning: tuple[int, ...]
    tokenize: Callable[[str, bool], list[int]]
    hashed: bool
