"""One line of a .gitignore as git reads it: https://git-scm.com/docs/gitignore. Pure functions.

No pattern takes long, whoever made it: the time of a match is at most the length of the pattern times that of the path.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

# A longer line counts as if it were not there.
_MAX_LENGTH = 500
# Spaces at the end, but for one behind a backslash.
_END = re.compile(r"(?<!\\) +$")
# A quoted character, a set of characters, stars, or another character.
_TOKEN = re.compile(r"\\(.)|\[([!^]?+)(\]?+(?:\\.|[^\]\\])*+)\]|(\*+)|([^\[\\])", re.DOTALL)
# A character of a set, or the first and the last of a range.
_RANGE = re.compile(r"\\?(.)(?:-\\?(.))?", re.DOTALL)
# What stands for any number of folders.
_ANY_FOLDERS = re.compile(r"(?:(?:^|/)\*\*(?=/|$))+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which paths a line is about, and what it says of them.

    matches: given a path, relative to the folder of the line and with slashes.
    ignores: whether these are ignored; else they are not, whatever lines before it say.
    is_of_folders: whether it is about folders alone.
    """

    matches: Callable[[str], re.Match[str] | None]
    ignores: bool
    is_of_folders: bool


def pattern_of(line: str) -> Pattern | None:
    """The pattern of a line; None for a comment, an empty line, and one that is no pattern."""
    if len(line) > _MAX_LENGTH or line.startswith("#"):
        return None
    text = _END.sub("", line)
    ignores = not text.startswith("!")
    text = text[not ignores :]
    is_of_folders = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    try:
        return Pattern(re.compile(_path(text), re.DOTALL).fullmatch, ignores, is_of_folders)
    except (ValueError, re.error):
        return None


def _path(text: str) -> str:
    """A pattern as a regular expression of whole paths."""
    if "/" not in text:  # in any folder
        return f"(?:.*/)?+{_name(text)}"
    first, *others = (run.strip("/") for run in _ANY_FOLDERS.split(text.removeprefix("/")))
    found = _names(first)
    if not others:
        return found
    # The first place where names fit is the best one, so no other is tried.
    inner = "".join(f"(?>(?:.*?/)??{_names(run)}/)" for run in others[:-1])
    return (found and f"{found}/") + inner + (f"(?:.*/)?{_names(others[-1])}" if others[-1] else ".+")


def _names(run: str) -> str:
    return "/".join(map(_name, run.split("/")))


def _name(name: str) -> str:
    """The part of a pattern between two slashes as a regular expression."""
    pieces = [""]
    position = 0
    while position < len(name):
        token = _TOKEN.match(name, position)
        if token is None:
            raise ValueError("a set without its end, or a backslash before nothing")
        quoted, negated, characters, stars, character = token.groups()
        if stars:
            pieces.append("")
        elif characters:
            pieces[-1] += _set(characters, "^" * bool(negated))
        else:
            pieces[-1] += "[^/]" if character == "?" else re.escape(quoted or character)
        position = token.end()
    first, *others = pieces
    if not others:
        return first
    # The first place where a piece fits is the best one, so no other is tried.
    return first + "".join(f"(?>[^/]*?{piece})" for piece in others[:-1]) + f"[^/]*{others[-1]}"


def _set(characters: str, negation: str) -> str:
    ranges = (re.escape(low) + (high and f"-{re.escape(high)}") for low, high in _RANGE.findall(characters))
    return f"(?!/)[{negation}{''.join(ranges)}]"
