"""The number of threads that llama.cpp uses unless told otherwise."""

from __future__ import annotations

import os
from pathlib import Path


def physical_cores(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """The cores that this process may use. Hyper-threads of a core count once, and a container's share of CPU time is a bound.

    quota: the file of that share (Linux, cgroup v2): microseconds of CPU time, or "max", and microseconds of the period.
    """
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores = len({_core(cpu) for cpu in usable})
    try:
        allowed, period = quota.read_text().split()
        cores = min(cores, int(allowed) // int(period))
    except (OSError, ValueError, ZeroDivisionError):
        pass  # no such file, or no limit
    return max(1, cores)


def _core(cpu: int) -> str:
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return str(cpu)
