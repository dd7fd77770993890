"""What a jailed program sees of the machine: the system, the running Python, and its mounts."""

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

from .installation import is_of_the_system, parts_of
from .limits import Limits
from .tree import entries_below

PRIVATE_TMP = Path("/tmp")
MAX_PATHS_CHECKED = 1000
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
# needed to find libraries, by Node to start, and by a Debian JDK for its settings (/usr/lib/jvm/*/conf points there)
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

    Only bubblewrap can show it elsewhere: at the other levels target has to be source.
    """

    source: Path
    target: Path
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """What is to run in a jail.

    cwd: a folder as the program sees it; its /tmp is private. mounts: what it sees besides the system. environment: all of it. stdin: as of
    subprocess.Popen. pass_fds: open files that it inherits.
    """

    argv: Sequence[str]
    cwd: Path
    mounts: Sequence[Mount]
    environment: Mapping[str, str]
    limits: Limits
    stdin: int
    pass_fds: Sequence[int] = ()


@cache
def interpreter_folders() -> tuple[Path, ...]:
    """The folders outside of the system's of the running Python and its virtual environment: as named, and with links resolved."""
    environment = (Path(sys.prefix),) if sys.prefix != sys.base_prefix else ()
    bases = dict.fromkeys(map(Path, (sys.base_prefix, sys.base_exec_prefix)))
    named = [*(part for base in bases for part in parts_of(base)), *environment]
    both = dict.fromkeys(path for folder in named for path in (folder.resolve(), folder))
    return tuple(path for path in both if not is_of_the_system(path))


def within(path: Path, folder: Path) -> bool:
    """Whether path is folder or lies in it."""
    return path == folder or folder in path.parents


@cache
def system_paths() -> tuple[Path, ...]:
    """The files and folders of the system that every jailed program may read, without those of the interpreter."""
    configuration = [path for pattern in CONFIGURATION for path in sorted(Path("/").glob(pattern.lstrip("/")))]
    return tuple(path for path in [*map(Path, SYSTEM), *configuration] if path.exists())


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a jailed program: a few neutral variables, and those given. Raises ValueError for an impossible one."""
    for name, value in environment.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"not an environment variable: {name!r}")
    return ENVIRONMENT | dict(environment)


def open_to_others(path: Path, needed: int) -> bool:
    """Whether users other than owner and group have the permission bits `needed` on path."""
    return path.stat().st_mode & needed == needed


def reachable(path: Path) -> bool:
    """Whether any user can reach path through the folders above it."""
    return all(open_to_others(parent, stat.S_IXOTH) for parent in path.resolve().parents)


def mount_defect(mount: Mount) -> str:
    """Why a mount can't be made, or nothing."""
    if not mount.source.is_absolute() or not mount.target.is_absolute():
        return f"a mount needs absolute paths, not {mount.source} at {mount.target}"
    if ".." in mount.target.parts:
        return f"the place of a mount, {mount.target}, must not go through .."
    if not mount.source.exists():
        return f"{mount.source} is to be mounted, and is not there"
    if not (mount.source.is_dir() or mount.source.is_file()):
        return f"{mount.source} is to be mounted, and is neither a file nor a folder"
    return ""


def unreadable_by_others(mount: Mount) -> str:
    """Why a user other than the owner can't read a read-only mount, or nothing. Of a large folder only a part is checked."""
    if mount.writable:
        return ""
    below = (Path(entry.path) for entry in islice(entries_below(mount.source), MAX_PATHS_CHECKED))
    for path in (mount.source, *below):
        mode = path.lstat().st_mode
        needed = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
        if not stat.S_ISLNK(mode) and mode & needed != needed:
            return f"{path} can't be read by the user that jailed programs run as: chmod -R o+rX {mount.source}, or mount it writable"
    return ""


def give_ownership(folder: Path, uid: int) -> None:
    """Make uid the owner of a folder and of all in it (only root can); links are not followed."""
    if folder.stat().st_uid == uid:
        return
    os.chown(folder, uid, uid)
    for entry in entries_below(folder):
        os.chown(entry.path, uid, uid, follow_symlinks=False)


def space_used(folders: Sequence[Path], enough: float = math.inf) -> tuple[int, int]:
    """Count the bytes on disk and the number of the files in folders, up to `enough` files. Files that vanish meanwhile are not counted."""
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
