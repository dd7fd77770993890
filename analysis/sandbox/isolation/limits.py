"""Limits on what a program may use."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

MAX_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one program with all the processes that it starts.

    cpu_s: CPU seconds (user and system), math.inf for no limit. This decides whether a program is too slow, since it does not depend on the
        machine's load.
    wall_s: seconds on the clock, for programs that wait; generous.
    memory_bytes: private memory of each process, and of all together.
    processes: processes and threads together, as Linux counts them. 1 allows no fork and no thread; a JVM needs some 40, Node some 20.
    output_bytes: how much is kept of each output stream; the rest is read and dropped.
    file_bytes: the size of any file, of the private /tmp, and of what is added to the writable folders.

    Raises ValueError where a limit is not positive.
    """

    cpu_s: float = 5
    wall_s: float = 60
    memory_bytes: int = 1 << 30
    processes: int = 1
    output_bytes: int = 1 << 16
    file_bytes: int = 1 << 24

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ValueError(f"limit {field.name} is {value}: it must be positive")
            if field.name not in ("cpu_s", "wall_s") and (value != int(value) or math.isinf(value)):
                raise ValueError(f"limit {field.name} is {value}: it must be a whole number")
