"""Which files of a project's folder its memory reads: code that is the project's own, no secrets, nothing that git ignores."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from ...analysis.python.source_text import UnreadableSource, text_of
from ...inference.project_memory.project import ProjectTooLarge
from ...inference.regular_file import read_regular_file
from ..languages import is_code, language_of
from ..secrets import is_secret_path
from .ignored import Rules, is_ignored, rules_above, with_rules_of

# More is no code that people write, but data or what a tool made.
MAX_BYTES = 400_000
_MAX_LINE = 5_000
# A home folder, or a disk.
MAX_ENTRIES = 200_000
# A drive that hardly answers, or rules that are made to take long.
MAX_LISTING_S = 60.0
# Folders in folders; people's code lies less deep.
MAX_DEPTH = 100
# What others wrote, whatever git says.
_VENDORED = frozenset({"node_modules", "bower_components", "site-packages", "vendor", "_vendor", "vendored", "third_party"})
# What a build leaves in a project's root.
_BUILT = frozenset({"build", "dist", "out", "target"})
_MADE_BY_PYTHON = "__pycache__"
_ENVIRONMENT = "pyvenv.cfg"

# What changes whenever a file does.
Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a folder.

    files: by path, relative and with slashes, with the version.
    watched: folders in which these files may change, and whether everything below such a folder is looked at, too.
    """

    files: dict[str, Version]
    watched: list[tuple[Path, bool]]


def listing(root: Path) -> Listing:
    """What a project's memory reads of its folder, by names and sizes; nothing where there is no such folder. Links are not followed.

    Raises ProjectTooLarge.
    """
    walk = _Walk()
    return Listing(walk.files, walk.entered(root, "", rules_above(root)))


def is_own_code(path: str) -> bool:
    """Whether the memory reads a file of a project, by its path, relative and with slashes; what git ignores aside."""
    *folders, name = PurePosixPath(path).parts
    left_out = any(_is_left_out(folder, at_root=number == 0) for number, folder in enumerate(folders))
    return not left_out and is_code(name) and not is_secret_path(path)


def code_in(path: Path) -> str | None:
    """The text of a file; None where it can't be read, or is not code that people write."""
    try:
        data = read_regular_file(path, MAX_BYTES, follow=False)
    except OSError:
        return None
    if b"\0" in data:
        return None
    try:
        return as_code(text_of(data, python=language_of(path.name) == "python"))
    except UnreadableSource:
        return as_code(data.decode("utf-8", "replace"))


def as_code(text: str) -> str | None:
    """The text if people may have written it: a line of 5,000 characters is a tool's."""
    text = text.removeprefix("\ufeff")
    return text if len(text) <= MAX_BYTES and max(map(len, text.splitlines()), default=0) <= _MAX_LINE else None


def files_in(root: Path) -> Iterator[tuple[str, str]]:
    """Path and text of each file that the memory of a folder reads, in order. Raises ProjectTooLarge."""
    for path in sorted(listing(root).files):
        if (text := code_in(root / path)) is not None:
            yield path, text


class _Walk:
    """One look at a folder and all below it."""

    def __init__(self) -> None:
        self.files: dict[str, Version] = {}
        self._entries = 0
        self._began = time.monotonic()

    def entered(self, folder: Path, relative: str, rules: Rules) -> list[tuple[Path, bool]]:
        """Take the files of a folder and of those below. Returns what to watch for them."""
        try:
            with os.scandir(folder) as found:
                entries = sorted(islice(found, MAX_ENTRIES + 1), key=lambda entry: entry.name)
        except OSError:
            return []
        names = {entry.name for entry in entries}
        if _ENVIRONMENT in names or relative.count("/") > MAX_DEPTH:
            return []
        self._entries += len(entries)
        if self._entries > MAX_ENTRIES:
            raise ProjectTooLarge(f"there are more than {MAX_ENTRIES:,} files and folders")
        rules = with_rules_of(rules, folder, names)
        below: list[tuple[Path, bool]] = []
        is_whole = True
        for entry in entries:
            if time.monotonic() - self._began > MAX_LISTING_S:
                raise ProjectTooLarge(f"listing its files takes longer than {MAX_LISTING_S:g} s")
            path = folder / entry.name
            if entry.is_symlink():
                continue
            if not entry.is_dir(follow_symlinks=False):
                self._file(entry, path, relative + entry.name, rules)
                continue
            inner = []
            if not _is_left_out(entry.name, at_root=not relative) and not is_ignored(path, rules, is_folder=True):
                inner = self.entered(path, f"{relative}{entry.name}/", rules)
            below += inner
            is_whole = is_whole and (inner == [(path, True)] or entry.name == _MADE_BY_PYTHON)
        return [(folder, True)] if is_whole else [(folder, False), *below]

    def _file(self, entry: os.DirEntry[str], path: Path, name: str, rules: Rules) -> None:
        if not is_code(entry.name) or is_secret_path(name) or is_ignored(path, rules, is_folder=False):
            return
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # it is gone
            return
        if 0 < status.st_size <= MAX_BYTES and entry.is_file(follow_symlinks=False):
            self.files[name] = (status.st_mtime_ns, status.st_size, status.st_ino)


def _is_left_out(folder: str, *, at_root: bool) -> bool:
    return folder.startswith(".") or folder in _VENDORED or folder == _MADE_BY_PYTHON or (at_root and folder in _BUILT)
