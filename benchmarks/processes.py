"""CPU time of a process with its descendants, and of the whole machine, from /proc (Linux only)."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# Of the fields behind the name in /proc/PID/stat: parent, and the times in user and system mode, own and of children that were waited for.
_PARENT, _TIMES = 1, slice(11, 15)


def busy_seconds() -> float:
    """CPU seconds that the machine has worked since its start, all processors together."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq")
    spent = dict(zip(names, map(int, Path("/proc/stat").read_text(encoding="ascii").split()[1:8]), strict=True))
    return (sum(spent.values()) - spent["idle"] - spent["iowait"]) / _TICKS


def cpu_seconds(root: int) -> float:
    """CPU seconds of a process, its living descendants, and those that ended, in steps of a tick (10 ms).

    Raises FileNotFoundError where there is no /proc.
    """
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since
        ticks[int(folder.name)] = sum(map(int, fields[_TIMES]))
        children[int(fields[_PARENT])].append(int(folder.name))
    if root not in ticks:
        raise FileNotFoundError(f"/proc/{root}: processor time is read there")
    waiting, total = [root], 0
    while waiting:
        process = waiting.pop()
        total += ticks[process]
        waiting += children[process]
    return total / _TICKS
