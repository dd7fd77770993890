"""The sandboxes that confirm pairs: one for each language, started when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass, field

from ....analysis.corpora.benchmarks import Language
from ....analysis.sandbox.isolation.jail import DEFAULT_LIMITS, Jail
from ....analysis.sandbox.isolation.levels import Isolation
from ....analysis.sandbox.judging.java import JavaSandbox
from ....analysis.sandbox.judging.python import PythonSandbox
from ....analysis.sandbox.judging.result import ProgramOutcome, Result
from ...sets.suites import Unjudged

# A program that the clock ended, and not its own CPU time, may be one that the machine had no time for: that decides nothing of a pair.
MIN_SHARE = 0.5


@dataclass(slots=True)
class Judges:
    """Runs programs of Python and Java on their tests."""

    isolation: Isolation
    _python: PythonSandbox | None = None
    _java: JavaSandbox | None = None
    checks: int = field(default=0)

    def check(self, language: Language, program: str, test: str, entry_point: str | None) -> Result:
        """What becomes of a program. Raises Unjudged where the machine failed, and MissingJava."""
        self.checks += 1
        if language == "java":
            self._java = self._java or JavaSandbox(Jail(self.isolation))
            result = self._java.check(program, test)
        else:
            self._python = self._python or PythonSandbox(Jail(self.isolation))
            result = self._python.check(program, test, entry_point)
        if result.outcome is ProgramOutcome.INFRASTRUCTURE:
            raise Unjudged(result.reason)
        if result.outcome is ProgramOutcome.TIMED_OUT and result.cpu_s < MIN_SHARE * DEFAULT_LIMITS.cpu_s:
            raise Unjudged(f"{result.reason}, of which it ran {result.cpu_s:.1f} s: the machine is too busy, or the program waits")
        return result

    def close(self) -> None:
        """End the sandboxes."""
        for sandbox in (self._python, self._java):
            if sandbox is not None:
                sandbox.close()


def compiles(result: Result) -> bool:
    """Whether a program of Java came past the compiler, whose messages begin with the name of the file."""
    return not (result.outcome is ProgramOutcome.FAILED and result.reason.startswith("Program.java:"))
