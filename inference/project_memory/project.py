"""The index of a project's files: made once, and again where files change."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .index import MAX_DISTINCT, Index
from .words import FIRST_WORD, Cut, Ids, Words, cut

Shingles = NDArray[np.int64]

_LINES = 3
_MIN_CHARACTERS = 4
_MAX_FILES = 16
_MIN_SHARED = 0.5
# All of a file that was just begun may stand in others: what the files of its project begin with.
_MIN_COPIED = 20


def shingles_of(text: str) -> Shingles:
    """The shingles of a text as sorted numbers, each once. They are not the same in another process."""
    lines = np.array([hash(line) for line in map(str.strip, text.split("\n")) if len(line) >= _MIN_CHARACTERS], dtype=np.int64)
    if len(lines) < _LINES:
        return np.empty(0, np.int64)
    windows = lines[:-2] * 3 + lines[1:-1] * 5 + lines[2:] * 7  # may overflow, which mixes as well
    return np.unique(windows)


class Copies:
    """The shingles of several files (windows of three lines that are not blank), to be compared with another file's.

    A file is a near copy of another (a backup, a vendored copy, what a build leaves) where more than half of the shingles of the smaller
    one stand in both: twenty at least, or half of the larger one's. Those that many files share, as of a licence, do not count.
    """

    def __init__(self, files: Sequence[Shingles]) -> None:
        numbers = np.concatenate([np.empty(0, np.int64), *files])
        owners = np.repeat(np.arange(len(files), dtype=np.int32), [len(file) for file in files])
        order = np.argsort(numbers, kind="stable")
        numbers, owners = numbers[order], owners[order]
        first = np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1]))) if len(numbers) else np.empty(0, np.int64)
        counts = np.diff(np.append(first, len(numbers)))
        rare = np.repeat(counts <= _MAX_FILES, counts)
        self._common = numbers[first[counts > _MAX_FILES]]
        self._numbers, self._owners = numbers[rare], owners[rare]
        self._sizes = np.bincount(self._owners, minlength=len(files))

    def of(self, shingles: Shingles) -> NDArray[np.bool_]:
        """For each file whether it is a near copy of one with these shingles."""
        own = np.setdiff1d(shingles, self._common, assume_unique=True)
        low, high = np.searchsorted(self._numbers, own, side="left"), np.searchsorted(self._numbers, own, side="right")
        known = high > low
        places = zip(low[known].tolist(), high[known].tolist(), strict=True)
        found = np.concatenate([np.empty(0, np.int64), *(self._owners[a:b] for a, b in places)])
        shared = np.bincount(found, minlength=len(self._sizes))
        is_much = (shared >= _MIN_COPIED) | (shared > _MIN_SHARED * np.maximum(self._sizes, len(own)))
        return is_much & (shared > _MIN_SHARED * np.minimum(self._sizes, len(own)))


# What a project may have, which is about 9 million tokens and 120 MB of memory.
MAX_WORDS = 6_000_000
# A name is looked up by its first letters: shorter ones stand in too many places.
_SHORTEST_NAME = 3
# Words that no longer stand in any file are forgotten when so many times as many are known as used, and so many at least.
_MAX_STALE = 2
_MIN_WORDS = 50_000


class ProjectTooLarge(ValueError):
    """A project has more words than are kept in memory; the message says how many."""


@dataclass(frozen=True, slots=True)
class _File:
    cut: Cut
    shingles: Shingles


class Project:
    """The files of a project as they were. It never changes, and threads may share it.

    Attributes
        paths: of the files, in the order of the index's texts.
    """

    def __init__(self, words: Words, files: Mapping[str, _File]) -> None:
        self.paths = tuple(files)
        self.index = Index(words, [file.cut for file in files.values()])
        self._copies = Copies([file.shingles for file in files.values()])

    def others(self, path: str, text: str) -> NDArray[np.bool_]:
        """For each file whether it is another than this one, and no near copy of it."""
        own = np.array([each == path for each in self.paths], dtype=np.bool_)
        return ~(own | self._copies.of(shingles_of(text)))


class ProjectFiles:
    """Takes the files of a project one by one, and gives the project as it is at any time. For one thread.

    A file of 37 kB takes 3 ms, in pieces of less than one, so that another thread never waits long for the interpreter.
    """

    def __init__(self) -> None:
        self._words = Words(_SHORTEST_NAME)
        self._files: dict[str, _File] = {}
        self._size = 0

    def add(self, path: str, text: str) -> None:
        """Take a file, or another text of one. Raises ProjectTooLarge, and then is as before."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        file = _File(cut(text, self._words), shingles_of(text))
        old = self._files.get(path)
        size = self._size + len(file.cut.ids) - (len(old.cut.ids) if old else 0)
        if size > MAX_WORDS or len(self._words.texts) > MAX_DISTINCT:
            raise ProjectTooLarge(
                f"with {path} the project has {size:,} words, and {len(self._words.texts):,} different ones; "
                f"the memory keeps at most {MAX_WORDS:,} and {MAX_DISTINCT:,}"
            )
        self._files[path], self._size = file, size

    def remove(self, path: str) -> None:
        """Leave a file out. One that is not there is none."""
        if (old := self._files.pop(path, None)) is not None:
            self._size -= len(old.cut.ids)

    def project(self) -> Project:
        """The project as it is now; a tenth of a second for a million words."""
        made = Project(self._words, self._files)
        used = np.unique(made.index.ids)
        if len(self._words.texts) > _MAX_STALE * len(used) + _MIN_WORDS:
            self._forget_all_but(used)
            made = Project(self._words, self._files)
        self._files = {path: replace(file, cut=cut) for (path, file), cut in zip(self._files.items(), made.index.cuts, strict=True)}
        _give_memory_back()
        return made

    def _forget_all_but(self, used: Ids) -> None:
        """Give the words that still stand in a file new ids."""
        words, texts = Words(_SHORTEST_NAME), self._words.texts
        new = np.zeros(len(texts), dtype=np.int32)
        new[:FIRST_WORD] = range(FIRST_WORD)
        for old in used.tolist():
            if old >= FIRST_WORD:
                new[old] = words[texts[old]]
        self._words = words
        self._files = {path: replace(file, cut=replace(file.cut, ids=new[file.cut.ids])) for path, file in self._files.items()}


def _give_memory_back() -> None:
    """Give what sorting needed back to the system. glibc keeps it, which is as much again as the index has."""
    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def project_of(files: Iterable[tuple[str, str]]) -> Project:
    """The project of these files, path and text each. Raises ProjectTooLarge."""
    gathered = ProjectFiles()
    for path, text in files:
        gathered.add(path, text)
    return gathered.project()
