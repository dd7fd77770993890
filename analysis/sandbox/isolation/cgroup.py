"""A control group for one jail, where this user may make one (mostly only root): the kernel then counts all its processes and memory.

Without a group, `supervision` and the limits per process bound the same, less exactly. Both versions of the interface are used: pids and
memory of version 1, or of version 2 where a parent group delegates them.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .limits import Limits

PREFIX = "assay-"
# what /proc/self/cgroup calls the one hierarchy of version 2
UNIFIED = ""
OWN_MEMORY = 16 << 20
_numbers = itertools.count()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Parents:
    """The folders in which groups can be made; in version 2 both are the same."""

    version: int
    pids: Path | None
    memory: Path | None


def find_parents(mounts: str, own: str) -> Parents:
    """Where groups could be made, by the texts of /proc/self/mountinfo and /proc/self/cgroup. Permissions are not checked."""
    groups = {name: path for line in own.splitlines() for _, names, path in [line.split(":", 2)] for name in names.split(",")}
    found: dict[str, Path] = {}
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        root, place = before.split()[3:5]
        kind, _, options = after.split()[:3]
        controllers = {"cgroup": ["pids", "memory"], "cgroup2": [UNIFIED]}.get(kind, [])
        for name in controllers:
            if name in groups and (name == UNIFIED or name in options.split(",")):
                inside = os.path.relpath(groups[name], root)
                found[name] = Path(os.path.normpath(f"{place}/{inside}"))
    if "pids" in found or "memory" in found or UNIFIED not in found:
        return Parents(1, found.get("pids"), found.get("memory"))
    # a group that holds processes delegates nothing: take the nearest one above that does
    for folder in (found[UNIFIED], *found[UNIFIED].parents):
        try:
            handed = (folder / "cgroup.subtree_control").read_text().split()
        except OSError:
            break
        if handed:
            return Parents(2, folder if "pids" in handed else None, folder if "memory" in handed else None)
    return Parents(2, None, None)


@cache
def _parents() -> Parents:
    try:
        parents = find_parents(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
    except (OSError, ValueError):
        return Parents(1, None, None)
    pids, memory = (folder if folder is not None and os.access(folder, os.W_OK) else None for folder in (parents.pids, parents.memory))
    for folder in {pids, memory} - {None}:
        _remove_stale(folder)
    return Parents(parents.version, pids, memory)


def _remove_stale(folder: Path | None) -> None:
    """Remove groups that a killed supervisor has left. A group with processes in it stays."""
    for left in folder.glob(f"{PREFIX}*") if folder is not None else ():
        pid = left.name.removeprefix(PREFIX).partition("-")[0]
        if not Path(f"/proc/{pid}").exists():
            with contextlib.suppress(OSError):
                left.rmdir()


class Group:
    """One jail's group."""

    def __init__(self, folders: tuple[Path, ...], events: Path | None) -> None:
        self._folders, self._events = folders, events

    def admit(self, pid: int) -> None:
        """Put a process, and what it will start, into the group. Where the kernel refuses, the process stays outside."""
        for folder in self._folders:
            with contextlib.suppress(OSError):
                (folder / "cgroup.procs").write_text(str(pid))

    def oom_kills(self) -> int:
        """How many processes of the group the kernel has killed for its memory."""
        try:
            lines = self._events.read_text().splitlines() if self._events else []
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)

    def remove(self) -> None:
        """Remove the group, whose processes have ended."""
        for folder in self._folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def make(limits: Limits, own_processes: int) -> Group:
    """A group bounded by the limits, with room for the jail's own processes and files. It bounds nothing where no group can be made.

    Nor does it for a single process: the kernel's other limits are exact there, and moving a process into a group takes milliseconds.
    """
    if limits.processes == 1:
        return Group((), None)
    parents = _parents()
    with _lock:
        name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
    memory = limits.memory_bytes + 2 * limits.file_bytes + OWN_MEMORY
    bounds: dict[Path, dict[str, int]] = {}
    events = None
    if parents.pids is not None:
        bounds[parents.pids / name] = {"pids.max": limits.processes + own_processes}
    if parents.memory is not None:
        folder = parents.memory / name
        old = parents.version == 1
        bounds.setdefault(folder, {})["memory.limit_in_bytes" if old else "memory.max"] = memory
        events = folder / ("memory.oom_control" if old else "memory.events")
    made = []
    for folder, values in bounds.items():
        try:
            folder.mkdir()
            made.append(folder)
            for file, value in values.items():
                (folder / file).write_text(str(value))
        except OSError:
            continue
    return Group(tuple(made), events)
