"""The kernel's own limits on a process and what it starts (setrlimit). Imports only light modules, for a launcher's start."""

from __future__ import annotations

import math
import resource

GRACE_S = 1
MAX_OPEN_FILES = 512


def lower(kind: int, value: float) -> None:
    """Set the soft and the hard limit to value, or to the present hard limit where that is lower."""
    hard = resource.getrlimit(kind)[1]
    wanted = hard if math.isinf(value) else int(value)
    bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (bound, bound))


def bound_process(*, cpu_s: float, memory_bytes: int, file_bytes: int, address_bytes: int | None = None) -> None:
    """Limit the calling process, which may then leave no core dump.

    Parameters:
        cpu_s: rounded up, plus a second: the supervision from outside is more exact, and acts first.
        memory_bytes: private writable memory.
        address_bytes: the whole address space, for programs that reserve no more than they use.
    """
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, math.ceil(cpu_s) + GRACE_S if not math.isinf(cpu_s) else cpu_s)
    lower(resource.RLIMIT_FSIZE, file_bytes)
    lower(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
    if hasattr(resource, "RLIMIT_DATA"):
        lower(resource.RLIMIT_DATA, memory_bytes)
    if address_bytes is not None:
        lower(resource.RLIMIT_AS, address_bytes)
