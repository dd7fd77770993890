"""Java programs and their tests: a warm compiler, and for each program two virtual machines, its own and its judge's."""

from __future__ import annotations

import math
import struct
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Self

from ..isolation.jail import DEFAULT_LIMITS, Jail, Mount, RunningProcess
from ..isolation.limits import Limits
from .call_relay import Channel, ChannelClosed, Command, DeadlinePassed, WarmProcess, await_ready, blamed, judged_apart, load, run_test
from .result import ProgramOutcome, Result
from .runtime import MissingRuntime, Runtime, said_by

SOURCES = Path(__file__).resolve().parent / "jvm"
MIN_JAVA = 17
COMPILE_S = 60.0
# a compiler that times out after this much CPU time is the program's fault; a normal program needs less than a tenth of it
COMPILE_CPU_S = 20.0
# a JVM's own threads, memory, and CPU time before the program starts
THREADS = 64
OWN_BYTES = 256 << 20
OWN_CPU_S = 1.0
ENDS_OF_COMPILING = {
    b"E": ProgramOutcome.FAILED,
    b"L": ProgramOutcome.TIMED_OUT,
    b"U": ProgramOutcome.NOT_JUDGEABLE,
    b"I": ProgramOutcome.INFRASTRUCTURE,
}
HOW = f"install a JDK, {MIN_JAVA} or later (Debian, Ubuntu: sudo apt install openjdk-17-jdk-headless; macOS: brew install openjdk)"
# one core, short-lived: the serial collector and the first compiler start fastest
FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto", "-XX:+DisplayVMOutputToStderr")


@cache
def find_jdk(java: str = "java") -> Runtime:
    """The JDK that the program `java` belongs to. Raises MissingRuntime."""
    found, said = said_by(java, "-XshowSettings:properties", "-version", language="Java", how=HOW)
    properties = {name.strip(): value for name, is_one, value in (line.partition(" = ") for line in said.stderr.splitlines()) if is_one}
    home, version = properties.get("java.home"), properties.get("java.specification.version", "")
    if home is None or not version.isdigit() or int(version) < MIN_JAVA:
        raise MissingRuntime(f"{found} is Java {version}, which is too old: {HOW}.")
    jdk = Runtime(Path(home) / "bin" / "java")
    if not jdk.program.with_name("javac").exists():
        raise MissingRuntime(f"{home} has no javac, which compiles Java programs: it is a runtime only. Instead, {HOW}.")
    return jdk


def jvm_limits(heap_mib: int) -> Limits:
    """The limits of one of our own virtual machines."""
    return Limits(cpu_s=math.inf, memory_bytes=OWN_BYTES + (heap_mib << 20), processes=THREADS)


JUDGE = jvm_limits(256)
# a program that passes its test
SOUND = (
    "class Solution { int sound(int x) { return x + 1; } }",
    "class Main { public static void main(String[] a) { if (new Solution().sound(1) != 2) throw new AssertionError(); } }",
)


