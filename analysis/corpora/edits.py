"""Edits of Python files (old and new text) from a git history, for studies of editing."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..python.source_text import UnreadableSource, decoded, lines_of
from .git_history import Change, GitRefused, Repository, changes, commits, contents, open_repository, sizes

MAX_BYTES = 1 << 18
_MAX_COMMITS = 10_000
# The contents of their edits are in memory together.
_COMMITS_AT_ONCE = 64
# lines of one text times lines of the other, without their common beginning and end
_MAX_PAIRS_OF_LINES = 1_000_000


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A commit's change of one file from old to new. Line ends, a byte order mark and all else are as they were."""

    commit: str
    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Whole lines of the old file, from old_line (counted from 1) on, that whole lines of the new one replace; either may be empty."""

    old_line: int
    old: str
    new: str


def single_edits(folder: Path) -> Iterator[FileEdit]:
    """The edits of commits that change one Python file, in the history of the repository that a folder is in, newest first.

    Merges are left out, and files that a commit adds or removes do not count. Nor is there an edit where a version has more than MAX_BYTES,
    is no text of its encoding, or is missing. The repository may be hostile: see `git_history`.

    Raises: GitError where git is not installed, or there is no repository, a shallow clone, or no commit that git can read.
    """
    repository = open_repository(folder)
    ids = commits(repository, _MAX_COMMITS)
    for i in range(0, len(ids), _COMMITS_AT_ONCE):
        found = changes(repository, ids[i : i + _COMMITS_AT_ONCE], ".py")
        counts = Counter(change.commit for change in found)
        alone = [change for change in found if counts[change.commit] == 1]
        size = sizes(repository, (name for change in alone for name in (change.old, change.new)))
        small = [change for change in alone if max(size.get(name, MAX_BYTES + 1) for name in (change.old, change.new)) <= MAX_BYTES]
        there = _contents(repository, small)
        for change in small:
            with suppress(KeyError, UnreadableSource):
                yield FileEdit(change.commit, change.path, decoded(there[change.old])[0], decoded(there[change.new])[0])


def _contents(repository: Repository, of: Sequence[Change]) -> dict[str, bytes]:
    """The contents that git can read. A damaged one makes git stop, so then those of each change are read alone."""
    try:
        return contents(repository, (name for change in of for name in (change.old, change.new)))
    except GitRefused:
        if len(of) == 1:
            return {}
    return {name: data for change in of for name, data in _contents(repository, [change]).items()}


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
    return [Hunk(head + a + 1, "".join(old_middle[a:b]), "".join(new_middle[c:d])) for a, b, c, d in places]
