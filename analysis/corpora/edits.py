"""Edits of source files (old and new text) from a git history, for studies of editing."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..python.source_text import UnreadableSource, decoded, lines_of
from .git_history import (
    TIMEOUT_S,
    Change,
    GitRefused,
    Repository,
    TooMuchOutput,
    changes,
    commits,
    contents,
    message,
    open_repository,
    sizes,
)

MAX_BYTES = 1 << 18
MAX_COMMITS = 10_000
_COMMITS_AT_ONCE = 64
_BYTES_AT_ONCE = 1 << 24
# lines of one text times lines of the other, without their common beginning and end
_MAX_PAIRS_OF_LINES = 1_000_000


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A commit's change of one file from old to new. old_path differs from path where the commit also renamed it.

    Line ends, a byte order mark and all else are as they were; old_encoding and encoding say how to get the bytes again.
    """

    commit: str
    message: str
    old_path: str
    path: str
    old: str
    new: str
    old_encoding: str
    encoding: str


@dataclass(frozen=True, slots=True)
class SkippedChange:
    """A change that is left out, and why. path: empty where the whole commit is left out."""

    commit: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Whole lines of the old file that whole lines of the new one replace; either may be empty. Lines are numbered from 1."""

    old_line: int
    new_line: int
    old: str
    new: str


def read_edits(
    folder: Path,
    *,
    revision: str = "HEAD",
    max_commits: int = MAX_COMMITS,
    suffixes: Sequence[str] = (".py",),
    max_bytes: int = MAX_BYTES,
    timeout_s: float = TIMEOUT_S,
) -> Iterator[FileEdit | SkippedChange]:
    """Each edit of a file in the history of the repository that a folder is in, newest commits first, as it is read.

    Merges, and files that were added or removed, are left out. The repository may be hostile: see `git_history`.

    Parameters:
        max_bytes: of either version, and of a commit's message. What is larger, not text, or missing gives a SkippedChange.
        timeout_s: of each call of git.

    Raises: GitError where git is not installed, or there is no repository, a shallow clone, or no such revision that git can read.
    """
    repository = open_repository(folder, timeout_s=timeout_s)
    ids = commits(repository, revision, max_commits)
    for i in range(0, len(ids), _COMMITS_AT_ONCE):
        yield from _edits_of(repository, ids[i : i + _COMMITS_AT_ONCE], suffixes, max_bytes)


def hunks(edit: FileEdit) -> list[Hunk]:
    """The lines that an edit changed, in the file's order, as few as difflib finds; a very large change is one hunk."""
    old, new = lines_of(edit.old), lines_of(edit.new)
    shortest = min(len(old), len(new))
    head = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    tail = next((i for i in range(shortest - head) if old[-1 - i] != new[-1 - i]), shortest - head)
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(old_middle) * len(new_middle) > _MAX_PAIRS_OF_LINES:
        places = [(0, len(old_middle), 0, len(new_middle))]
    else:
        codes = difflib.SequenceMatcher(None, old_middle, new_middle).get_opcodes()
        places = [(a, b, c, d) for tag, a, b, c, d in codes if tag != "equal"]
    return [Hunk(head + a + 1, head + c + 1, "".join(old_middle[a:b]), "".join(new_middle[c:d])) for a, b, c, d in places]


def _edits_of(repository: Repository, ids: Sequence[str], suffixes: Sequence[str], max_bytes: int) -> Iterator[FileEdit | SkippedChange]:
    try:
        found = changes(repository, ids, suffixes)
    except TooMuchOutput as error:
        if len(ids) == 1:
            yield SkippedChange(ids[0], "", str(error))
        else:
            for name in ids:
                yield from _edits_of(repository, [name], suffixes, max_bytes)
        return
    size = sizes(repository, dict.fromkeys(name for change in found for name in (change.commit, change.old, change.new)))
    wanted = []
    for change in found:
        if reason := _reason_to_skip(change, size, max_bytes):
            yield SkippedChange(change.commit, change.path, reason)
        else:
            wanted.append(change)
    for part in _parts(wanted, size):
        there = _readable_objects(repository, dict.fromkeys(name for change in part for name in (change.commit, change.old, change.new)))
        yield from (_edit(change, there) for change in part)


def _reason_to_skip(change: Change, size: Mapping[str, int], max_bytes: int) -> str | None:
    for what, name in (("old version", change.old), ("new version", change.new), ("commit", change.commit)):
        if name not in size:
            return f"the {what} is not in the repository: a partial clone?"
        if size[name] > max_bytes:
            return f"the {what} has {size[name]} bytes, more than {max_bytes}"
    return None


def _parts(found: Sequence[Change], size: Mapping[str, int]) -> Iterator[list[Change]]:
    """Split changes into parts whose contents fit into memory."""
    part: list[Change] = []
    total = 0
    for change in found:
        own = sum(size[name] for name in (change.commit, change.old, change.new))
        if part and total + own > _BYTES_AT_ONCE:
            yield part
            part, total = [], 0
        part.append(change)
        total += own
    if part:
        yield part


def _readable_objects(repository: Repository, ids: Mapping[str, None]) -> dict[str, bytes]:
    """The objects that git can read. A damaged one makes git stop, so then each is read alone."""
    try:
        return contents(repository, ids)
    except GitRefused:
        if len(ids) == 1:
            return {}
    return {name: data for each in ids for name, data in _readable_objects(repository, {each: None}).items()}


def _edit(change: Change, there: Mapping[str, bytes]) -> FileEdit | SkippedChange:
    try:
        said, old, new = message(there[change.commit]), decoded(there[change.old]), decoded(there[change.new])
    except KeyError:
        return SkippedChange(change.commit, change.path, "git can't read it: a damaged object?")
    except UnreadableSource as error:
        return SkippedChange(change.commit, change.path, str(error))
    return FileEdit(change.commit, said, change.old_path, change.path, old[0], new[0], old[1], new[1])
