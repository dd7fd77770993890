"""The place that hostile programs attack, and whether harm was done there, as seen from outside."""

from __future__ import annotations

import os
import re
import secrets
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from .program import Hostile

# What a way of running programs says of one: `broken` where it can't say, as its checker did not live to.
Said = Literal["passed", "failed", "broken"]


@dataclass(frozen=True, slots=True)
class Verdict:
    said: Said
    output: str


# A way of running: program, test, name of the function, whether it is known to hang -> verdict.
Way = Callable[[str, str, str | None, bool], Verdict]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a hostile program. `harms` is empty where it was contained."""

    said: Said
    harms: tuple[str, ...]
    output: str


VICTIM = """
import ctypes, os, signal, sys, time
if sys.argv[1:]:
    os.setresgid(*[int(sys.argv[1])] * 3)
    os.setresuid(*[int(sys.argv[1])] * 3)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as open to its user's other processes as one that did not change its user
secret = os.environ["ASSAY_HOSTILE_SECRET"]
signal.signal(signal.SIGURG, lambda *_: os.write(1, b"signalled"))
os.write(1, b"ready")
while True:
    time.sleep(60)
"""
MIB = 2**20
# What the ways are to allow, and more than any start of an interpreter takes.
MEMORY, DISK, CPU_S, WALL_S, HANG_S, PATIENCE_S = 256 * MIB, 4 * MIB, 2.0, 10.0, 0.4, 25.0
SETTLE_S = 1.0


class Scene:
    """Files, listening sockets, victims and secrets. uid: the programs' user, who owns a part of them."""

    def __init__(self, folder: Path, uid: int | None = None) -> None:
        self.folder, self.uid, self.mark = folder, uid, f"hostile{secrets.token_hex(3)}"
        self.outside, self.home = folder / "outside", folder / "home"
        self.secret = f"SECRET-{secrets.token_hex(16)}"
        self.rounds = 0
        self._stack = ExitStack()
        self._reached: list[str] = []

    def __enter__(self) -> Scene:
        with ExitStack() as stack:
            self._furnish()
            self._environment(stack, HOME=str(self.home), ASSAY_HOSTILE_SECRET=self.secret)
            self._listen(stack)
            self.victims = [self._victim(stack, uid) for uid in dict.fromkeys((None, self.uid))]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._stack.close()

    def attack(self, program: Hostile, way: Way) -> Outcome:
        """Runs it, and looks what it did. What it broke of the scene is mended."""
        self.rounds += 1
        token = f"TOKEN-{secrets.token_hex(16)}"
        test = program.test.replace("@TOKEN@", token) + (f"\ncheck({program.entry_point})\n" if program.entry_point else "")
        before, self._reached[:] = self._files(), []
        began, clock = time.monotonic(), time.time() - time.monotonic()
        verdict = way(program.text(self._constants()), test, program.entry_point, program.hangs)
        if program.then:
            second = way(Hostile("", "harm", "", program.then).text(self._constants()), test, program.entry_point, program.hangs)
            said = next((s for s in ("broken", "passed") if s in (verdict.said, second.said)), "failed")
            verdict = Verdict(said, verdict.output + second.output)  # type: ignore[arg-type]
        took = time.monotonic() - began
        harms = list(self._seen(before, verdict.output))
        if verdict.said == "broken":
            harms.append("the checker broke")
        if took > (HANG_S if program.hangs else WALL_S) + PATIENCE_S:
            harms.append(f"took {took:.0f} s")
        if abs(time.time() - time.monotonic() - clock) > 5:
            harms.append("the clock was set")
        return Outcome(verdict.said, tuple(dict.fromkeys(harms)), verdict.output)

    def _constants(self) -> str:
        named = {
            "OUTSIDE": str(self.outside), "HOME": str(self.home), "PORT": self.port, "ABSTRACT": "\0" + self.mark, "MARK": self.mark,
            "VICTIMS": [victim.pid for victim in self.victims], "MEMORY": MEMORY, "DISK": DISK, "ROUND": self.rounds,
        }  # fmt: skip
        return "".join(f"{name} = {value!r}\n" for name, value in named.items())

    def _furnish(self) -> None:
        for path in (self.outside, self.home):
            path.mkdir(exist_ok=True)
            path.chmod(0o777)
        for name in ("secret.txt", "keep.txt", "owned.txt"):
            path = self.outside / name
            path.write_text(f"{name} {self.secret}\n", encoding="utf-8")
            path.chmod(0o666)
        (self.home / ".token").write_text(self.secret, encoding="utf-8")
        if self.uid is not None:
            os.chown(self.outside / "owned.txt", self.uid, -1)

    def _environment(self, stack: ExitStack, **values: str) -> None:
        for name, value in values.items():
            before = os.environ.get(name)
            os.environ[name] = value
            stack.callback(os.environ.pop, name, None) if before is None else stack.callback(os.environ.__setitem__, name, before)

    def _listen(self, stack: ExitStack) -> None:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port = tcp.getsockname()[1]
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", self.port))
        path, abstract = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        path.bind(str(self.outside / "socket"))
        (self.outside / "socket").chmod(0o777)
        abstract.bind("\0" + self.mark)
        for server in (path, abstract):
            server.listen()
        selector = stack.enter_context(selectors.DefaultSelector())
        for name, each in (("TCP", tcp), ("UDP", udp), ("Unix", path), ("abstract Unix", abstract)):
            selector.register(each, selectors.EVENT_READ, name)
        wake, waker = socket.socketpair()
        selector.register(wake, selectors.EVENT_READ, "")

        def listen() -> None:
            while True:
                for key, _ in selector.select():
                    if not key.data:
                        return
                    self._reached.append(key.data)
                    with suppress(OSError):
                        udp.recv(1) if key.fileobj is udp else key.fileobj.accept()[0].close()  # type: ignore[union-attr]

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        stack.callback(thread.join)
        stack.callback(waker.close)

    def _victim(self, stack: ExitStack, uid: int | None) -> subprocess.Popen[bytes]:
        user = [] if uid is None else [str(uid)]
        victim = subprocess.Popen([sys.executable, "-I", "-S", "-c", VICTIM, *user], stdout=subprocess.PIPE, start_new_session=True)
        assert victim.stdout is not None
        assert victim.stdout.read(5) == b"ready"
        os.set_blocking(victim.stdout.fileno(), False)

        def end() -> None:
            victim.kill()
            victim.communicate()

        stack.callback(end)
        return victim

    def _files(self) -> dict[str, tuple[object, ...]]:
        found = {}
        for folder in (self.outside, self.home):
            for path in [folder, *folder.rglob("*")] if folder.is_dir() else []:
                state = path.lstat()
                regular = path.is_file() and not path.is_symlink()
                content = path.read_bytes() if regular else b""
                times = () if path.is_dir() else (state.st_mtime_ns,)
                found[str(path)] = (state.st_mode, state.st_uid, state.st_nlink, *times, content)
        return found

    def _seen(self, before: dict[str, tuple[object, ...]], output: str) -> Iterator[str]:
        yield from re.findall(r"HARM: (.*)", output)
        if self.secret in output:
            yield "read the secret"
        if left := self._left_alive():
            yield f"{left} processes outlived it"
        after = self._files()
        if changed := [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]:
            yield f"changed files outside: {', '.join(sorted(Path(path).name for path in changed))}"
            self._restore()
        for place in places():
            for path in _named(place, self.mark):
                yield f"left a file in {place}"
                with suppress(OSError):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield from (f"reached a {name} socket" for name in self._reached)
        for number, victim in enumerate(self.victims):
            assert victim.stdout is not None
            state = Path(f"/proc/{victim.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            if state in "TtZX" or victim.poll() is not None or victim.stdout.read():
                yield "signalled another process"
                victim.kill()
                self.victims[number] = self._victim(self._stack, None if number == 0 else self.uid)

    def _left_alive(self) -> int:
        """How many processes with the mark are still there after a moment; they are killed."""
        until = time.monotonic() + SETTLE_S
        while (alive := list(processes(self.mark))) and time.monotonic() < until:
            time.sleep(0.02)
        for pid in alive:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return len(alive)

    def _restore(self) -> None:
        for folder in (self.outside, self.home):
            for path in folder.iterdir() if folder.is_dir() else ():
                if path.name != "socket":
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        self._furnish()


def places() -> list[Path]:
    """Folders, apart from the scene's, where a program may leave a file."""
    names = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/usr/local", "/var", ".", sys.prefix, sysconfig.get_path("purelib"))
    return [Path(name) for name in names]


def _named(place: Path, mark: str) -> list[Path]:
    with suppress(OSError):
        return [path for path in place.iterdir() if mark in path.name]
    return []


def processes(mark: str) -> Iterator[int]:
    """Process ids, of this namespace and those within it, that have the mark in their name or command line and are not dead."""
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with suppress(OSError):
                named = mark in (path / "comm").read_text(errors="replace") or mark.encode() in (path / "cmdline").read_bytes()
                if named and (path / "stat").read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX":
                    yield int(path.name)
