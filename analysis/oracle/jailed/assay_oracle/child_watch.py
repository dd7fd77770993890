"""Record which lines run in the Python processes that tests start: each writes them to a file when it ends, and the plugin collects these.

A process that is killed, is no Python, or gets another environment writes none.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import tempfile
from pathlib import Path

from .line_watch import Lines, LineWatch

_FOLDER, _ROOT = "ASSAY_ORACLE_LINES", "ASSAY_ORACLE_ROOT"
# Python imports it at each start.
_AT_START = """try:
    from assay_oracle.child_watch import begin
    begin()
except Exception:
    pass
"""


def watch_children(root: str) -> Path:
    """Let each Python that is started from now on record its lines; the folder in which it writes them."""
    folder = Path(tempfile.mkdtemp(prefix="lines-"))
    (folder / "sitecustomize.py").write_text(_AT_START, encoding="utf-8")
    os.environ |= {_FOLDER: str(folder), _ROOT: root, "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}
    return folder


def begin() -> None:
    """In a child: record the lines that run, but for those that run at import."""
    folder, lines = Path(os.environ[_FOLDER]), Lines()
    watch = LineWatch(os.environ[_ROOT])
    watch.enter(lines)

    def write() -> None:
        told = {file: sorted(numbers) for file, numbers in list(lines.items())}
        path = folder / f"{os.getpid()}-{os.urandom(4).hex()}"
        path.write_text(json.dumps(told), encoding="utf-8")
        path.rename(path.with_suffix(".json"))

    atexit.register(write)


def collect(folder: Path, lines: Lines) -> None:
    """Add to lines those of the children that have ended since this was last called."""
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            for file, numbers in json.loads(path.read_bytes()).items():
                lines.setdefault(file, set()).update(number for number in numbers if isinstance(number, int))
        with contextlib.suppress(OSError):
            path.unlink()
