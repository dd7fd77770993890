"""The program `assay` as a user runs it: in a process of its own, or here, which is faster."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.main import main


def assay(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m assay` with no colour asked for or forbidden from outside; output is decoded as UTF-8."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    command = [sys.executable, "-m", "assay", *map(str, arguments)]
    ran = subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False, cwd=cwd, env={**kept, **environment})
    return subprocess.CompletedProcess(command, ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def assay_here(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same in this process, which has loaded most of what a command needs: for all that takes no process of its own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    command = [*map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        for name, stream in (("stdin", io.TextIOWrapper(io.BytesIO(stdin))), ("stdout", out), ("stderr", err)):
            patch.setattr(sys, name, stream)
        try:
            code = main(command)
        except SystemExit as ended:
            code = int(ended.code or 0)
    return subprocess.CompletedProcess(command, code, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]
