"""What a jailed program can't see, change or leave behind, on every level of isolation that works here."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest
from jails import (
    DEFECTS,
    TMP,
    attempt,
    command_lines,
    every_level,
    gone,
    isolating,
    needs_level,
    our_environment,
    python,
    soon,
    zombies,
)

import assay
from assay.analysis.sandbox.isolation.jail import Jail, Mount
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.isolation.view import interpreter_folders, system_paths, within

NOT_ITS_BUSINESS = [
    "open('/etc/shadow').read()",
    "open('/etc/passwd').read()",
    f"open({__file__!r}).read()",
    "os.listdir('/var')",
    "open('/usr/assay-was-here', 'w')",
    "open('/etc/assay-was-here', 'w')",
    "open('/assay-was-here', 'w')",
    "open('/dev/assay-was-here', 'w')",
    "open('/proc/sys/kernel/core_pattern', 'w')",
    "open('/proc/sysrq-trigger', 'w')",
    "open('/sys/kernel/mm/ksm/run', 'w')",
    "os.mknod('/tmp/device', 0o60666, os.makedev(254, 0))",
    "os.chroot('/tmp')",
    "os.sethostname('x') if hasattr(os, 'sethostname') else __import__('socket').sethostname('x')",
    "__import__('time').clock_settime(0, 0)",
    "os.setuid(0) or (_ for _ in ()).throw(OSError) if os.getuid() else None",
    "os.nice(-5)",
    "__import__('socket').create_connection(('127.0.0.1', PORT), 2)",
    "__import__('socket').create_connection(('192.0.2.1', 80), 2)",
    "__import__('socket').getaddrinfo('example.org', 80)",
    "os.memfd_create('hidden')",
    "__import__('mmap').mmap(-1, 1 << 20)",
]


def granted(level: Isolation, attempts: list[str]) -> list[str]:
    """Which of the attempts succeed in a jail."""
    ran = python(level, "\n".join(map(attempt, attempts)))
    answers = ran.stdout.decode().splitlines()
    assert len(answers) == len(attempts), ran
    return [what for what, answer in zip(attempts, answers, strict=True) if not answer.startswith("refused")]


@every_level
def test_the_environment_holds_nothing_of_ours(level: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SECRET", "hush-hush")
    code = """
import os
for name in ('/proc/self/environ', '/proc/1/environ'):
    try: print(open(name, 'rb').read())
    except OSError as error: print(error)
print(os.environ)
"""
    ran = python(level, code)
    assert b"hush" not in ran.stdout.replace(b"\0", b"")
    assert b"PATH" in ran.stdout


@isolating
def test_what_is_not_its_business_is_refused(level: Isolation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert granted(level, [what.replace("PORT", str(server.getsockname()[1])) for what in NOT_ITS_BUSINESS]) == []


@isolating
def test_of_the_folders_around_the_interpreter_only_the_way_to_it_is_seen(level: Isolation) -> None:
    ours = interpreter_folders()
    shown = (*ours, *system_paths())
    around = {Path("/home"), Path("/root"), Path.home(), *(above for folder in ours for above in folder.parents)} - {Path("/")}
    around = {folder for folder in around if not any(within(folder, other) for other in shown)}
    ways = {str(folder): {path.relative_to(folder).parts[0] for path in shown if within(path, folder)} for folder in around}
    code = f"""
import os
seen = {{}}
for folder in {sorted(ways)}:
    try: seen[folder] = os.listdir(folder)
    except OSError: pass
print(seen)
"""
    seen = literal_eval(python(level, code).stdout.decode())
    assert {folder: names for folder, names in seen.items() if not set(names) <= ways[folder]} == {}


@isolating
def test_a_socket_of_the_machine_is_out_of_reach_even_in_a_folder_that_is_shown(level: Isolation, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    heard = []
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
        for name, listener in (("stream", server), ("datagrams", datagrams)):
            listener.bind(f"/proc/self/fd/{os.open(tmp_path, os.O_PATH)}/{name}")
            (tmp_path / name).chmod(0o777)
        server.listen()
        code = f"""
import os, socket
os.chdir({str(tmp_path)!r})
def reach(family, kind, name, pair=False):
    try:
        s = socket.socketpair(family, kind)[0] if pair else socket.socket(family, kind)
        s.sendto(b"hello", name) if kind == socket.SOCK_DGRAM else s.connect(name)
        print("reached", name)
    except OSError as error:
        print("refused", error.errno)
