"""The CPU time of this process, and a limit on it for the next test."""

from __future__ import annotations

import math
import resource
import time


def cpu_used() -> float:
    """CPU seconds of this process and of those children of it that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def allow(seconds: float | None) -> None:
    """Let the kernel kill this process (SIGXCPU) after so many more CPU seconds, rounded up; None lifts the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = hard if seconds is None else math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
