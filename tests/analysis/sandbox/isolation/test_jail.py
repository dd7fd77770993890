"""How the end of a jailed program is told, and how it is held to its limits, on every level of isolation that works here."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from jails import (
    ALL,
    TMP,
    attempt,
    every_level,
    isolating,
    needs_level,
    python,
    soon,
    zombies,
)

from assay.analysis.sandbox.isolation.jail import Jail, Mount
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.analysis.sandbox.isolation.limits import MAX_FILES, Limits
from assay.analysis.sandbox.isolation.running_jail import JailError


@every_level
def test_a_program_gets_its_input_and_environment_and_gives_its_output_and_status(level: Isolation) -> None:
    ran = python(
        level, "import os, sys; print(sys.stdin.read() + os.environ['A']); print('e', file=sys.stderr); sys.exit(7)", stdin=b"in", A="b"
    )
    assert (ran.ending, ran.status, ran.stdout, ran.stderr) == ("exited", 7, b"inb\n", b"e\n")
    assert ran.reason == "it ended with status 7"
    assert ran.wall_s > 0


@every_level
def test_any_input_comes_through_as_it_is(level: Isolation) -> None:
    data = bytes(range(256)) * 1200
    ran = python(level, "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", stdin=data, limits=Limits(output_bytes=1 << 20))
    assert ran.stdout == data


@pytest.mark.slow
@every_level
def test_endings_are_told_apart(level: Isolation) -> None:
    assert python(level, "import os; os.kill(os.getpid(), 11)").ending == "signalled"
    assert python(level, "import os; os.abort()").status == signal.SIGABRT
    assert python(level, "bytearray(1 << 30)").ending == "out_of_memory"
    assert (python(level, "import sys; sys.exit(-1)").ending, python(level, "import os; os._exit(255)").status) == ("exited", 255)
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
    before = zombies()
    with pytest.raises(JailError, match="is not in the jail, or can't be run there"):
        jail.start(["/no/such/program"], cwd=TMP)
    assert zombies() <= before


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
def test_shared_memory_without_a_file_counts(level: Isolation) -> None:
    code = (
        "import mmap, os\nm = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 30)\nfor i in range(0, 1 << 30, 4096): m[i] = 1\nprint('all')"
    )
    ran = python(level, code)
    assert ran.ending in ("out_of_memory", "exited"), ran
    assert b"all" not in ran.stdout


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
    assert (ran.ending, ran.reason) == ("signalled", f"it made more than {MAX_FILES} files")


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
    if os.geteuid() != 0 and level is Isolation.LANDLOCK and ran.ending == "signalled":
        # other tasks of this user have ended meanwhile, so the kernel let it start more
        assert ran.reason == "it started more than 12 processes and threads"
    else:
        assert ran.ending == "exited"
        assert (5 if os.geteuid() == 0 else 1) <= int(ran.stdout) <= 12


@every_level
def test_many_processes_share_one_bound_of_memory(level: Isolation) -> None:
    code = "import os, time\nfor _ in range(7):\n    if os.fork() == 0: break\nkeep = bytearray(b'x') * (60 << 20); time.sleep(20)"
    ran = python(level, code, limits=Limits(processes=40, memory_bytes=100 << 20, wall_s=15))
    assert ran.ending == "out_of_memory", ran


@pytest.mark.slow
@every_level
def test_the_cpu_time_of_children_counts(level: Isolation) -> None:
    code = "import os\nfor _ in range(3):\n    if os.fork() == 0:\n        while True: pass\nwhile True: os.waitpid(-1, 0)"
    ran = python(level, code, limits=Limits(processes=40, cpu_s=0.5, wall_s=30))
    assert (ran.ending, ran.reason) == ("timed_out", "it used more than 0.5 s of CPU time")


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
def test_a_jail_is_in_another_session_from_its_first_process_on(level: Isolation) -> None:
    # a Ctrl-C in the terminal goes to all of a session's foreground group
    def children() -> set[int]:
        return {int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}

    before = children()
    with Jail(level).start(["/bin/cat"], cwd=TMP) as started:
        first = children() - before
        sessions = {os.getsid(pid) for pid in (*first, started.pid)}
    assert first
    assert os.getsid(0) not in sessions


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


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root")
@isolating
def test_what_root_runs_is_never_looked_for_on_the_programs_path(level: Isolation, shared: Path) -> None:
    for name in ("setpriv", "nsenter", "bwrap", "unshare"):
        (shared / name).write_text(f"#!/bin/sh\ntouch {shared}/ran-outside\n")
        (shared / name).chmod(0o755)
    environment = {"PATH": f"{shared}:/usr/bin:/bin"}
    ran = Jail(level).run(["/bin/true"], cwd=TMP, mounts=[Mount(shared, shared)], environment=environment)
    assert (ran.ending, ran.status) == ("exited", 0)
    assert not (shared / "ran-outside").exists()


@needs_level(Isolation.BUBBLEWRAP)
def test_a_python_without_descriptors_of_processes_has_jails_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert python(Isolation.BUBBLEWRAP, "print(1)").stdout == b"1\n"
    assert python(Isolation.BUBBLEWRAP, "while True: pass", limits=Limits(cpu_s=0.3)).ending == "timed_out"
