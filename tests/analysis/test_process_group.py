from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.analysis.process_group import run_group

GRANDCHILD = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(60)"
CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GRANDCHILD!r}, sys.argv[1]])"


def test_a_program_gives_its_exit_code_and_what_it_said() -> None:
    done = run_group([sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_a_program_started_is_not_left_behind_where_we_are_interrupted(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    program = f"import sys; from assay.analysis.process_group import run_group; run_group([sys.executable, '-c', {CHILD!r}, {str(told)!r}])"
    ours = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not (told.exists() and told.read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    pid = int(told.read_text())
    ours.send_signal(signal.SIGINT)
    assert ours.wait(20) != 0
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_running(pid)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
