"""What a benchmark ran on, to be printed above its figures, and a data folder of its own, so that it does not touch the user's log."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def described(*packages: str) -> str:
    """One line: processor and how many of its CPUs this process may use, GPU, system, Python, and the packages' versions."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = [f"{name} {found}" for name in packages if (found := _version(name))]
    return ", ".join(
        [f"{cpus} CPUs of {_processor()}", *_gpus(), platform.platform(terse=True), f"Python {platform.python_version()}", *versions]
    )


@contextmanager
def own_data_folder() -> Iterator[Path]:
    """In this context servers log to a temporary folder and do not see the user's calibrators."""
    before = os.environ.get("ASSAY_DATA_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASSAY_DATA_HOME"] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["ASSAY_DATA_HOME"]
            else:
                os.environ["ASSAY_DATA_HOME"] = before


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def _gpus() -> list[str]:
    """The GPU that torch uses, where torch is loaded."""
    torch = sys.modules.get("torch")
    return [torch.cuda.get_device_name()] if torch is not None and torch.cuda.is_available() else []


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
