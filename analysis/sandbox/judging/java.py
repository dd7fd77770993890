"""Java programs and their tests: a warm compiler, a warm judge, and for each program a virtual machine of its own."""

from __future__ import annotations

import math
import queue
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from ..isolation.containment import Unjailed
from ..isolation.jail import USUAL, Jail, Mount
from ..isolation.limits import Limits
from .conversation import Channel, Closed, Command, Late, NotReady, Server, await_ready, finished, how_ended, judged
from .result import Ending, Result

SOURCES = Path(__file__).resolve().parent / "jvm"
OLDEST_JAVA = 17
COMPILE_S = 60.0
# a compiler that is not done by then has the program to blame where it had that much of the processor; no sound program needs a tenth
COMPILE_CPU_S = 20.0
# a JVM's own threads; what it holds and how long it works before the program does
THREADS = 64
OWN_BYTES = 256 << 20
OWN_CPU_S = 1.0
HOW = f"install a JDK, {OLDEST_JAVA} or later (Debian, Ubuntu: sudo apt install openjdk-17-jdk-headless; macOS: brew install openjdk)"
# one core, short-lived: the serial collector and the first compiler start fastest
FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto", "-XX:+DisplayVMOutputToStderr")


class MissingJava(Exception):
    """There is no JDK that can compile and run programs; the message says how to get it."""


@dataclass(frozen=True, slots=True)
class Jdk:
    """The folder of a JDK, and what must be mounted where it lies outside of the system."""

    home: Path
    mounts: tuple[Mount, ...]

    def tool(self, name: str) -> str:
        """The path of one of its programs."""
        return str(self.home / "bin" / name)


@cache
def find_jdk(java: str = "java") -> Jdk:
    """The JDK that the program `java` belongs to. Raises MissingJava."""
    found = shutil.which(java)
    if found is None:
        raise MissingJava(f"There is no {java} here, which runs Java programs: {HOW}.")
    said = subprocess.run([found, "-XshowSettings:properties", "-version"], capture_output=True, text=True, timeout=60, check=False)
    properties = {name.strip(): value for name, is_one, value in (line.partition(" = ") for line in said.stderr.splitlines()) if is_one}
    home, version = properties.get("java.home"), properties.get("java.specification.version", "")
    if said.returncode != 0 or home is None:
        raise MissingJava(f"{found} does not run: {said.stderr.strip() or f'status {said.returncode}'}. Instead, {HOW}.")
    if not version.isdigit() or int(version) < OLDEST_JAVA:
        raise MissingJava(f"{found} is Java {version}, which is too old: {HOW}.")
    jdk = Jdk(Path(home), () if home.startswith("/usr/") else (Mount(Path(home), Path(home)),))
    if not Path(jdk.tool("javac")).exists():
        raise MissingJava(f"{home} has no javac, which compiles Java programs: it is a runtime only. Instead, {HOW}.")
    return jdk


@dataclass(frozen=True, slots=True)
class Bench:
    """What checks one program at a time."""

    compiler: Server
    judge: Server


