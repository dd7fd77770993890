"""What a place holds: a file or a folder that looks like a model, before it is read; and what a place is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

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


System = Literal["linux", "macos", "windows"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A user's home on a system, with the variables of the environment."""

    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    system: System = "linux"

    def variable(self, name: str) -> Path | None:
        """The folder that a variable of the environment names, or None. A "~" at its beginning is the home."""
        value = self.environ.get(name, "").strip().strip("\"'")
        if value == "~" or value.startswith(("~/", "~\\")):
            return self.home / value[2:]
        return Path(value) if value else None

    @property
    def caches(self) -> Path:
        """The system's folder for caches of the user."""
        if self.system == "windows":
            return self.variable("LOCALAPPDATA") or self.home / "AppData/Local"
        return self.home / "Library/Caches" if self.system == "macos" else self.variable("XDG_CACHE_HOME") or self.home / ".cache"


def this_machine() -> Machine:
    """The machine and the user of this process."""
    system: System = "windows" if os.name == "nt" else "macos" if sys.platform == "darwin" else "linux"
    return Machine(Path.home(), os.environ, system)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that looks like a model.

    Attributes
        name: what the user calls it, behind the place's name and a colon.
        path: the file or folder to open; of a model in several files the first.
        parts: all files of a model in several files.
        sha256: of the file in hex, as the program that keeps it says; empty where it does not say.
        problem: why it can't be used, where that is clear without reading it.
    """

    name: str
    path: Path
    parts: tuple[Path, ...] = ()
    sha256: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program keeps its models.

    name: as it stands in front of a model's name; title: the program's own name. folders: where to look on a machine, each of which may
    not be there. candidates: what one such folder holds; what could not be read goes into the notes. prefixed: whether the place's name
    stands in front of its models' names; else these say all, such as a path.
    """

    name: str
    title: str
    folders: Callable[[Machine], Sequence[Path]]
    candidates: Callable[[Path, Notes], Iterator[Candidate]]
    prefixed: bool = True