class JavaSandbox:
    """Checks Java programs: each runs in a virtual machine and a jail of its own, and is judged by a test that runs in another.

    The test is trusted: a class with a `main` that throws where the program is wrong (`assert` statements count), as in HumanEval-X and
    MBXP. There the program's classes are stand-ins with the same signatures. A call sends its arguments to the program's process as data.
    It brings back a value, rebuilt of the standard library's exact classes, and what the call changed in its arguments. These types are
    sent: primitive types and their boxes, String, StringBuilder, BigInteger, BigDecimal, arrays, the collections and maps, Optional,
    Map.Entry, and null. Objects of the program's own classes stay in its process, run their methods there, and equal only themselves. Only
    static final fields are visible. A test may also call System.exit, and ends when the threads that it started do.

    A test sees the program's imports from java.*, and no class of the program that hides one of the library's. Each program gets fresh
    virtual machines for itself and for its judge, which take 40 ms of CPU each: nothing else keeps one program from changing what becomes
    of the next one. Values can leave a class of the library broken for good, such as one whose initialiser runs out of stack.

    Making one takes a second. Raises MissingRuntime.
    """

    def __init__(self, jail: Jail) -> None:
        self._jail, self._jdk, self._compiling = jail, find_jdk(), threading.Lock()
        with ExitStack() as opened:
            self._classes = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="assay-java-")))
            self._classes.chmod(0o755)
            # in its own folder: javac takes classes, and what processes annotations, from the current one
            javac: list[str | Path] = [
                self._jdk.program.with_name("javac"),
                "-proc:none",
                "-d",
                self._classes,
                *sorted(SOURCES.glob("*.java")),
            ]
            subprocess.run(javac, check=True, capture_output=True, cwd=self._classes)
            command = self._command("Compiler", jvm_limits(512), str(self._classes))
            self._compiler = opened.enter_context(WarmProcess(jail, command))
            self._opened = opened.pop_all()

    def _command(self, main: str, limits: Limits, *arguments: str) -> Command:
        heap = max(16 << 20, limits.memory_bytes - OWN_BYTES)
        argv = [str(self._jdk.program), *FLAGS, f"-Xmx{heap}", "-XX:+ExitOnOutOfMemoryError", "-XX:-CreateCoredumpOnCrash"]
        argv += ["-XX:ErrorFile=/dev/null", "-cp", str(self._classes), f"assay.sandbox.{main}", *arguments]
        return Command(argv, (*self._jdk.mounts, Mount(self._classes, self._classes)), limits, {"MALLOC_ARENA_MAX": "2"})

    def check(self, program: str, test: str, *, limits: Limits = DEFAULT_LIMITS) -> Result:
        """Test a program. One that does not compile has failed, with the compiler's messages as the reason.

        limits: processes is raised to the threads that a JVM needs; cpu_s gets a second more, for the JVM itself.
        """
        return blamed(lambda program, test: self._check_once(program, test, limits), program, test, SOUND)

    def _check_once(self, program: str, test: str, limits: Limits) -> Result:
        own = replace(limits, processes=max(THREADS, limits.processes), cpu_s=limits.cpu_s + OWN_CPU_S)

        # both are started before, so that they come up while the compiler works
        def run(process: RunningProcess, judge: RunningProcess) -> tuple[ProgramOutcome, str]:
            with self._compiling:
                kind, compiled = compile_both(self._compiler, program, test)
            if kind != b"O":
                return ENDS_OF_COMPILING[kind], compiled.decode(errors="replace")
            return run_compiled(JudgeChannel(judge), Channel(process), compiled, limits)

        return judged_apart(self._jail, self._command("Runner", own), self._command("Judge", JUDGE), run)

    def close(self) -> None:
        """End the compiler."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class JudgeChannel(Channel):
    """Frames of the judge, where a test that ends with System.exit is judged by its status."""

    def receive(self, deadline: float) -> bytes:
        """The next frame. Raises ChannelClosed, DeadlinePassed."""
        frame = super().receive(deadline)
        if frame != b"D":
            return frame
        # only the test can have called it in the judge's process, and nothing is left to do there but to end
        self.process.kill(grace_s=max(0.0, deadline - time.monotonic()))
        status = self.process.end.status
        if status < 0:
            raise ChannelClosed
        return b"P" if status == 0 else f"Fthe test ended itself with status {status}".encode()


def run_compiled(judge: Channel, runner: Channel, compiled: bytes, limits: Limits) -> tuple[ProgramOutcome, str]:
    """Send the program's classes to its process, and run the test on it. Raises ProcessNotReady."""
    deadline, end = time.monotonic() + limits.wall_s, end_of_classes(compiled)
    await_ready(runner, deadline)
    ended = load(runner, compiled[:end], limits, deadline, answers=False)
    return ended or run_test(judge, compiled[end:], runner, limits, deadline)


def compile_both(compiler: WarmProcess, program: str, test: str) -> tuple[bytes, bytes]:
    """Compile program and test.

    Returns: a letter and its data: O, the class files; E, the compiler's messages; U, why the test can't be used; L, the compiler took too
    long; I, it broke.
    """
    channel = compiler.channel()
    deadline, used_before = time.monotonic() + COMPILE_S, channel.process.cpu_s()
    try:
        channel.send(packed(program) + packed(test), deadline)
        answer = channel.receive(deadline)
    except DeadlinePassed:
        used = channel.process.cpu_s() - used_before
        compiler.drop()
        reason = f"the compiler was not done after {COMPILE_S:g} s on the clock and {used:.1f} s of CPU time"
        return b"L" if used >= COMPILE_CPU_S else b"I", reason.encode()
    except ChannelClosed as error:
        complaint = compiler.complaint()
        compiler.drop()
        if "OutOfMemoryError" in complaint:
            return b"E", b"the compiler ran out of memory"
        return b"I", f"the compiler ended: {complaint or error}".encode()
    return answer[:1], answer[1:]


def packed(text: str) -> bytes:
    """A text as the frames hold it: its length in UTF-16 units, then the units."""
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
