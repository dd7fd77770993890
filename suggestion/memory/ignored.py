"""What git ignores in a folder: by its .gitignore files, by what a repository excludes for itself, and by the user's own file."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ...inference.regular_file import read_regular_file

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


GITIGNORE, GIT = ".gitignore", ".git"
_ASKED_S = 5.0
# A project's rules may come from anywhere. What goes beyond these counts as if it were not there.
_MAX_BYTES = 1 << 20
# All that hold in one folder together.
_MAX_PATTERNS = 5_000

# The folder that patterns count from, and the patterns; those of an inner folder come later and count more.
Rules = tuple[tuple[Path, tuple[Pattern, ...]], ...]


def rules_above(root: Path) -> Rules:
    """The rules that hold in a folder from above it: those of the user, and of the repository that it is in.

    Of a repository that ignores the folder none hold: somebody opened the folder on purpose.
    """
    repository = next((folder for folder in (root, *root.parents) if (folder / GIT).exists()), None)
    users = _with_lines((), repository or root, _lines_of(_users_file()))
    if repository is None or repository == root:
        return users
    rules, inner = _with_excluded(users, repository), root.relative_to(repository)
    for below in (*reversed(inner.parents), inner):
        folder = repository / below
        if folder != repository and is_ignored(folder, rules, is_folder=True):
            return users
        if folder != root:
            rules = _with_lines(rules, folder, _lines_of(folder / GITIGNORE))
    return rules


def with_rules_of(rules: Rules, folder: Path, names: Iterable[str]) -> Rules:
    """The rules that hold in a folder with these names in it, given those of the folder above."""
    if GIT in names:
        rules = _with_excluded(rules, folder)
    return _with_lines(rules, folder, _lines_of(folder / GITIGNORE)) if GITIGNORE in names else rules


def is_ignored(path: Path, rules: Rules, *, is_folder: bool) -> bool:
    """Whether git ignores a path. What is in an ignored folder is not asked for: git does not look there."""
    for base, patterns in reversed(rules):
        relative = path.relative_to(base).as_posix()
        for pattern in reversed(patterns):
            if (is_folder or not pattern.is_of_folders) and pattern.matches(relative):
                return pattern.ignores
    return False


@functools.cache
def _users_file() -> Path:
    """The file with what the user has every repository ignore."""
    asked = ["git", "config", "--type=path", "--get", "core.excludesFile"]
    with suppress(OSError, subprocess.SubprocessError):
        # Asked in the root folder, where no project's own settings count.
        said = subprocess.run(asked, cwd="/", capture_output=True, timeout=_ASKED_S, check=True, stdin=subprocess.DEVNULL)
        if said.stdout.strip():
            return Path(os.fsdecode(said.stdout.strip()))
    settings = os.environ.get("XDG_CONFIG_HOME")
    return (Path(settings) if settings else Path("~/.config").expanduser()) / "git" / "ignore"


def _with_excluded(rules: Rules, repository: Path) -> Rules:
    """With what a repository excludes for itself alone. Of a work tree that is in the repository which it belongs to."""
    git = repository / GIT
    if pointer := "".join(_lines_of(git)[:1]):
        git = repository / pointer.removeprefix("gitdir:").strip()
    if common := "".join(_lines_of(git / "commondir")[:1]):
        git /= common
    return _with_lines(rules, repository, _lines_of(git / "info" / "exclude"))


def _with_lines(rules: Rules, base: Path, lines: Iterable[str]) -> Rules:
    free = _MAX_PATTERNS - sum(len(patterns) for _, patterns in rules)
    patterns = tuple(islice(filter(None, map(pattern_of, lines)), free))
    return (*rules, (base, patterns)) if patterns else rules


def _lines_of(file: Path) -> list[str]:
    """Its lines without those that hold a NUL, which no name can; none where it can't be read."""
    try:
        lines = read_regular_file(file, _MAX_BYTES).decode("utf-8-sig", "replace").splitlines()
    except OSError:
        return []
    return [line for line in lines if "\0" not in line]
