"""What a jailed program sees of the machine: the system, the Python that runs, and what it is given, nothing else."""

from __future__ import annotations

import math
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

PRIVATE = Path("/tmp")
LOOKED_AT = 1000
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
# what programs need to find their libraries, Node to start, and a Debian JDK for its settings (/usr/lib/jvm/*/conf points there)
CONFIGURATION = (
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/java*",
    "/etc/ssl/openssl.cnf",
)


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder of the machine that a jailed program sees at target, read-only unless writable.

    Where the level is not bubblewrap there is no other view of the files: target has to be source.
    """

    source: Path
    target: Path
    writable: bool = False


@cache
def interpreter_folders() -> tuple[Path, ...]:
    """Where the Python that runs, its virtual environment included, lies outside of /usr: as named, and with links resolved."""
    named = [Path(prefix) for prefix in dict.fromkeys((sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix))]
    both = dict.fromkeys(path for prefix in named for path in (prefix.resolve(), prefix))
    return tuple(path for path in both if path != Path("/") and not within(path, Path("/usr")))


def within(path: Path, folder: Path) -> bool:
    """Whether path is folder or lies in it."""
    return path == folder or folder in path.parents


@cache
def system_paths() -> tuple[Path, ...]:
    """The files and folders of the system that every jailed program may read, but for the interpreter's own."""
    configuration = [path for pattern in CONFIGURATION for path in sorted(Path("/").glob(pattern.lstrip("/")))]
    return tuple(path for path in [*map(Path, SYSTEM), *configuration] if path.exists())


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a jailed program: a few neutral variables, and what it is given."""
    for name, value in environment.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"not an environment variable: {name!r}")
    return ENVIRONMENT | dict(environment)


def open_to_others(path: Path, needed: int) -> bool:
    """Whether users other than the owner and the group have the bits `needed` (of rwx) on path."""
    return path.stat().st_mode & needed == needed


def reachable(path: Path) -> bool:
    """Whether any user can get to path, through every folder above it."""
    return all(open_to_others(parent, stat.S_IXOTH) for parent in path.resolve().parents)


def unusable(mount: Mount) -> str:
    """Why mount can't be made, or nothing."""
    if not mount.source.is_absolute() or not mount.target.is_absolute():
        return f"a mount needs absolute paths, not {mount.source} at {mount.target}"
    if ".." in mount.target.parts:
        return f"the place of a mount, {mount.target}, must not go through .."
    if not mount.source.exists():
        return f"{mount.source} is to be mounted, and is not there"
    return ""


def refused_to_others(mount: Mount) -> str:
    """Why a user other than the owner can't read what a read-only mount shows, or nothing. Only some of a large folder is looked at."""
    if mount.writable:
        return ""
    for path in (mount.source, *islice(mount.source.rglob("*"), LOOKED_AT)):
        mode = path.lstat().st_mode
        needed = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
        if not stat.S_ISLNK(mode) and mode & needed != needed:
            return f"{path} can't be read by the user that jailed programs run as: chmod -R o+rX {mount.source}, or mount it writable"
    return ""


def give(folder: Path, uid: int) -> None:
    """Make uid the owner of folder and of all that lies in it (for root alone); links are not followed."""
    if folder.stat().st_uid == uid:
        return
    os.chown(folder, uid, uid)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent, name), uid, uid, follow_symlinks=False)


def space_used(folders: Sequence[Path], enough: float = math.inf) -> tuple[int, int]:
    """Bytes on disk of, and number of, the files in folders, or of the first of them where there are more than enough.

    What vanishes meanwhile is not counted.
    """
    size = count = 0
    todo = [str(folder) for folder in folders]
    while todo and count <= enough:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > enough:
                        break
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return size, count
