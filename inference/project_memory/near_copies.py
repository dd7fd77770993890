"""Finds files that are mostly the same as another: backups, vendored copies, what a build leaves.

Files are compared by their shingles, windows of three lines that are not blank, white space at their ends aside. A file is a near copy of
another where more than half of the shingles of the smaller one stand in both: twenty at least, or half of the larger one's. Shingles that
many files share, such as those of a licence, do not count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
    """The shingles of several files, to be compared with another file's."""

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
