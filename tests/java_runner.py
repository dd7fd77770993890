"""A JVM for tests that compiles and runs many Java programs."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

RUNNER = Path(__file__).parent / "analysis" / "morphisms" / "java" / "Runner.java"


@dataclass(frozen=True, slots=True)
class Report:
    """ending: "ended", "threw NAME", "timed out" or "uncompilable"; text: what was printed, or the compiler's message."""

    ending: str
    text: str


def javac_is_here() -> bool:
    return shutil.which("javac") is not None and shutil.which("java") is not None


@dataclass(frozen=True, slots=True)
class Runner:
    stdin: BinaryIO
    stdout: BinaryIO

    def run(self, programs: Sequence[str]) -> list[Report]:
        """What each program does: a file with a class Main and no package."""
        reports = []
        for start in range(0, len(programs), 200):
            some = [program.encode() for program in programs[start : start + 200]]
            self.stdin.write(struct.pack(">i", len(some)) + b"".join(struct.pack(">i", len(p)) + p for p in some))
            self.stdin.flush()
            for _ in some:
                (length,) = struct.unpack(">i", self.stdout.read(4))
                ending, _, text = self.stdout.read(length).decode().partition("\n")
                reports.append(Report(ending, text))
        return reports


@contextmanager
def runner(folder: Path, seconds: float = 5) -> Iterator[Runner]:
    """A JVM that compiles and runs programs, each for at most some seconds; folder: for its own class files."""
    subprocess.run(["javac", "-nowarn", "-Xlint:none", "-d", str(folder), str(RUNNER)], check=True, capture_output=True)
    flags = ["-Xmx1g", "-Xss2m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
    command = ["java", *flags, "-cp", str(folder), "Runner", str(int(seconds * 1000))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Runner(process.stdin, process.stdout)  # type: ignore[arg-type]
        finally:
            process.kill()
