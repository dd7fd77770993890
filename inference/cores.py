"""How many threads of this machine are worth using."""

from __future__ import annotations

import os
from pathlib import Path


def physical_cores(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """CPUs that this process may use, a core's hyper-threads counted once; in a container no more than its share of time allows.

    quota: Linux's file of that share (cgroup v2): microseconds that may be used, or "max", and microseconds of the period.
    """
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores = len({_core(cpu) for cpu in usable})
    try:
        most, period = quota.read_text().split()
        cores = min(cores, int(most) // int(period))
    except (OSError, ValueError, ZeroDivisionError):
        pass  # no such file, or no limit
    return max(1, cores)


def _core(cpu: int) -> str:
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return str(cpu)
