"""The parent of a jailed process where there are no namespaces. `launcher_jail` runs it as a program; nobody else imports it.

It starts the program under its limits (and at the level landlock confined) and adopts all its orphans. When the program has ended, or the
starter has gone or asks for it, it kills and reaps all that is left. Imports only light modules.
"""

# pathlib, json and signal (for its enumerations) would each cost more than the rest of the start
# ruff: noqa: PTH113, PTH116, PTH118, PTH123, PTH208
from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _thread
import os
import resource
import sys
import time

from . import kernel, landlock, removal, seccomp

# typing and collections.abc cost more than the rest of a launcher's start
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIGKILL = 9
LINUX = sys.platform == "linux"
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# what runtimes read about themselves and the machine
FACTS = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/proc/sys/vm/overcommit_memory")


def tasks_of(uid: int) -> int:
    """How many processes and threads a user has: RLIMIT_NPROC counts them all."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue
    return count


def bound(order: dict[str, Any]) -> None:
    """Put the limits on the calling process."""
    kernel.bound_process(**order["bounds"])
    if LINUX and (order["uid"] is not None or os.geteuid() != 0):
        # a user made for this jail has no other task
        others = 0 if order["uid"] is not None else tasks_of(os.geteuid()) - 1
        kernel.lower(resource.RLIMIT_NPROC, others + order["processes"])


def confine(order: dict[str, Any]) -> None:
    """Restrict files, user and system calls of the calling process. Raises OSError where the kernel can't."""
    if landlock.abi() < landlock.TRUNCATE_ABI:
        raise OSError("this kernel's Landlock does not keep programs from emptying files: Linux 6.2 or newer is needed, with Landlock on")
    rules = landlock.ruleset(readable=[*order["readable"], *DEVICES, *FACTS], writable=[*order["writable"], "/dev/null"], execute=True)
    uid = order["uid"]
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.prctl(kernel.PDEATHSIG, SIGKILL)
    landlock.restrict(rules)
    os.close(rules)
    # a user id of the jail's own can signal no process outside, and owns no file outside
    alone = uid is not None
    own_id = None if alone or landlock.abi() >= landlock.SCOPED_SIGNALS_ABI else os.getpid()
    several = order["processes"] > 1
    # the kernel's own limit counts all tasks of the user, so where others of them end meanwhile it leaves room for more
    seccomp.install(seccomp.process_filter(fork=several, threads=several, execute=True, attributes=alone, own_id=own_id))


def find(name: str, path: str) -> str:
    """The file of a command. Raises OSError where there is none that may be run."""
    for candidate in [name] if "/" in name else [os.path.join(folder, name) for folder in path.split(":")]:
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise OSError(f"{name} is not in the jail, or can't be run there")


def become(order: dict[str, Any], failure: int) -> None:
    """Turn the calling process into the program. An error is written to the descriptor `failure`. Never returns."""
    try:
        os.setsid()
        if order["confined"]:
            os.umask(0o077)
        # Python ignores SIGPIPE, and the program would inherit that
        _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
        bound(order)
        if order["confined"]:
            confine(order)
        os.chdir(order["cwd"])
        program = find(order["argv"][0], order["environment"].get("PATH", ""))
        os.write(1, b"ok\n")
        os.execve(program, order["argv"], order["environment"])
    except Exception as error:
        os.write(failure, str(error).encode()[:1000] or b"it can't be run")
    finally:
        os._exit(126)


def descendants(pid: int) -> list[int]:
    """The ids of all processes below pid (Linux)."""
    found, todo = [], [pid]
    while todo:
        try:
            folder = f"/proc/{todo.pop()}/task"
            for task in os.listdir(folder):
                with open(f"{folder}/{task}/children") as file:
                    children = list(map(int, file.read().split()))
                found += children
                todo += children
        except OSError:
            continue
    return found


def kill_all(uid: int | None, program: int) -> None:
    """Send SIGKILL to every process of the jail: at once where it has a user of its own; else one by one, which has to be repeated.

    Without /proc (macOS) only the program's session is found.
    """
    if uid is not None:
        killer = os.fork()
        if killer == 0:
            try:
                os.setresuid(uid, uid, uid)
                os.kill(-1, SIGKILL)
            finally:
                os._exit(0)
    for pid in descendants(os.getpid()) if LINUX else [-program]:
        try:
            os.kill(pid, SIGKILL)
        except OSError:
            continue


def kill_on_close(control: int, uid: int | None, program: int, lock: _thread.LockType) -> None:
    """Kill the program when the other end of control is closed, by the starter or by its death."""
    while os.read(control, 1):
        continue
    with lock:
        kill_all(uid, program)


def reap(program: int, uid: int | None) -> tuple[int, float]:
    """Wait for the program, then kill and reap all that it left.

    Returns: its exit status (negative for a signal) and the CPU seconds of all processes.
    """
    status, cpu_s, over = 0, 0.0, False
    while True:
        try:
            pid, ended, used = os.wait4(-1, os.WNOHANG if over else 0)
        except ChildProcessError:
            return status, cpu_s
        if pid == 0:
            kill_all(uid, program)
            time.sleep(0.001)
            continue
        cpu_s += used.ru_utime + used.ru_stime
        if pid == program:
            status, over = os.waitstatus_to_exitcode(ended), True


def main(order: dict[str, Any]) -> None:
    """Run the program that the order describes, and report: exit status, CPU seconds, why the program did not start."""
    control, report, uid = order["control"], order["report"], order["uid"]
    os.set_inheritable(control, False)
    os.set_inheritable(report, False)
    kernel.adopt_orphans(True)
    broken, failure = os.pipe()
    program = os.fork()
    if program == 0:
        become(order, failure)
    os.close(failure)
    nothing = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    lock = _thread.allocate_lock()
    _thread.start_new_thread(kill_on_close, (control, uid, program, lock))
    status, cpu_s = reap(program, uid)
    # the killing thread may fork; from here on it can't
    lock.acquire()
    reap(program, uid)
    # removed here, since the starter may be gone
    removal.remove(order["private"])
    complaint = os.read(broken, 1000).decode(errors="replace")
    os.write(report, f"{status} {cpu_s} {complaint}".encode())
