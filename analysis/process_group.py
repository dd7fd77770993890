"""Programs that start others, such as pip: whatever ends us, none of them is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


def run_group(command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program and return its exit code and what it said. What it started is killed with it where this is interrupted."""
    process = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    with process:
        try:
            out, err = process.communicate()
        except BaseException:
            process.kill()
            if sys.platform != "win32":
                with suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
