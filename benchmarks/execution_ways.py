"""The ways in which others run a program against its test: evalplus's, human-eval's, and a process whose exit status counts.

They are written anew, with the standard library alone, from what those ways are: a child by fork, a guard that removes dangerous functions
from Python's modules, `exec` of program and test in one process, and a value in shared memory or in a manager's list. hostile_peers.py
starts this file as a program:

    python execution_ways.py WAY PROGRAM_FILE TEST_FILE SECONDS MEMORY VERDICT_FILE

writes "passed" or "failed" to VERDICT_FILE.
"""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import io
import multiprocessing
import multiprocessing.sharedctypes
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FORK = multiprocessing.get_context("fork")
FAILED, PASSED = 0, 1
# What the guard of both takes away.
DISABLED = {
    os: ("kill", "system", "putenv", "remove", "removedirs", "rmdir", "fchdir", "setuid", "fork", "forkpty", "killpg", "rename",
         "renames", "truncate", "replace", "unlink", "fchmod", "fchown", "chmod", "chown", "chroot", "lchflags", "lchmod", "lchown",
         "getcwd", "chdir"),
    shutil: ("rmtree", "move", "chown"),
    subprocess: ("Popen",),
    builtins: ("exit", "quit", "help"),
}  # fmt: skip
GONE = ("ipdb", "joblib", "resource", "psutil", "tkinter")


class OutOfTime(Exception):
    """The alarm of a time limit."""


class Unreadable(io.StringIO):
    """Standard input that can't be read."""

    def read(self, *_: Any) -> str:
        raise OSError

    readline = readlines = read  # type: ignore[assignment]

    def readable(self) -> bool:
        return False


def guard(memory: int | None) -> None:
    """What human-eval and evalplus call before a program: limits of memory, and functions that are None from here on."""
    if memory is not None:
        for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_STACK):
            resource.setrlimit(limit, (memory, memory))
    faulthandler.disable()
    os.environ["OMP_NUM_THREADS"] = "1"
    for module, names in DISABLED.items():
        for name in names:
            setattr(module, name, None)
    for name in GONE:
        sys.modules[name] = None  # type: ignore[assignment]


@contextlib.contextmanager
def silent() -> Iterator[None]:
    stream = io.StringIO()
    before, sys.stdin = sys.stdin, Unreadable()
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            yield
    finally:
        sys.stdin = before


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    def out(*_: object) -> None:
        raise OutOfTime

    signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.signal(signal.SIGALRM, out)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def own_folder() -> Iterator[None]:
    """A temporary folder to run in. What is needed to remove it is kept from the guard."""
    kept = [(module, name, getattr(module, name)) for module, names in DISABLED.items() for name in names if hasattr(module, name)]
    before = Path.cwd()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        yield
    finally:
        for module, name, function in kept:
            setattr(module, name, function)
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def ended(process: Any, seconds: float) -> None:
    process.join(seconds)
    if process.is_alive():
        process.terminate()
        time.sleep(0.1)
    if process.is_alive():
        process.kill()
    process.join()


def evalplus(program: str, test: str, seconds: float, memory: int | None) -> bool:
    """A child by fork, guarded; program and test in it; the verdict is a number in shared memory that the child writes."""
    stat = FORK.Value("i", FAILED)

    def child() -> None:
        with own_folder():
            guard(memory)
            space: dict[str, Any] = {}
            try:
                with silent(), limited(seconds):
                    exec(f"{program}\n{test}", space)
                stat.value = PASSED
            except BaseException:
                stat.value = FAILED

    process = FORK.Process(target=child)
    process.start()
    ended(process, seconds + 1)
    return stat.value == PASSED


def human_eval(program: str, test: str, seconds: float, memory: int | None) -> bool:
    """A manager's process with a list in it, a child by fork, guarded; the verdict is what the child puts first in the list."""
    del memory  # its caller gives none
    with FORK.Manager() as manager:
        result = manager.list()

        def child() -> None:
            with own_folder():
                guard(None)
                try:
                    with silent(), limited(seconds):
                        exec(f"{program}\n{test}", {})
                    result.append("passed")
                except OutOfTime:
                    result.append("timed out")
                except BaseException as error:
                    result.append(f"failed: {error}")

        process = FORK.Process(target=child)
        process.start()
        process.join(seconds + 1)
        if process.is_alive():
            process.kill()
        return bool(result) and result[0] == "passed"


def exit_status(program: str, test: str, seconds: float, memory: int | None) -> bool:
    """An interpreter of its own for program and test; status 0 is a pass."""
    del memory
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(f"{program}\n{test}", encoding="utf-8")
        try:
            return subprocess.run([sys.executable, str(file)], cwd=folder, timeout=seconds, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False


WAYS: dict[str, Callable[[str, str, float, int | None], bool]] = {
    "exit_status": exit_status,
    "human_eval": human_eval,
    "evalplus": evalplus,
}


def main() -> None:
    way, program, test, seconds, memory, verdict = sys.argv[1:]
    texts = [Path(name).read_bytes().decode("utf-8", "surrogatepass") for name in (program, test)]
    try:
        passed = WAYS[way](texts[0], texts[1], float(seconds), int(memory))
    except Exception as error:
        # a source that can't be written or parsed is the program's failure, wherever the way trips over it
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        passed = False
    Path(verdict).write_text("passed" if passed else "failed", encoding="utf-8")


if __name__ == "__main__":
    main()