reach(socket.AF_UNIX, socket.SOCK_STREAM, "stream")
reach(socket.AF_UNIX, socket.SOCK_DGRAM, "datagrams")
reach(socket.AF_UNIX, socket.SOCK_DGRAM, "datagrams", pair=True)
reach(socket.AF_UNIX, socket.SOCK_STREAM, "stream", pair=True)
"""
        ran = python(level, code, mounts=(Mount(tmp_path, tmp_path),))
        for listener in (server, datagrams):
            listener.setblocking(False)
            try:
                heard.append(listener.recv(10) if listener is datagrams else listener.accept())
            except BlockingIOError:
                continue
    assert ran.stdout.count(b"refused") == 4, ran
    assert heard == []


@isolating
def test_sockets_of_kinds_that_reach_the_kernel_or_the_host_are_refused(level: Isolation) -> None:
    families = {"packet": (17, 3), "vsock": (40, 1), "kernel crypto": (38, 5), "Bluetooth": (31, 3)}
    assert granted(level, [f"__import__('socket').socket{family}" for family in families.values()]) == []


@isolating
def test_a_socket_or_a_device_is_not_mounted(level: Isolation, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for source in (tmp_path / "pipe", Path("/dev/zero")):
        ran = python(level, "print('ran')", mounts=(Mount(source, source),))
        assert (ran.ending, "neither a file nor a folder" in ran.reason) == ("infrastructure", True)


@isolating
def test_the_machines_slots_for_asynchronous_input_stay_free(level: Isolation) -> None:
    before = Path("/proc/sys/fs/aio-nr").read_text()
    code = """
import ctypes
libc, context = ctypes.CDLL(None, use_errno=True), ctypes.c_ulong(0)
print(libc.syscall(206 if __import__('platform').machine() == 'x86_64' else 0, 1000, ctypes.byref(context)), ctypes.get_errno())
print(open('/proc/sys/fs/aio-nr').read() if __import__('os').access('/proc/sys/fs/aio-nr', 4) else '')
"""
    ran = python(level, code)
    assert ran.stdout.splitlines()[0] == b"-1 1", ran
    assert before == Path("/proc/sys/fs/aio-nr").read_text()


@needs_level(Isolation.LANDLOCK)
def test_without_namespaces_no_folder_can_be_watched_and_no_attribute_read(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    try:
        os.setxattr(tmp_path / "file", "user.secret", b"private")
    except OSError:
        pytest.skip("this file system has no attributes")
    tmp_path.chmod(0o755)
    watch = "__import__('ctypes').CDLL(None, use_errno=True).inotify_init1(0) < 0 and (_ for _ in ()).throw(OSError)"
    path = str(tmp_path / "file")
    assert granted(Isolation.LANDLOCK, [watch, f"os.getxattr({path!r}, 'user.secret')", f"os.listxattr({path!r})"]) == []


@isolating
def test_new_namespaces_and_other_processes_memory_are_refused(level: Isolation) -> None:
    code = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    result = getattr(libc, name)(*args)
    return result, errno.errorcode.get(ctypes.get_errno())
print(call('unshare', 0x10000000))
print(call('ptrace', 16, os.getppid(), 0, 0))
print(call('shmget', 0, 1 << 20, 0o1600))
print(call('mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None))
print(call('syscall', 425, 8, 0))
print(call('personality', 0x0040000))
print(call('keyctl', 0, 0, 0) if hasattr(libc, 'keyctl') else (-1, 'EPERM'))
"""
    ran = python(level, code)
    assert ran.stdout.splitlines() == [b"(-1, 'EPERM')"] * 7, (ran.stdout, ran.stderr)


@isolating
def test_the_process_that_keeps_the_jail_is_out_of_reach(level: Isolation) -> None:
    folders = ("/proc/1", "/proc/' + str(os.getppid()) + '")
    files = [f"open('{folder}/{file}', 'rb').read(1)" for folder in folders for file in ("mem", "maps", "environ", "fd/1", "task/1/mem")]
    assert granted(level, [*files, *(f"os.listdir('{folder}/root')" for folder in folders)]) == []


