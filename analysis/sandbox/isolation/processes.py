"""What a tree of processes uses, read from /proc (Linux)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds of running and reaped processes; resident bytes and ids of the running ones; threads of those below the root."""

    cpu_s: float
    memory_bytes: int
    pids: tuple[int, ...]
    tasks: int


def usage(root: int) -> Usage:
    """What the process root and all its descendants use. Processes that end meanwhile are not counted."""
    cpu, resident, tasks, todo, seen = 0, 0, 0, [root], []
    while todo:
        pid = todo.pop()
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            for task in Path(f"/proc/{pid}/task").iterdir():
                todo.extend(map(int, (task / "children").read_text().split()))
                tasks += pid != root
        except OSError:
            continue
        # fields 14 to 17 of proc_pid_stat(5): user and system time of its own, then of the children that it reaped
        cpu += sum(map(int, fields[11:15]))
        resident += int(fields[21])
        seen.append(pid)
    return Usage(cpu / TICKS, resident * PAGE, tuple(seen), tasks)


def proportional_bytes(pids: tuple[int, ...]) -> int:
    """Memory of the processes, shared pages divided among those that share them (PSS): no forked page counts twice."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
        except (OSError, IndexError):
            continue
    return total
