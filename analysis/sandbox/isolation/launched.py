"""A jail without namespaces: the program runs below a launcher of ours, which confines it (landlock) or only limits it (none)."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import cgroup, view
from .containment import End, Unjailed
from .limits import OPEN_FILES, Limits
from .removal import remove

SANDBOX = Path(__file__).resolve().parents[1]
BOOT = f"import sys; sys.path.insert(0, {str(SANDBOX.parent)!r}); from {SANDBOX.name}.isolation.launcher import main; main({{order!r}})"


def begin(
    argv: Sequence[str],
    *,
    cwd: Path,
    mounts: Sequence[view.Mount],
    environment: Mapping[str, str],
    limits: Limits,
    confined: bool,
    enter: Sequence[str],
    uid: int | None,
    stdin: int,
    pass_fds: Sequence[int] = (),
) -> Launched:
    """Start argv below a launcher. enter: the start of its command line. uid: whom root drops to, None for nobody. Raises Unjailed."""
    for mount in mounts:
        if mount.source != mount.target:
            raise Unjailed(f"{mount.source} can't be shown as {mount.target} without bubblewrap: mount it where it is")
    private = tempfile.mkdtemp(prefix="assay-jail-")
    if uid is not None:
        os.chown(private, uid, uid)
    control, hold = os.pipe()
    report, tell = os.pipe()
    order = {
        "argv": list(argv),
        "cwd": private if cwd == view.PRIVATE else str(cwd),
        "environment": {"HOME": private, "TMPDIR": private}
        | {name: value for name, value in environment.items() if value != str(view.PRIVATE)},
        "private": private,
        "uid": uid,
        "confined": confined,
        "readable": [str(path) for path in (*view.system_paths(), *view.interpreter_folders(), *(mount.source for mount in mounts))],
        "writable": [private, *(str(mount.source) for mount in mounts if mount.writable)],
        "cpu_s": None if math.isinf(limits.cpu_s) else limits.cpu_s,
        "memory_bytes": limits.memory_bytes,
        "file_bytes": limits.file_bytes,
        "open_files": OPEN_FILES,
        "processes": limits.processes,
        "control": control,
        "report": tell,
    }
    try:
        process = subprocess.Popen(
            [*enter, sys.executable, "-I", "-S", "-c", BOOT.format(order=order)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=view.ENVIRONMENT,
            cwd="/",
            pass_fds=(control, tell, *pass_fds),
            start_new_session=True,
        )
    except OSError as error:
        os.close(hold)
        os.close(report)
        remove(private)
        raise Unjailed(f"the launcher could not be started: {error}") from None
    finally:
        os.close(control)
        os.close(tell)
    group = cgroup.make(limits, own_processes=3)
    group.admit(process.pid)
    return Launched(process, report, hold, private, group)


class Launched:
    """One running jail, from outside. process: the launcher, with which all inside ends; ended: its report, once it comes."""

    def __init__(self, process: subprocess.Popen[bytes], report: int, hold: int, private: str, group: cgroup.Group) -> None:
        self.process, self.root, self.ended = process, process.pid, report
        self.private: str | None = private
        self._hold: int | None = hold
        self._group = group

    def kill(self) -> None:
        """End every process inside: the launcher does it when the other end of its pipe is closed."""
        if self._hold is not None:
            os.close(self._hold)
            self._hold = None

    def oom_kills(self) -> int:
        """How many processes inside the kernel has killed for the memory of the jail's group."""
        return self._group.oom_kills()

    def reap(self) -> End:
        """Wait until the launcher has ended all inside, and say how it went."""
        said = b""
        while more := os.read(self.ended, 4096):
            said += more
        self.kill()
        self.process.wait()
        os.close(self.ended)
        killed_for_memory = self.oom_kills() > 0
        self._group.remove()
        if self.private is not None:
            remove(self.private)
        try:
            status, cpu_s, failure = said.decode(errors="replace").split(" ", 2)
            return End(int(status), float(cpu_s), failure, killed_for_memory)
        except ValueError:
            return End(-1, 0.0, "the launcher ended without a report")
