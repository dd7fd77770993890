"""What git ignores in a folder: by its .gitignore files, by what a repository excludes for itself, and by the user's own file."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

from ...inference.regular_file import read_regular_file
from .pattern import Pattern, pattern_of

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