@isolating
def test_other_processes_are_neither_seen_nor_signalled(level: Isolation) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        code = f"""
import os, signal
for pid in ({bystander.pid}, os.getppid(), -1, 0):
    try:
        if pid == 0: signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.kill(pid, signal.SIGTERM)
    except OSError as error:
        pass
try: print(os.path.exists('/proc/{bystander.pid}/cmdline') and open('/proc/{bystander.pid}/cmdline').read())
except OSError: print(False)
print('alive')
"""
        ran = python(level, code.replace("for pid", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor pid"))
        assert bystander.poll() is None
        bystander.kill()
    assert ran.stdout == b"False\nalive\n", ran


@isolating
def test_mounts_show_what_they_name_and_only_writable_ones_change(level: Isolation, shared: Path) -> None:
    for name in ("read", "write", "hidden"):
        (shared / name).mkdir()
        (shared / name / "file").write_text(name)
    mounts = (Mount(shared / "read", shared / "read"), Mount(shared / "write", shared / "write", writable=True))
    code = f"""
import os
for name in ('read', 'write', 'hidden'):
    for what in ('r', 'a'):
        try:
            with open('{shared}/' + name + '/file', what) as file: print(name, what, file.write('!') if what == 'a' else file.read())
        except OSError as error: print(name, what, 'refused')
os.symlink('/etc/shadow', '{shared}/write/link')
try: os.link('{shared}/read/file', '{shared}/write/hard')
except OSError: print('no link')
"""
    ran = python(level, code, mounts=mounts)
    expected = ["read r read", "read a refused", "write r write", "write a 1", "hidden r refused", "hidden a refused", "no link"]
    assert ran.stdout.decode().splitlines() == expected, ran
    assert (shared / "write" / "file").read_text() == "write!"
    assert (shared / "hidden" / "file").read_text() == "hidden"


def test_a_mount_may_have_another_place_only_in_a_bubble(shared: Path) -> None:
    if not DEFECTS[Isolation.BUBBLEWRAP]:
        (shared / "file").write_text("there")
        assert (
            python(Isolation.BUBBLEWRAP, "print(open('/assay-place/file').read())", mounts=(Mount(shared, Path("/assay-place")),)).stdout
            == b"there\n"
        )
    refused = python(Isolation.NONE, "", mounts=(Mount(shared, Path("/assay-place")),))
    assert refused.ending == "infrastructure"
    assert "mount it where it is" in refused.reason


@every_level
def test_the_private_folder_is_empty_bounded_and_gone_afterwards(level: Isolation) -> None:
    code = "import os, tempfile; print(os.listdir(os.environ['TMPDIR'])); print(tempfile.mkdtemp(prefix='assay-left-'))"
    # the interpreter may lie in /tmp itself
    interpreter = sorted({folder.parts[2] for folder in interpreter_folders() if folder.parts[1] == "tmp"})
    for _ in range(2):
        ran = python(level, code)
        first, left = ran.stdout.decode().splitlines()
        assert first == "[]" or (level == Isolation.BUBBLEWRAP and first == str(interpreter))
        assert not Path(left).exists()


@every_level
def test_nothing_outlives_the_program(level: Isolation) -> None:
    marker, before = f"assay-outlives-{level}-{os.getpid()}", zombies()
    daemon = """
import os, signal, sys, time
for number in range(1, 64):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if os.fork(): os._exit(0)
        time.sleep(60)
    os._exit(0)
time.sleep(SLEEP)
"""
    for sleep, limits in (("0.1", Limits(processes=40, wall_s=30)), ("60", Limits(processes=40, wall_s=0.5))):
        ran = Jail(level).run([sys.executable, "-I", "-S", "-c", daemon.replace("SLEEP", sleep), marker], cwd=TMP, limits=limits)
        assert ran.ending == ("exited" if sleep == "0.1" else "timed_out")
        assert gone(marker)
    assert zombies() <= before


@every_level
def test_a_jail_dies_with_its_supervisor(level: Isolation) -> None:
    marker = f"assay-dies-{level}-{os.getpid()}"
    program = "import os, sys, time; open(os.environ['TMPDIR'] + '/' + sys.argv[1], 'w'); os.fork(); print('up'); time.sleep(60)"
    supervisor = f"""
import sys
from pathlib import Path
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.limits import Limits
argv = [sys.executable, "-I", "-S", "-u", "-c", {program!r}, {marker!r}]
with Jail(Isolation({level.value!r})).start(argv, cwd=Path("/tmp"), limits=Limits(processes=40)) as started:
    print(started.stdout.readline(), flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", supervisor], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=our_environment()
    ) as process:
        assert process.stdout is not None
        assert b"up" in process.stdout.readline()
        assert any(marker in line for line in command_lines())
        process.kill()
    assert gone(marker)
    assert soon(lambda: not list(TMP.glob(f"assay-jail-*/{marker}")))
    # those orphans came to us: no jail of ours waits for them
    for pid in zombies():
        os.waitpid(pid, 0)


@needs_level(Isolation.BUBBLEWRAP)
def test_a_jail_whose_starter_is_killed_while_bubblewrap_starts_runs_nothing_and_is_gone() -> None:
    marker = f"assay-never-{os.getpid()}"
    starter = f"""
import os, signal, subprocess, sys
from pathlib import Path
from assay.analysis.sandbox.isolation import bubblewrap
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation
def die(self, process, told, *_):
    os.close(told)  # as if killed before bubblewrap has told its process ids
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        pass
    os.kill(os.getpid(), signal.SIGKILL)
bubblewrap.BubblewrapJail.__init__ = die
Jail(Isolation.BUBBLEWRAP).run([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", {marker!r}], cwd=Path("/tmp"))
"""
    assert subprocess.run([sys.executable, "-c", starter], env=our_environment(), check=False).returncode == -9
    assert gone(marker)


@isolating
def test_inherited_files_reach_a_started_process_and_no_others_do(level: Isolation) -> None:
    read, write = os.pipe()
    leak = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(leak, True)
    code = "import os, sys\nos.write(int(sys.argv[1]), b'through')\nprint(sorted(os.listdir('/proc/self/fd'), key=int))"
    argv = [sys.executable, "-I", "-S", "-u", "-c", code, str(write)]
    with Jail(level).start(argv, cwd=TMP, pass_fds=[write]) as started:
        assert os.read(read, 20) == b"through"
        fds = eval(started.stdout.readline())
        assert set(fds) - {"0", "1", "2", str(write)} <= {fds[-1], "3"}
        assert str(leak) not in fds
    for fd in (read, write, leak):
        os.close(fd)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
@isolating
def test_root_is_never_root_inside_and_closed_mounts_are_refused(level: Isolation, shared: Path) -> None:
    uids = {python(level, "import os; print(os.getuid(), os.getgid(), os.geteuid(), *os.getgroups())").stdout for _ in range(2)}
    assert len(uids) == 2
    assert all(int(number) >= 61184 for line in uids for number in line.split())
    (shared / "closed").mkdir(mode=0o700)
    refused = python(level, "", mounts=(Mount(shared / "closed", shared / "closed"),))
    assert refused.ending == "infrastructure"
    assert "chmod -R o+rX" in refused.reason
    (shared / "closed").chmod(0o755)
    (shared / "closed" / "file").touch(mode=0o600)
    assert "closed/file can't be read" in python(level, "", mounts=(Mount(shared / "closed", shared / "closed"),)).reason


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0 or not Path("/usr/bin/python3").exists(), reason="needs root, and the system's Python"
)
def test_an_ordinary_user_gets_the_same_levels(shared: Path) -> None:
    package = shared / "assay"
    shutil.copytree(Path(assay.__file__).parent / "analysis", package / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(assay.__file__), package / "__init__.py")
    code = (
        "import sys\nif sys.version_info < (3, 11): print('old'); sys.exit()\n"
        "from assay.analysis.sandbox.isolation.levels import Isolation\n"
        "from assay.analysis.sandbox.isolation.jail import Jail\nprint([Jail(level).defect() for level in Isolation])"
    )
    subprocess.run(["chmod", "-R", "a+rX", str(shared)], check=True)
    argv = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "/usr/bin/python3", "-c", code]
    ran = subprocess.run(
        argv, env={"PYTHONPATH": str(shared), "PATH": os.environ["PATH"]}, cwd="/", capture_output=True, text=True, check=False
    )
    if ran.stdout == "old\n":
        pytest.skip("the system's Python is older than 3.11")
    assert ran.stdout == f"{[DEFECTS[level] for level in Isolation]}\n", ran.stderr


@needs_level(Isolation.LANDLOCK)
def test_without_a_network_of_its_own_a_program_gets_pairs_of_streams_only() -> None:
    code = """
import socket
a, b = socket.socketpair()
a.send(b"stream"); print(b.recv(9))
for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC):
    try:
        socket.socketpair(socket.AF_UNIX, kind)
    except PermissionError:
        print("refused")
"""
    assert python(Isolation.LANDLOCK, code).stdout == b"b'stream'\n" + b"refused\n" * 3
