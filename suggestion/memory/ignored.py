"""What git ignores in a folder: by its .gitignore files, by what a repository excludes for itself, and by the user's own file."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec

from ...inference.regular_file import read_regular_file

GITIGNORE, GIT = ".gitignore", ".git"
_ASKED_S = 5.0
# A project's rules may come from anywhere. What goes beyond these counts as if it were not there.
_MAX_BYTES = 1 << 20
_MAX_PATTERNS = 5_000
# Each further star multiplies the time of a match by the length of the name: with four, one name may take a second.
_MAX_STARS = 3
# But for those that mean "in any folder" and "all below".
_ANYWHERE = re.compile(r"^!?(?:\*\*/)?(.*?)(?:/\*\*)?\s*$", re.DOTALL)

# The folder that patterns count from, and the patterns; those of an inner folder come later and count more.
Rules = tuple[tuple[Path, GitIgnoreSpec], ...]


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
    for base, spec in reversed(rules):
        found = spec.check_file(path.relative_to(base).as_posix() + "/" * is_folder).include
        if found is not None:
            return found
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
    patterns: list[Any] = []  # of classes that changed from version to version
    for line in islice(lines, _MAX_PATTERNS):
        if not _is_quick(line):
            continue
        # Like git, go on without a pattern that is none; `re.error` is no ValueError.
        with suppress(Exception):
            patterns += GitIgnoreSpec.from_lines([line]).patterns
    return (*rules, (base, GitIgnoreSpec(patterns))) if patterns else rules


def _is_quick(pattern: str) -> bool:
    """Whether a name can be matched in a moment, however it is made."""
    found = _ANYWHERE.match(pattern)
    return found is not None and found[1].replace("**/", "*").count("*") <= _MAX_STARS


def _lines_of(file: Path) -> list[str]:
    try:
        return read_regular_file(file, _MAX_BYTES).decode("utf-8-sig", "replace").splitlines()
    except OSError:
        return []
