"""A process that has confined itself can do nothing but compute, for good."""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import assay
from assay.analysis.sandbox.isolation import landlock, seccomp
from assay.analysis.sandbox.isolation.confine import ConfinementError, prepare
from assay.analysis.sandbox.isolation.limits import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux" or landlock.abi() < 1, reason="needs Landlock")
LIBRARY = (Path(sys.base_prefix), Path(sys.prefix), Path("/usr"))
LIMITS = Limits(memory_bytes=128 << 20, cpu_s=2, file_bytes=1 << 20)
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(assay.__file__).parent.parent)}
BEYOND = [
    "open('/etc/passwd').read()",
    "os.listdir('/')",
    "os.listdir('/tmp')",
    "open('/tmp/assay-confined', 'w')",
    "open('/proc/self/environ').read()",
    "open('/dev/null')",
    "os.fork()",
    "os.execv('/bin/true', ['true'])",
    "os.posix_spawn('/bin/true', ['true'], {})",
    "socket.socket()",
    "socket.socket(socket.AF_UNIX)",
    "os.readlink('/proc/self/exe')",
    "os.getxattr('/usr', 'user.x')",
    "os.memfd_create('x')",
    "mmap.mmap(-1, 4096)",
    "os.kill(os.getppid(), 0)",
    "os.kill(os.getppid(), signal.SIGTERM)",
    "signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 0)",
    "os.chmod('/tmp', 0o1777)",
    "os.utime('/tmp')",
    "os.setxattr('/tmp', 'user.x', b'y')",
    "os.chown('/tmp', 0, 0)",
    "os.setpriority(os.PRIO_PROCESS, os.getppid(), 1)",
    "resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))",
    "os.sched_setaffinity(os.getppid(), {0})",
    "resource.setrlimit(resource.RLIMIT_NOFILE, (100000, 100000)) if os.getuid() else open('/')",
    "bytearray(1 << 30)",
    "os.rename('/usr/bin/env', '/usr/bin/assay-env')",
    "os.chdir('/usr')",
    "fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())",
    "fcntl.fcntl(0, 10, signal.SIGKILL)",
    "fcntl.ioctl(0, 0x8901, b'0000')",
    "fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
]


def alone(code: str, *, readable: tuple[Path, ...] = LIBRARY, limits: Limits = LIMITS) -> str:
    """What a new, confined Python prints when it runs code; `attempt(f)` in it prints what f() gives, or the class of the error."""
    text = f"""
import os, sys
from pathlib import Path, PosixPath
from assay.analysis.sandbox.isolation.confine import prepare
from assay.analysis.sandbox.isolation.limits import Limits
import ctypes, decimal, fcntl, json, mmap, resource, signal, socket, threading
def attempt(what):
    try: print('got', what(), flush=True)
    except BaseException as error: print('refused', type(error).__name__, flush=True)
prepare({limits!r}, readable={readable!r}).apply()
{code}
"""
    ran = subprocess.run([sys.executable, "-c", text], env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)
    return ran.stdout + (f"status {ran.returncode}\n{ran.stderr[-300:]}" if ran.returncode else "")


def test_what_reaches_beyond_the_process_is_refused() -> None:
    lines = alone("\n".join(f"attempt(lambda: {what})" for what in BEYOND)).splitlines()
    assert [what for what, line in zip(BEYOND, lines, strict=True) if not line.startswith("refused")] == []


def test_priorities_of_a_whole_group_or_user_are_refused() -> None:
    # the number of no class of input and output, so that a call that got through would change nothing
    own = os.getpriority(os.PRIO_PROCESS, 0)  # nobody but root may ask for more
    number, no_class = seccomp.CALLS["ioprio_set"][seccomp.ARCHITECTURES[os.uname().machine][0]], 7 << 13
    code = f"""
libc = ctypes.CDLL(None, use_errno=True)
def error_of(who):
    libc.syscall({number}, who, 0, {no_class})
    return os.strerror(ctypes.get_errno())
os.setsid()
attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, {own}))
attempt(lambda: os.setpriority(os.PRIO_PGRP, 0, {own}))
attempt(lambda: [error_of(who) for who in (1, 2, 3)])
"""
    invalid, refused = os.strerror(errno.EINVAL), os.strerror(errno.EPERM)
    assert alone(code).splitlines() == ["got None", "refused PermissionError", f"got {[invalid, refused, refused]}"]


def test_computing_threads_and_reading_what_is_allowed_go_on(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("text")
    code = f"""
attempt(lambda: json.dumps(str(decimal.Decimal(1) / 3)))
out = []
thread = threading.Thread(target=out.append, args=(1,)); thread.start(); thread.join()
attempt(lambda: out)
attempt(lambda: open('{tmp_path}/in').read())
attempt(lambda: open('{tmp_path}/in', 'a'))
attempt(lambda: open('{tmp_path}/new', 'w'))
"""
    lines = alone(code, readable=(*LIBRARY, tmp_path)).splitlines()
    assert lines == ['got "0.3333333333333333333333333333"', "got [1]", "got text", "refused PermissionError", "refused PermissionError"]


@pytest.mark.slow
def test_cpu_time_counts_from_the_confinement_and_ends_the_process() -> None:
    assert alone("while True: pass", limits=Limits(cpu_s=0.5)).startswith("status -")


def test_a_process_may_end_itself_by_a_signal() -> None:
    assert alone("os.abort()").startswith("status -6")


def in_child(act: Callable[[], None]) -> int:
    """The exit status of a fork that does act; 1 where it raises."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_one_confinement_serves_many_children() -> None:
    confinement = prepare(LIMITS, readable=LIBRARY)

    def act() -> None:
        confinement.apply()
        with pytest.raises(PermissionError):
            Path("/etc/passwd").read_text()

    assert [in_child(act) for _ in range(3)] == [0, 0, 0]
    os.close(confinement.rules)
    assert Path("/etc/passwd").read_text()


def test_where_no_signal_scope_is_known_the_filter_keeps_signals_at_home() -> None:
    def act() -> None:
        seccomp.install(seccomp.process_filter(fork=False, execute=False, attributes=False, own_id=os.getpid()))
        os.kill(os.getpid(), 0)
        for pid in (os.getppid(), -1, 0, 1):
            with pytest.raises(PermissionError):
                os.kill(pid, 0)

    assert in_child(act) == 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x86_64 alone has a second set of numbers")
def test_a_call_by_the_numbers_of_another_architecture_kills() -> None:
    import ctypes

    def act() -> None:
        seccomp.install(seccomp.jail_filter())
        ctypes.CDLL(None).syscall(ctypes.c_long(seccomp.X32_BIT | 39))

    assert in_child(act) == -31


@pytest.mark.parametrize("machine", ["riscv64", "i686"])
def test_an_unknown_processor_is_refused_with_its_name(monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    with pytest.raises(seccomp.UnsupportedArchitecture, match=machine):
        seccomp.jail_filter()
    with pytest.raises(ConfinementError, match=machine):
        prepare(Limits())


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_filters_are_programs_whose_jumps_stay_inside(monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    for filter_ in (seccomp.jail_filter(), seccomp.process_filter(fork=True, execute=True, attributes=True, own_id=7)):
        assert len(filter_) % 8 == 0
        steps = [filter_[at : at + 8] for at in range(0, len(filter_), 8)]
        assert len(steps) <= 4096
        for place, step in enumerate(steps):
            jumps = step[0] & 7 == 5
            assert not jumps or place + 1 + max(step[2], step[3]) < len(steps)
        returns = 6
        assert steps[-1][0] == returns
