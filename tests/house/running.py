"""The program `assay` as a user runs it: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path


def assay(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m assay` with no colour asked for or forbidden from outside; output is decoded as UTF-8."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    command = [sys.executable, "-m", "assay", *map(str, arguments)]
    ran = subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False, cwd=cwd, env={**kept, **environment})
    return subprocess.CompletedProcess(command, ran.returncode, ran.stdout.decode(), ran.stderr.decode())
