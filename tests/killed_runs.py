"""Runs of a study that are killed in a step, to be taken up again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def kill_once_begun(call: str, test_file: str, folder: Path, begun: str) -> None:
    """Start a call as a program, and kill it with all that it has started once a file is there that holds something.

    Parameters
        call: of a function of the test file; `Path` is known.
        folder: of the run. begun: the file, from there.
    """
    name = ".".join(Path(test_file).relative_to(ROOT).with_suffix("").parts)
    program = folder / "program.py"
    program.write_text(
        f"import sys\nfrom pathlib import Path\nsys.path[:0] = {[str(ROOT), str(ROOT / 'tests')]!r}\n"
        f"from {name} import {call.partition('(')[0]}\nif __name__ == '__main__': {call}\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".typing")}
    child = subprocess.Popen([sys.executable, str(program)], env=environment, start_new_session=True)
    until, path = time.monotonic() + 240, folder / begun
    while child.poll() is None and time.monotonic() < until and not (path.is_file() and path.stat().st_size):
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL, "it was killed before it had ended"
