"""What a jailed program can and can't do, on every level of isolation that works here, and how its end is told."""

from __future__ import annotations

import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analysis.sandbox.containment import Unjailed
from assay.analysis.sandbox.isolation import Isolation
from assay.analysis.sandbox.jail import Jail, Mount, Ran
from assay.analysis.sandbox.limits import FILES, Limits
from assay.analysis.sandbox.view import interpreter_folders

TMP = Path("/tmp")
DEFECTS = {level: Jail(level).defect() for level in Isolation} if sys.platform == "linux" else {}
ISOLATING = [
    pytest.param(
        level, marks=pytest.mark.skipif(bool(DEFECTS.get(level, "not Linux")), reason=f"{level}: {DEFECTS.get(level, 'not Linux')}")
    )
    for level in (Isolation.BUBBLEWRAP, Isolation.LANDLOCK)
]
ALL = [*ISOLATING, pytest.param(Isolation.NONE, marks=pytest.mark.skipif(sys.platform != "linux", reason="not Linux"))]
QUICK = Limits(cpu_s=5, wall_s=30, memory_bytes=256 << 20)
every_level = pytest.mark.parametrize("level", ALL)
isolating = pytest.mark.parametrize("level", ISOLATING)


def python(
    level: Isolation, code: str, *, limits: Limits = QUICK, mounts: tuple[Mount, ...] = (), stdin: bytes = b"", **variables: str
) -> Ran:
    """Run Python code in a jail of that level, in its private folder."""
    return Jail(level).run(
        [sys.executable, "-I", "-S", "-c", code], cwd=TMP, limits=limits, mounts=mounts, environment=variables, stdin=stdin
    )


def attempt(code: str) -> str:
    """A program that tries code, and prints what it gives, or the class of the error."""
    return f"import os, sys\ntry:\n    print('got', {code})\nexcept BaseException as error:\n    print('refused', type(error).__name__)\n"


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    """A folder that any user gets to: pytest's own are closed to others."""
    folder = TMP / f"assay-test-{os.getpid()}-{tmp_path.name}"
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def soon(is_so: Callable[[], bool]) -> bool:
    """Whether it becomes so within a few seconds."""
    for _ in range(200):
        if is_so():
            return True
        time.sleep(0.02)
    return False


def gone(marker: str) -> bool:
    """Whether soon no process has the marker in its command line."""
    return soon(lambda: not any(marker in line for line in command_lines()))


