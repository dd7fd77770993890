"""A jail of namespaces, made by bubblewrap: only what `view` names of the machine, no network, no capabilities, a pid namespace of its own.

bubblewrap never runs as root: root drops to an unprivileged user id that no account has, a new one for each jail. Folders that such a user
can't reach (an interpreter under /root) are shown to bubblewrap in a mount namespace made for that.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import secrets
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from . import cgroup, kernel, view
from .kernel import GRACE_S, MAX_OPEN_FILES
from .limits import Limits
from .running_jail import READY, JailEnd, JailError, RunningJail
from .seccomp import jail_filter

# where programs are looked for that root runs
_SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# runs inside before the program: sets the limits (RLIMIT_NPROC is counted per user namespace, so it is set there), then reports readiness
ENTER = """if [ "$BASH_VERSION" ]; then ulimit -u $1; else ulimit -p $1; fi
ulimit -c 0 && ulimit -d $2 && ulimit -f $3 && ulimit -n $4 && ulimit -t $5 || exit 1
shift 5
case $1 in
*/*) [ -x "$1" ] && [ ! -d "$1" ] ;;
*) command -v "$1" >/dev/null ;;
esac || { echo "$1 is not in the jail, or can't be run there" >&2; exit 1; }
echo ok
exec "$@"
"""


def jail_user() -> int:
    """A random user id that no account has, of a range that systemd leaves unused, or of its transient users. Raises JailError."""
    ranges = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    for low, high in ((0x70000000, 0x7FFF0000), (61184, 65520)):
        if any(inside <= low and high <= inside + count for inside, _, count in ranges):
            return low + secrets.randbelow(high - low)
    raise JailError("root has no other user ids here to run programs as: give the container's user namespace at least 65536 of them")


@cache
def options(program: str) -> frozenset[str]:
    """The options that this version of bubblewrap has."""
    shown = subprocess.run([program, "--help"], env=view.ENVIRONMENT, capture_output=True, text=True, timeout=20, check=False)
    return frozenset(word for word in (shown.stdout + shown.stderr).split() if word.startswith("--"))


def system_arguments() -> list[str]:
    """The arguments that show the system, read-only, with /proc and /dev of the jail's own."""
    arguments: list[str] = []
    for path in view.system_paths():
        if path.is_symlink() and path.parent == Path("/"):
            arguments += ["--symlink", str(path.readlink()), str(path)]
        else:
            arguments += ["--ro-bind", str(path), str(path)]
    # pid 1 is bubblewrap itself, without limits: a program that could write to its memory would escape them
    arguments += ["--proc", "/proc", "--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1", "--dev", "/dev"]
    return arguments


def command(program: str, inside: view.Contents, fds: tuple[int, int, int]) -> list[str]:
    """The command line of bubblewrap.

    fds: it writes its process ids to the first, waits for a byte on the second, and reads its filter from the third.
    """
    size = str(inside.limits.file_bytes)
    arguments = [program, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"]
    arguments += ["--disable-userns"] if "--disable-userns" in options(program) else []
    arguments += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "jail"]
    arguments += ["--info-fd", str(fds[0]), "--block-fd", str(fds[1]), "--seccomp", str(fds[2])]
    arguments += system_arguments()
    arguments += ["--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--size", size, "--tmpfs", str(view.PRIVATE_TMP)]
    interpreter = [view.Mount(path, path) for path in view.interpreter_folders()]
    for mount in sorted([*interpreter, *inside.mounts], key=lambda mount: len(mount.target.parts)):
        arguments += ["--bind" if mount.writable else "--ro-bind", str(mount.source), str(mount.target)]
    arguments += ["--remount-ro", "/", "--chdir", str(inside.cwd), "--", "/bin/sh", "-c", ENTER, "sh"]
    return [*arguments, *resource_limits(inside.limits), *inside.argv]


def resource_limits(limits: Limits) -> list[str]:
    """The arguments of ENTER: processes (bubblewrap's own included), KiB of data, blocks of 512 bytes per file, open files, CPU seconds."""
    open_files = min(MAX_OPEN_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1] % (1 << 63))
    cpu = "unlimited" if math.isinf(limits.cpu_s) else str(math.ceil(limits.cpu_s) + GRACE_S)
    return [str(limits.processes + 1), str(limits.memory_bytes >> 10), str(-(-limits.file_bytes // 512)), str(open_files), cpu]


class Stage:
    """A mount namespace in which any user can reach some folders that only root can reach outside, and nothing else beside them.

    Root makes one for each set of folders. `enter` gives the start of a command line that runs the rest of it inside.
    """

    def __init__(self, hidden: Sequence[Path]) -> None:
        place = Path(tempfile.mkdtemp(prefix="assay-stage-", dir=view.PRIVATE_TMP))
        argv = [_of_the_system("unshare"), "--mount", "--propagation", "private", "sh", "-ec", _staging(hidden, place)]
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": _SYSTEM_PATH}
        ) as holder:
            assert holder.stdout is not None
            if holder.stdout.readline() != READY:
                _, complaint = holder.communicate()
                place.rmdir()
                shown, why = ", ".join(map(str, hidden)), complaint.decode(errors="replace").strip()
                raise JailError(f"{shown} can't be reached by an unprivileged user (chmod o+x the folders above), nor shown to one: {why}")
            self._namespace = os.open(f"/proc/{holder.pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
            holder.communicate()
        place.rmdir()
        weakref.finalize(self, os.close, self._namespace)

    def enter(self, uid: int | None) -> list[str]:
        """The start of a command line that enters the namespace and, unless uid is None, drops to that user."""
        down = [] if uid is None else [f"--setgid={uid}", f"--setuid={uid}"]
        return [_of_the_system("nsenter"), f"--mount=/proc/{os.getpid()}/fd/{self._namespace}", *down, "--"]


def _staging(hidden: Sequence[Path], place: Path) -> str:
    """The shell commands that cover each folder closed to others by an open one that holds only what is to be shown."""
    quoted = [(shlex.quote(str(source)), shlex.quote(str(place / str(number)))) for number, source in enumerate(hidden)]
    made = ["mkdir" if source.is_dir() else "touch" for source in hidden]
    lines = [f"mount -t tmpfs -o mode=755,size=1m tmpfs {shlex.quote(str(place))}"]
    lines += [f"{make} {kept}; mount --rbind {source} {kept}" for make, (source, kept) in zip(made, quoted, strict=True)]
    closed = sorted({next(p for p in reversed(source.parents) if not view.open_to_others(p, stat.S_IXOTH)) for source in hidden})
    lines += [f"mount -t tmpfs -o mode=755,size=1m tmpfs {shlex.quote(str(folder))}" for folder in closed]
    for source, make, (shown, kept) in zip(hidden, made, quoted, strict=True):
        lines.append(f"mkdir -p {shlex.quote(str(source.parent))}; [ -e {shown} ] || {make} {shown}; mount --rbind {kept} {shown}")
    return "\n".join([*lines, f"umount -l {shlex.quote(str(place))}", "echo ok", "read -r _ || :"])


def start(contents: view.Contents, enter: Sequence[str]) -> BubblewrapJail:
    """Start contents in a jail of their own. enter: how the command line starts, by which root drops to another user. Raises JailError."""
    program = shutil.which("bwrap", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/local/bin")
    if program is None:
        raise JailError("bubblewrap (bwrap) is not installed")
    filter_bytes = jail_filter()
    told, tell = _pipe_that_stays_open()
    gate, open_gate = os.pipe()
    filter_, write_filter = os.pipe()
    inside = (tell, gate, filter_)
    with contextlib.ExitStack() as ours:
        for fd in (told, open_gate):
            ours.callback(os.close, fd)
        try:
            os.write(write_filter, filter_bytes)
            os.close(write_filter)
            line = [*enter, *command(program, contents, inside)]
            try:
                process = subprocess.Popen(
                    line,
                    stdin=contents.stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=dict(contents.environment),
                    cwd="/",
                    pass_fds=(*inside, *contents.pass_fds),
                    # a Ctrl-C in the terminal must not reach it
                    start_new_session=True,
                )
            except OSError as error:
                raise JailError(f"{line[0]} could not be started: {error}") from None
        finally:
            for fd in inside:
                os.close(fd)
        return BubblewrapJail(process, told, open_gate, cgroup.make(contents.limits, own_processes=1))


def _pipe_that_stays_open() -> tuple[int, int]:
    """A pipe whose second end can be written to even where nobody has the first any more.

    If this process is killed while bubblewrap starts, bubblewrap must not end by the signal of a broken pipe before it has let its child
    run: the child would wait for ever. So both go on, and the shell inside ends at its first word to this process.
    """
    read, write = os.pipe()
    both = os.open(f"/proc/self/fd/{write}", os.O_RDWR | os.O_CLOEXEC)
    os.close(write)
    return read, both


def _of_the_system(name: str) -> str:
    """The path of a program that root runs, looked for in the system's folders only. Raises JailError."""
    if (found := shutil.which(name, path=_SYSTEM_PATH)) is None:
        raise JailError(f"{name} (of util-linux) is not installed")
    return found


def become(uid: int) -> list[str]:
    """The start of a command line that runs the rest of it as uid, in no group but its own."""
    return [_of_the_system("setpriv"), f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs", "--"]


class BubblewrapJail(RunningJail):
    """A running jail of bubblewrap's. root: the id, outside, of pid 1 of the jail; all processes inside end with it."""

    def __init__(self, process: subprocess.Popen[bytes], told: int, gate: int, group: cgroup.Group) -> None:
        """Read the process ids from `told`, put them into the group, and let the jail start by a byte through `gate`. Raises JailError."""
        said, opened = b"", []
        while b"}" not in said and (more := os.read(told, 4096)):
            said += more
        try:
            root = int(json.loads(said)["child-pid"])
            opened += [kernel.open_process(process.pid)]
            opened += [kernel.open_process(root)]
        except (ValueError, KeyError, OSError) as error:
            for fd in opened:
                os.close(fd)
            process.kill()
            _, complaint = process.communicate()
            group.remove()
            why = f"its processes can't be watched: {error}" if isinstance(error, OSError) else "ended at its start"
            raise JailError(f"bubblewrap: {complaint.decode(errors='replace').strip() or why}") from None
        ended, self._fd = opened
        super().__init__(process, root, ended, group)
        group.admit(root)
        with contextlib.suppress(BrokenPipeError):
            os.write(gate, b"x")

    def kill(self) -> None:
        """End every process inside; bubblewrap then ends by itself."""
        with contextlib.suppress(ProcessLookupError):
            kernel.send_signal(self._fd, signal.SIGKILL)

    def reap(self) -> JailEnd:
        """Wait until all processes inside are gone; how the jail ended.

        bubblewrap's pid 1 is orphaned at the end. This process adopts it (`adopting_orphans`) and reaps it, so it never stays as a zombie.
        """
        _, status, used = os.wait4(self.process.pid, 0)
        code = self.process.returncode = os.waitstatus_to_exitcode(status)
        cpu_s = used.ru_utime + used.ru_stime
        self.kill()
        with contextlib.suppress(ChildProcessError):
            _, _, used = os.wait4(self.root, 0)
            cpu_s += used.ru_utime + used.ru_stime
        os.close(self._fd)
        # bubblewrap reports a signal as a shell does, as 128 + its number
        failure = f"bubblewrap was ended by signal {-code}" if code < 0 else ""
        return JailEnd(128 - code if 128 < code < 128 + signal.NSIG else code, cpu_s, failure, self._reaped())
