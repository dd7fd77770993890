"""A jail without namespaces: the program runs below a launcher, which confines it (level landlock) or only limits it (level none)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import cgroup, view
from .removal import remove
from .running_jail import JailEnd, JailError, RunningJail

SANDBOX = Path(__file__).resolve().parents[1]
BOOT = f"import sys; sys.path.insert(0, {str(SANDBOX.parent)!r}); from {SANDBOX.name}.isolation.launcher import main; main({{order!r}})"


def start(contents: view.Contents, *, confined: bool, enter: Sequence[str], uid: int | None) -> LauncherJail:
    """Start contents below a launcher.

    Parameters:
        confined: whether the launcher confines the program, or only limits it.
        enter: the start of the launcher's command line.
        uid: the user that root drops to; None to stay.

    Raises: JailError.
    """
    limits = contents.limits
    for mount in contents.mounts:
        if mount.source != mount.target:
            raise JailError(f"{mount.source} can't be shown as {mount.target} without bubblewrap: mount it where it is")
    private = tempfile.mkdtemp(prefix="assay-jail-")
    if uid is not None:
        os.chown(private, uid, uid)
    control, hold = os.pipe()
    report, tell = os.pipe()
    order = {
        "argv": list(contents.argv),
        "cwd": private if contents.cwd == view.PRIVATE_TMP else str(contents.cwd),
        "environment": {"HOME": private, "TMPDIR": private}
        | {name: value for name, value in contents.environment.items() if value != str(view.PRIVATE_TMP)},
        "private": private,
        "uid": uid,
        "confined": confined,
        "control": control,
        "report": tell,
        "readable": [*map(str, (*view.system_paths(), *view.interpreter_folders(), *(mount.source for mount in contents.mounts)))],
        "writable": [private, *(str(mount.source) for mount in contents.mounts if mount.writable)],
        "processes": limits.processes,
        # what stands for infinity has no literal
        "bounds": {"cpu_s": min(limits.cpu_s, 1e18), "memory_bytes": limits.memory_bytes, "file_bytes": limits.file_bytes},
    }
    try:
        process = subprocess.Popen(
            [*enter, sys.executable, "-I", "-S", "-c", BOOT.format(order=order)],
            stdin=contents.stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=view.ENVIRONMENT,
            cwd="/",
            pass_fds=(control, tell, *contents.pass_fds),
            start_new_session=True,
        )
    except OSError as error:
        os.close(hold)
        os.close(report)
        remove(private)
        raise JailError(f"the launcher could not be started: {error}") from None
    finally:
        os.close(control)
        os.close(tell)
    group = cgroup.make(limits, own_processes=3)
    group.admit(process.pid)
    return LauncherJail(process, report, hold, private, group)


class LauncherJail(RunningJail):
    """A running jail of a launcher. ended: the descriptor on which the launcher reports."""

    def __init__(self, process: subprocess.Popen[bytes], report: int, hold: int, private: str, group: cgroup.Group) -> None:
        super().__init__(process, process.pid, report, group, private)
        self._hold: int | None = hold

    def kill(self) -> None:
        """End every process inside: the launcher kills them when the other end of its pipe is closed."""
        if self._hold is not None:
            os.close(self._hold)
            self._hold = None

    def reap(self) -> JailEnd:
        """Wait until the launcher has ended all processes inside; how the jail ended."""
        said = b""
        while more := os.read(self.ended, 4096):
            said += more
        self.kill()
        self.process.wait()
        killed_for_memory = self._reaped()
        if self.private is not None:
            remove(self.private)
        try:
            status, cpu_s, failure = said.decode(errors="replace").split(" ", 2)
            return JailEnd(int(status), float(cpu_s), failure, killed_for_memory)
        except ValueError:
            return JailEnd(-1, 0.0, "the launcher ended without a report")