def command_lines() -> list[str]:
    lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines.append((folder / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return lines


def zombies() -> set[int]:
    """Ids of this process's ended, unreaped children."""
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    ids = [int(pid) for file in children for pid in file.read_text().split()]
    return {pid for pid in ids if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"}


@every_level
def test_a_program_gets_its_input_and_environment_and_gives_its_output_and_status(level: Isolation) -> None:
    ran = python(
        level, "import os, sys; print(sys.stdin.read() + os.environ['A']); print('e', file=sys.stderr); sys.exit(7)", stdin=b"in", A="b"
    )
    assert (ran.ending, ran.status, ran.stdout, ran.stderr) == ("exited", 7, b"inb\n", b"e\n")
    assert ran.reason == "it ended with status 7"
    assert 0 < ran.wall_s < 30


@every_level
@settings(max_examples=4)
@given(data=st.binary(max_size=300_000))
def test_any_input_comes_through_as_it_is(level: Isolation, data: bytes) -> None:
    ran = python(level, "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", stdin=data, limits=Limits(output_bytes=1 << 20))
    assert ran.stdout == data


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


@every_level
def test_endings_are_told_apart(level: Isolation) -> None:
    assert python(level, "import os; os.kill(os.getpid(), 11)").ending == "signalled"
    assert python(level, "import os; os.abort()").status == signal.SIGABRT
    assert python(level, "bytearray(1 << 30)").ending == "out_of_memory"
    slow = python(level, "while True: pass", limits=Limits(cpu_s=0.3, wall_s=30))
    assert (slow.ending, slow.reason) == ("timed_out", "it used more than 0.3 s of CPU time")
    waits = python(level, "import time; time.sleep(60)", limits=Limits(wall_s=0.5))
    assert (waits.ending, waits.reason) == ("timed_out", "it was not done after 0.5 s on the clock")
    assert waits.cpu_s < 0.4


@every_level
def test_what_the_jail_can_not_do_is_infrastructure_and_says_why(level: Isolation, shared: Path) -> None:
    jail = Jail(level)
    assert "is not in the jail, or can't be run there" in jail.run(["/no/such/program"], cwd=TMP).reason
    assert jail.run(["/no/such/program"], cwd=TMP).ending == "infrastructure"
    assert jail.run(["no-such-program"], cwd=TMP).ending == "infrastructure"
    assert jail.run(["true"], cwd=Path("/no/such/folder")).ending == "infrastructure"
    missing = jail.run(["true"], cwd=TMP, mounts=[Mount(shared / "no", shared / "no")])
    assert missing.ending == "infrastructure"
    assert "is not there" in missing.reason
    assert jail.run(["true"], cwd=TMP).ending == "exited"


@every_level
def test_a_program_can_not_pass_for_a_failure_of_the_jail(level: Isolation) -> None:
    for code in ("print('bwrap: Creating new namespace failed', file=sys.stderr); sys.exit(1)", "os.close(1); os.close(2); os._exit(126)"):
        ran = python(level, f"import os, sys; {code}")
        assert ran.ending == "exited", ran


@every_level
def test_arguments_that_make_no_sense_are_refused(level: Isolation) -> None:
    jail = Jail(level)
    with pytest.raises(ValueError, match="a program and an absolute working folder"):
        jail.run(["true"], cwd=Path("relative"))
    with pytest.raises(ValueError, match="a program and an absolute working folder"):
        jail.run([], cwd=TMP)
    with pytest.raises(ValueError, match="not an environment variable"):
        jail.run(["true"], cwd=TMP, environment={"A=B": "c"})
    with pytest.raises(ValueError, match="memory_bytes is 0"):
        Limits(memory_bytes=0)


@every_level
def test_output_is_cut_and_endless_output_ends(level: Isolation) -> None:
    code = "import sys\nprint('first')\nwhile True: print('x' * 1000); print('y' * 1000, file=sys.stderr)"
    ran = python(level, code, limits=Limits(cpu_s=0.4, wall_s=30, output_bytes=1000))
    assert ran.ending == "timed_out"
    assert (len(ran.stdout), len(ran.stderr)) == (1000, 1000)
    assert ran.stdout.startswith(b"first\nxxx")


@isolating
@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/shadow').read()",
        "open('/etc/passwd').read()",
        "os.listdir(os.path.expanduser('~root')) if os.getuid() == 0 else os.listdir('/home')",
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
    ],
)
def test_what_is_not_its_business_is_refused(level: Isolation, code: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ran = python(level, attempt(code.replace("PORT", str(server.getsockname()[1]))))
    assert ran.stdout.startswith(b"refused"), (ran.stdout, ran.stderr)


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
    for pid in ("1", "{os.getppid()}"):
        for file in ("mem", "maps", "environ", "fd/1", "root", "task/1/mem"):
            what = f"os.listdir(f'/proc/{pid}/{file}')" if file == "root" else f"open(f'/proc/{pid}/{file}', 'rb').read(1)"
            assert python(level, attempt(what)).stdout.startswith(b"refused"), what


@isolating
def test_shared_memory_without_a_file_counts(level: Isolation) -> None:
    code = (
        "import mmap, os\nm = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1\nprint('all')"
    )
    ran = python(level, code)
    assert ran.ending in ("out_of_memory", "exited"), ran
    assert b"all" not in ran.stdout


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
def test_the_disk_can_not_be_filled(level: Isolation) -> None:
    code = "import os\nos.chdir(os.environ['TMPDIR'])\nfor i in range(10**6):\n    with open(str(i), 'wb') as f: f.write(bytes(1 << 20))"
    ran = python(level, code, limits=Limits(cpu_s=5, wall_s=30, file_bytes=4 << 20))
    assert ran.ending in ("exited", "signalled")
    assert ran.status != 0
    assert b"No space left" in ran.stderr or "bytes of files" in ran.reason
    large = python(level, "import os; open(os.environ['TMPDIR'] + '/f', 'wb').truncate(1 << 30)", limits=Limits(file_bytes=4 << 20))
    assert b"File too large" in large.stderr


@pytest.mark.parametrize("level", [ALL[0], *(pytest.param(*each.values, marks=[*each.marks, pytest.mark.slow]) for each in ALL[1:])])
def test_files_without_number_are_stopped(level: Isolation) -> None:
    code = "import os\nos.chdir(os.environ['TMPDIR'])\nfor i in range(10**7): open(str(i), 'w').close()"
    ran = python(level, code, limits=Limits(cpu_s=20, wall_s=60))
    assert (ran.ending, ran.reason) == ("signalled", f"it made more than {FILES} files")


@isolating
def test_writable_folders_are_bounded_too(level: Isolation, shared: Path) -> None:
    code = f"for i in range(10**6):\n    with open('{shared}/' + str(i), 'wb') as f: f.write(bytes(1 << 18))"
    ran = python(level, code, mounts=(Mount(shared, shared, writable=True),), limits=Limits(cpu_s=20, wall_s=60, file_bytes=1 << 20))
    assert (ran.ending, ran.reason) == ("signalled", f"it wrote more than {1 << 20} bytes of files")


@isolating
def test_one_process_means_neither_fork_nor_thread_and_more_are_bounded(level: Isolation) -> None:
    assert python(level, attempt("os.fork()")).stdout.startswith(b"refused")
    assert b"can't start new thread" in python(level, "import threading; threading.Thread(target=print).start()").stderr
    bomb = """
import os, time
made = 0
while made < 500:
    try:
        if os.fork() == 0: time.sleep(20); os._exit(0)
    except OSError: break
    made += 1
print(made, flush=True)
"""
    ran = python(level, bomb, limits=Limits(processes=12, wall_s=30))
    assert ran.ending == "exited"
    assert 5 <= int(ran.stdout) <= 12


@every_level
def test_many_processes_share_one_bound_of_memory(level: Isolation) -> None:
    code = "import os, time\nfor _ in range(7):\n    if os.fork() == 0: break\nkeep = bytearray(b'x') * (60 << 20); time.sleep(20)"
    ran = python(level, code, limits=Limits(processes=40, memory_bytes=100 << 20, wall_s=15))
    assert ran.ending == "out_of_memory", ran


@every_level
def test_the_cpu_time_of_children_counts(level: Isolation) -> None:
    code = "import os\nfor _ in range(3):\n    if os.fork() == 0:\n        while True: pass\nwhile True: os.waitpid(-1, 0)"
    ran = python(level, code, limits=Limits(processes=40, cpu_s=0.5, wall_s=30))
    assert (ran.ending, ran.reason) == ("timed_out", "it used more than 0.5 s of CPU time")


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
from assay.analysis.sandbox.isolation import Isolation
from assay.analysis.sandbox.jail import Jail
from assay.analysis.sandbox.limits import Limits
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


def our_environment() -> dict[str, str]:
    """An environment in which a new Python finds the package that is tested."""
    import assay

    return os.environ | {"PYTHONPATH": str(Path(assay.__file__).parent.parent)}


@every_level
def test_a_started_process_serves_until_it_is_killed(level: Isolation) -> None:
    echo = "import sys\nfor line in sys.stdin: print(line.upper(), end=''); print('seen', file=sys.stderr)"
    with Jail(level).start([sys.executable, "-I", "-S", "-u", "-c", echo], cwd=TMP, limits=Limits(cpu_s=math.inf)) as started:
        for word in (b"one\n", b"two\n"):
            started.stdin.write(word)
            started.stdin.flush()
            assert started.stdout.readline() == word.upper()
        assert started.running
        assert started.cpu_s() >= 0
        started.stdin.close()
        assert started.stdout.read() == b""
        assert soon(lambda: not started.running)
        assert started.stderr_tail() == "seen\nseen\n"


@every_level
def test_a_started_process_outlives_the_thread_that_started_it(level: Isolation) -> None:
    found = []
    code = "import sys\nfor line in sys.stdin: print(line, end='')"
    thread = threading.Thread(target=lambda: found.append(Jail(level).start([sys.executable, "-I", "-S", "-u", "-c", code], cwd=TMP)))
    thread.start()
    thread.join()
    with found[0] as started:
        time.sleep(0.2)
        started.stdin.write(b"still here\n")
        started.stdin.flush()
        assert started.stdout.readline() == b"still here\n"


@every_level
def test_a_started_process_is_held_to_its_memory(level: Isolation) -> None:
    code = "import os, time\nfor _ in range(3): os.fork()\nkeep = bytearray(b'x') * (60 << 20); time.sleep(20)"
    limits = Limits(processes=40, memory_bytes=100 << 20)
    with Jail(level).start([sys.executable, "-I", "-S", "-c", code], cwd=TMP, limits=limits) as started:
        assert started.stdout.read() == b""
        started.kill()
        assert "more than 100 MiB" in started.stopped_for


@every_level
def test_what_can_not_be_started_says_why(level: Isolation) -> None:
    before = zombies()
    with pytest.raises(Unjailed, match="is not in the jail, or can't be run there"):
        Jail(level).start(["/no/such/program"], cwd=TMP)
    assert zombies() <= before


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
    import assay

    package = shared / "assay"
    shutil.copytree(Path(assay.__file__).parent / "analysis", package / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(assay.__file__), package / "__init__.py")
    code = (
        "import sys\nif sys.version_info < (3, 11): print('old'); sys.exit()\nfrom assay.analysis.sandbox.isolation import Isolation\n"
        "from assay.analysis.sandbox.jail import Jail\nprint([Jail(level).defect() for level in Isolation])"
    )
    subprocess.run(["chmod", "-R", "a+rX", str(shared)], check=True)
    argv = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", "/usr/bin/python3", "-c", code]
    ran = subprocess.run(
        argv, env={"PYTHONPATH": str(shared), "PATH": "/usr/bin:/bin"}, cwd="/", capture_output=True, text=True, check=False
    )
    if ran.stdout == "old\n":
        pytest.skip("the system's Python is older than 3.11")
    assert ran.stdout == f"{[DEFECTS[level] for level in Isolation]}\n", ran.stderr
