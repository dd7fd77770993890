"""Our sandbox as a way of running hostile programs."""

from __future__ import annotations

import os

from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.analysis.sandbox.judging.result import ProgramOutcome

from .program import SQUARE
from .scene import CPU_S, DISK, HANG_S, MEMORY, WALL_S, Verdict, Way

ALLOWED = Limits(cpu_s=CPU_S, wall_s=WALL_S, memory_bytes=MEMORY, processes=1, file_bytes=DISK)
ALLOWED_HANGING = Limits(cpu_s=HANG_S / 2, wall_s=HANG_S, memory_bytes=MEMORY, processes=1, file_bytes=DISK)


def sandbox_way(sandbox: PythonSandbox) -> Way:
    def run(program: str, test: str, entry_point: str | None, hangs: bool) -> Verdict:
        result = sandbox.check(program, test, entry_point, limits=ALLOWED_HANGING if hangs else ALLOWED)
        said = (
            "passed"
            if result.outcome is ProgramOutcome.PASSED
            else "broken"
            if result.outcome is ProgramOutcome.INFRASTRUCTURE
            else "failed"
        )
        return Verdict(said, f"{result.output}\n{result.reason}")  # type: ignore[arg-type]

    return run


def sandbox_uid(sandbox: PythonSandbox) -> int | None:
    """The user that programs run as, where it is another than ours."""
    result = sandbox.check("import os\nprint('user', os.getuid())\ndef square(n):\n    return n * n\n", SQUARE, "square", limits=ALLOWED)
    if result.outcome is not ProgramOutcome.PASSED:
        raise AssertionError(f"an honest program ended {result.outcome}: {result.reason}")
    uid = int(result.output.split()[1])
    return None if uid == os.getuid() else uid
