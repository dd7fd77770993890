"""The cores of this machine that threads may compute on."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

_DEVICES = Path("/sys/devices")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")
# A core is fast from this share of the fastest one's speed on. Cores of one kind differ by a few percent, efficient ones by half.
_FAST = 0.75


def usable_cpus() -> set[int]:
    """The numbers of the CPUs that this process may use; each thread of a core is one."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def physical_cores(quota: Path = _QUOTA, devices: Path = _DEVICES) -> int:
    """The cores that this process may use. Hyper-threads of a core count once, and a container's share of CPU time is a bound.

    quota: the file of that share (Linux, cgroup v2): microseconds of CPU time, or "max", and microseconds of the period.
    devices: the folder in which Linux describes the processors.
    """
    return _cores(usable_cpus(), quota, devices)


def fast_cores(quota: Path = _QUOTA, devices: Path = _DEVICES) -> int:
    """Those of `physical_cores` that are not slower than others: performance cores, where the system tells; else all."""
    usable = usable_cpus()
    speeds = {cpu: _speed(cpu, devices) for cpu in usable}
    fastest = max(speeds.values())
    fast = {cpu for cpu, speed in speeds.items() if speed >= _FAST * fastest}
    with suppress(OSError):  # Intel's processors of two kinds list the performance cores
        fast = _listed((devices / "cpu_core/cpus").read_text()) & usable or fast
    return _cores(fast, quota, devices)


def most_running(quota: Path = _QUOTA) -> int:
    """How many threads of this process may run at once, with all threads of a core."""
    return _within(len(usable_cpus()), quota)


def _cores(cpus: set[int], quota: Path, devices: Path) -> int:
    return _within(len({_read(devices / f"system/cpu/cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in cpus}), quota)


def _within(count: int, quota: Path) -> int:
    with suppress(OSError, ValueError, ZeroDivisionError):  # no such file, or no limit
        allowed, period = quota.read_text().split()
        count = min(count, int(allowed) // int(period))
    return max(1, count)


def _speed(cpu: int, devices: Path) -> int:
    """The kernel's figure for a CPU's speed, in units that all CPUs of a machine have in common; 0 where there is none."""
    folder = devices / f"system/cpu/cpu{cpu}"
    told = (_read(folder / "cpu_capacity"), _read(folder / "cpufreq/cpuinfo_max_freq"))
    return next((int(figure) for figure in told if figure.isdecimal()), 0)


def _listed(text: str) -> set[int]:
    """CPUs written as 0-3,8."""
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text)
    return {cpu for first, last in ranges for cpu in range(int(first), int(last or first) + 1)}


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
