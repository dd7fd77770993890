"""Runs of studies: what is in their folders, the isolation that they need, and how one is killed in a step to be taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.offline_eval.run import TIMINGS

ROOT = Path(__file__).parents[1]


def isolation_here() -> Isolation:
    """The best that there is here; without any the test is skipped."""
    try:
        return best_level()
    except NoIsolation as error:
        pytest.skip(f"nothing isolates programs here: {error}")


def files_of(folder: Path) -> dict[str, bytes]:
    """All that a run has, but what may differ between two of them: timings, and the folder in the command that makes the report again."""
    return {
        str(path.relative_to(folder)): path.read_bytes().replace(str(folder).encode(), b"RUN")
        for path in folder.rglob("*")
        if path.is_file() and path.name != TIMINGS
    }


def figures_of(folder: Path) -> dict[str, Any]:
    """The figures of its report by their ids."""
    return {each["id"]: each for each in json.loads((folder / "report" / "figures.json").read_text())["figures"]}


def claims_of(folder: Path) -> dict[str, str]:
    """The verdicts of its report by the ids of the claims."""
    return {each["id"]: each["verdict"] for each in json.loads((folder / "report" / "report.json").read_text())["claims"]}


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
