"""What a Python installation is on disk, and which of its folders a jail shows.

Whoever wrote a project can name any folder as the home of its Python. So a folder is shown only where it holds an installation, and then
only its programs and libraries: a prefix such as ~/.local holds private data beside them.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .tree import entries_below

PARTS = ("bin", "lib", "lib64")
# A module without which no Python starts: it is at this place in every installation (CPython, PyPy, GraalPy).
LANDMARKS = ("lib*/python3*/os.py", "lib*/pypy3*/os.py")
# Folders whose content every jail shows anyway.
SYSTEM_PREFIXES = (Path("/"), Path("/usr"), Path("/nix/store"))


def parts_of(prefix: Path) -> tuple[Path, ...]:
    """The folders of an installation that a jail shows."""
    return tuple(folder for folder in (prefix / name for name in PARTS) if folder.is_dir())


def is_of_the_system(prefix: Path) -> bool:
    """Whether every jail shows what is in this prefix."""
    return prefix == SYSTEM_PREFIXES[0] or any(prefix.is_relative_to(folder) for folder in SYSTEM_PREFIXES[1:])


def installation_defect(prefix: Path) -> str:
    """Why a folder is not shown as an installation of Python, or nothing. prefix: without links."""
    # unlike Path.is_dir, this takes names of any length
    if not os.path.isdir(prefix):  # noqa: PTH112
        return f"there is no folder {prefix}"
    if not any(stat.S_ISREG(found.lstat().st_mode) for pattern in LANDMARKS for found in prefix.glob(pattern)):
        return f"{prefix} holds no Python (no lib/python3.x/os.py)"
    if Path.home().resolve().is_relative_to(prefix):
        return f"{prefix} holds your home folder"
    for folder in (prefix, *parts_of(prefix)):
        if (owner := folder.stat().st_uid) not in (0, os.geteuid()):
            return f"{folder} belongs to the user {owner}, neither to you nor to root"
    for part in map(Path.resolve, parts_of(prefix)):
        if not part.is_relative_to(prefix) and not is_of_the_system(part):
            return f"a link in {prefix} leads out of it, to {part}"
    return next(filter(None, map(special_file_defect, parts_of(prefix))), "")


def special_file_defect(folder: Path) -> str:
    """Why a folder is not shown because of a socket, pipe or device in it, or nothing: a jailed program could talk through it."""
    # what can't be listed is not seen in the jail either
    for entry in entries_below(folder):
        if not (entry.is_symlink() or entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
            return f"{entry.path} is a socket, a pipe or a device"
    return ""
