"""What the benchmarks share: the machine in words, turns, times, figures with their spread, tables, and what processes take.

Importing it puts what the tests have for talking to servers (`client`, `llama_server`) on the path.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from assay.calibration.metrics.bins import wilson

ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "server")]

T = TypeVar("T")
RESAMPLES = 2000
_TICKS = os.sysconf("SC_CLK_TCK")
# Of the fields behind the name in /proc/PID/stat: parent, and the times in user and system mode, own and of children that were waited for.
_PARENT, _TIMES = 1, slice(11, 15)


def parser_of(module_doc: str | None) -> argparse.ArgumentParser:
    """A parser whose help is what the module says of itself."""
    return argparse.ArgumentParser(description=module_doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def model_file(path: str) -> Path:
    """The argument of --model. Raises ArgumentTypeError where it is no file."""
    if not Path(path).is_file():
        raise argparse.ArgumentTypeError(f"{path}: no such model file")
    return Path(path)


def described(*packages: str) -> str:
    """One line: processor and how many of its CPUs this process may use, GPU, system, Python, and the packages' versions."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = [f"{name} {found}" for name in packages if (found := _version(name))]
    torch = sys.modules.get("torch")
    gpus = [torch.cuda.get_device_name()] if torch is not None and torch.cuda.is_available() else []
    return ", ".join(
        [f"{cpus} CPUs of {_processor()}", *gpus, platform.platform(terse=True), f"Python {platform.python_version()}", *versions]
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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


def in_turn(ways: Iterable[T], number: int) -> list[T]:
    """All of them, each round beginning with another: what disturbs the machine then meets all alike."""
    all_of_them = list(ways)
    first = number % len(all_of_them)
    return all_of_them[first:] + all_of_them[:first]


def milliseconds(call: Callable[[], Any]) -> float:
    """How long a call takes on the clock."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def middle(values: Sequence[float], form: str = ".3g") -> str:
    """The median and the middle half."""
    low, mid, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return f"{mid:{form}} ({low:{form}}-{high:{form}})"


def spread(values: Sequence[float], form: str = ".2f") -> str:
    """The median with the lowest and the highest, for few rounds."""
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def share(k: int, n: int) -> str:
    """A share in percent with its 95 % interval, samples as independent (Wilson 1927)."""
    if not n:
        return "–"
    low, high = wilson(k, n)
    return f"{100 * k / n:.1f} % ({100 * low:.1f} to {100 * high:.1f}), n = {n:,}"


def resampled_ratio(ratio: Callable[[Sequence[T]], float | None], units: Sequence[T]) -> str:
    """A ratio with its 95 % interval over resampled units; a dash where it is not defined."""
    value = ratio(units)
    if value is None:
        return "–"
    rng = np.random.default_rng(0)
    drawn = [ratio([units[i] for i in rng.integers(len(units), size=len(units))]) for _ in range(RESAMPLES if len(units) > 1 else 0)]
    known = [one for one in drawn if one is not None]
    return f"{value:.2f} ({np.quantile(known, 0.025):.2f} to {np.quantile(known, 0.975):.2f})" if known else f"{value:.2f}"


def row(*cells: object) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], names: int = 1) -> str:
    """A Markdown table, whose first columns are names and the others figures."""
    align = "".join("|:---" if column < names else "|---:" for column in range(len(head))) + "|"
    return "\n".join([row(*head), align, *(row(*cells) for cells in rows)])


def busy_seconds() -> float:
    """CPU seconds that the machine has worked since its start, all processors together (Linux)."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq")
    spent = dict(zip(names, map(int, Path("/proc/stat").read_text(encoding="ascii").split()[1:8]), strict=True))
    return (sum(spent.values()) - spent["idle"] - spent["iowait"]) / _TICKS


def cpu_seconds(root: int) -> float:
    """CPU seconds of a process, its living descendants, and those that ended, in steps of a tick (10 ms).

    Raises FileNotFoundError where there is no /proc.
    """
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since
        ticks[int(folder.name)] = sum(map(int, fields[_TIMES]))
        children[int(fields[_PARENT])].append(int(folder.name))
    if root not in ticks:
        raise FileNotFoundError(f"/proc/{root}: processor time is read there")
    waiting, total = [root], 0
    while waiting:
        process = waiting.pop()
        total += ticks[process]
        waiting += children[process]
    return total / _TICKS


def resident_kib(pid: int | None = None) -> int:
    """The resident size of a process, of this one by default (Linux)."""
    return int(Path(f"/proc/{pid or 'self'}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
