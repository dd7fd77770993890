"""Walking through folders that may be huge, unreadable or linked in circles."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

# What could not be read, one sentence each, for people.
Notes = list[str]

# Of one folder and all below. Programs keep models at most five folders down.
MAX_DEPTH = 8
MAX_ENTRIES = 50_000


def walk(
    folder: Path, notes: Notes, *, depth: int = MAX_DEPTH, entries: int = MAX_ENTRIES, enter: Callable[[Path], bool] | None = None
) -> Iterator[Path]:
    """The files below a folder, those of a folder before those of its folders, each by name. Nothing where there is no such folder.

    Links are followed, and no folder is entered twice. A folder that can't be read, and a bound that is reached, are noted.

    depth: how many folders deep; entries: how many files and folders are looked at. enter: whether to go into a folder below.
    """
    left = entries
    seen: set[tuple[int, int]] = set()
    waiting = [(folder, 0)]
    while waiting:
        current, level = waiting.pop(0)
        try:
            status = current.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(current) as items:
                found = sorted(islice(items, left + 1), key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except NotADirectoryError:
            notes.append(f"{current}: not a folder")
            continue
        except (OSError, ValueError) as error:
            notes.append(f"{current}: can't be read ({getattr(error, 'strerror', None) or error})")
            continue
        for entry in found:
            if left == 0:
                notes.append(f"{folder}: only its first {entries:,} files and folders were looked at")
                return
            left -= 1
            path = current / entry.name
            if not _is_folder(entry):
                yield path
            elif level < depth and (enter is None or enter(path)):
                waiting.append((path, level + 1))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
