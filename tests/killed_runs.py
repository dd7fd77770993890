"""Runs of a study that are killed in one step after the other, and taken up again each time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def kill_in_each_step(call: str, test_file: str, folder: Path, begun: Sequence[str]) -> None:
    """Start a call as a program once for each step, and kill it with all that it has started when the step has written something.

    Parameters
        call: of a function of the test file; `Path` is known.
        folder: of the run.
        begun: for each step, in order, a pattern in the folder of the files that it writes.
    """
    name = ".".join(Path(test_file).relative_to(ROOT).with_suffix("").parts)
    program = folder / "program.py"
    program.write_text(
        f"import sys\nfrom pathlib import Path\nsys.path[:0] = {[str(ROOT), str(ROOT / 'tests')]!r}\n"
        f"from {name} import {call.partition('(')[0]}\nif __name__ == '__main__': {call}\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".typing")}
    for pattern in begun:
        child = subprocess.Popen([sys.executable, str(program)], env=environment, start_new_session=True)
        until = time.monotonic() + 240
        while child.poll() is None and time.monotonic() < until and not any(path.stat().st_size for path in folder.glob(pattern)):
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL, f"it was killed before it had ended: {pattern}"
