"""Ctrl-C while `assay calibrate repo` has not asked anything yet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from study_runs import isolation_here

pytest.importorskip("libcst", reason="libcst is not installed")


@pytest.mark.slow
def test_who_stops_the_baseline_is_told_that_nothing_is_lost(tmp_path: Path) -> None:
    isolation_here()
    project = tmp_path / "shop"
    project.mkdir()
    (project / "test_slow.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(60)\n")
    path = str(Path(__file__).parents[3] / ".typing")
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    program = [sys.executable, "-m", "assay", "calibrate", "repo", str(project), "--python", sys.executable]
    with subprocess.Popen(program, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "running the tests as they are" in line:
                break
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "stopped; nothing is lost: the tests' baseline is made again by the same command" in said