class JavaSandbox:
    """Checks Java programs: each in a virtual machine and a jail of its own, judged by a test that runs in another.

    The test is trusted: a class with a `main` that throws where the program is wrong (`assert` statements count), as in HumanEval-X and
    MBXP. The program's classes are stand-ins there, with the same signatures: a call carries its arguments to the program's process, as
    data, and brings back a value that is made anew, of the standard library's exact classes, and what the call changed in its arguments.
    Primitive types and their boxes, String, StringBuilder, BigInteger, BigDecimal, arrays, the collections and maps, Optional, Map.Entry,
    and null travel; objects of the program's own classes stay in its process, have their methods there, and are equal to themselves
    alone. Fields are not seen, but for static final ones.

    A test sees the program's imports from java.*, and no class of its that hides one of the library's. A fresh virtual machine for each
    program takes 40 ms of CPU, and is the only thing that keeps one program from changing what the next one does.

    workers: how many programs are checked at a time by `check_many`, each with a compiler and a judge of its own (300 MB). Takes a second
    to make. Raises MissingJava.
    """

    def __init__(self, jail: Jail, *, workers: int = 1, java: str = "java") -> None:
        self._jail, self._workers = jail, workers
        self._jdk = find_jdk(java)
        self._open = ExitStack()
        try:
            self._classes = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="assay-java-")))
            self._classes.chmod(0o755)
            subprocess.run([self._jdk.tool("javac"), "-d", self._classes, *sorted(SOURCES.glob("*.java"))], check=True, capture_output=True)
            self._benches: queue.SimpleQueue[Bench] = queue.SimpleQueue()
            for _ in range(workers):
                compiler = self._command("Compiler", memory(512), str(self._classes))
                judge = self._command("Judge", memory(256))
                self._benches.put(Bench(*(self._open.enter_context(Server(jail, command)) for command in (compiler, judge))))
        except BaseException:
            self._open.close()
            raise

    def _command(self, main: str, limits: Limits, *arguments: str) -> Command:
        heap = max(16 << 20, limits.memory_bytes - OWN_BYTES)
        argv = [self._jdk.tool("java"), *FLAGS, f"-Xmx{heap}", "-XX:+ExitOnOutOfMemoryError", "-XX:-CreateCoredumpOnCrash"]
        argv += ["-XX:ErrorFile=/dev/null", "-cp", str(self._classes), f"assay.sandbox.{main}", *arguments]
        return Command(argv, (*self._jdk.mounts, Mount(self._classes, self._classes)), limits, {"MALLOC_ARENA_MAX": "2"})

    def check(self, program: str, test: str, *, limits: Limits = USUAL) -> Result:
        """The verdict of the test on the program; one that does not compile has failed, with the compiler's messages as the reason.

        limits.processes is raised to the threads that a JVM needs, and a second of CPU time is the JVM's.
        """
        began = time.monotonic()
        bench = self._benches.get()
        try:
            # it starts while the compiler works
            own = replace(limits, processes=max(THREADS, limits.processes), cpu_s=limits.cpu_s + OWN_CPU_S)
            with self._command("Runner", own).start(self._jail) as process:
                return finished(conversation(bench, Channel(process), program, test, limits), process, began)
        except Unjailed as error:
            return Result(Ending.INFRASTRUCTURE, str(error), wall_s=time.monotonic() - began)
        finally:
            self._benches.put(bench)

    def check_many(self, pairs: Iterable[tuple[str, str]], *, limits: Limits = USUAL) -> Iterator[Result]:
        """The verdicts on pairs of program and test, in their order, `workers` at a time."""
        with ThreadPoolExecutor(self._workers) as pool:
            yield from pool.map(lambda pair: self.check(*pair, limits=limits), pairs)

    def close(self) -> None:
        """End the compilers and the judges."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


def memory(heap_mib: int) -> Limits:
    """The limits of one of our own virtual machines."""
    return Limits(cpu_s=math.inf, memory_bytes=OWN_BYTES + (heap_mib << 20), processes=THREADS)


def conversation(bench: Bench, runner: Channel, program: str, test: str, limits: Limits) -> tuple[Ending, str]:
    """Compile both, hand the program's classes to its process, and run the test on it."""
    kind, compiled = compiled_by(bench.compiler, program, test)
    if kind != b"O":
        return {b"E": Ending.FAILED, b"L": Ending.TIMED_OUT}.get(kind, Ending.INFRASTRUCTURE), compiled.decode(errors="replace")
    deadline = time.monotonic() + limits.wall_s
    end = end_of_classes(compiled)
    try:
        await_ready(runner, deadline)
        runner.send(compiled[:end], deadline)
    except Closed as error:
        return how_ended(runner.process, limits, str(error))
    except NotReady as error:
        return Ending.INFRASTRUCTURE, str(error)
    except Late:
        return Ending.TIMED_OUT, f"it was not done after {limits.wall_s:g} s on the clock"
    return judged(bench.judge, compiled[end:], runner, limits, deadline)


def compiled_by(compiler: Server, program: str, test: str) -> tuple[bytes, bytes]:
    """O and the class files, E and the compiler's messages, U and why the test is none, L where it worked too long, or I where it broke."""
    channel = compiler.channel()
    deadline, used_before = time.monotonic() + COMPILE_S, channel.process.cpu_s()
    try:
        channel.send(packed(program) + packed(test), deadline)
        answer = channel.receive(deadline)
    except Late:
        used = channel.process.cpu_s() - used_before
        compiler.drop()
        reason = f"the compiler was not done after {COMPILE_S:g} s on the clock and {used:.1f} s of CPU time"
        return b"L" if used >= COMPILE_CPU_S else b"I", reason.encode()
    except Closed as error:
        complaint = compiler.complaint()
        compiler.drop()
        if "OutOfMemoryError" in complaint:
            return b"E", b"the compiler ran out of memory"
        return b"I", f"the compiler ended: {complaint or error}".encode()
    return answer[:1], answer[1:]


def packed(text: str) -> bytes:
    """Text as the frames hold it: its length in UTF-16 units, and those."""
    units = text.encode("utf-16-be", "surrogatepass")
    return struct.pack(">I", len(units) // 2) + units


def end_of_classes(data: bytes) -> int:
    """Where the first list of class files ends: a count, and for each its name and its bytes."""
    (count,) = struct.unpack_from(">I", data)
    at = 4
    for _ in range(count):
        for unit in (2, 1):
            (length,) = struct.unpack_from(">I", data, at)
            at += 4 + unit * length
    return at
