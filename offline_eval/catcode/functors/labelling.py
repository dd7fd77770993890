"""Labels: each distinct program is run on its test once, in the sandbox of its language, and ends in one of a closed set of ways."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, get_args

from ....analysis.corpora.benchmarks import Language
from ....analysis.sandbox.isolation.best_level import best_level
from ....analysis.sandbox.isolation.jail import Jail
from ....analysis.sandbox.isolation.levels import Isolation
from ....analysis.sandbox.judging.java import JavaSandbox, MissingJava, find_jdk
from ....analysis.sandbox.judging.javascript import JavaScriptSandbox, MissingNode, find_node
from ....analysis.sandbox.judging.python import PythonSandbox
from ....analysis.sandbox.judging.result import ProgramOutcome, Result
from ...errors import StudyError
from ...sets.programs import Program
from ...sets.suites import Unjudged
from ...study import Step
from .asking import Answers
from .data import ProgramUnderTest
from .items import Item
from .placing.registry import LANGUAGES

# unreadable: no code is in the answer, and nothing is run.
Ending = Literal["passes", "wrong", "crash", "time", "does_not_compile", "unreadable"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)
# The sandbox ends a program long before.
MAX_PROGRAM_S = 600.0

_COMPILER = re.compile(r"(?:Program|Test)\.java:\d+: |the compiler |the test needs ")
_WRONG = re.compile(
    r"(?:java\.lang\.)?AssertionError|java\.lang\.Exception: Exception -- test case|Error: assertion failed|"
    r"(?:thrown: )?Error at \d+th assert|the program returned "
)
_NO_VARIABLE = re.compile(r"ReferenceError: x is not defined at line (\d+) of the test")


class Label(TypedDict):
    """What became of a program. ending: None where the test could not decide. why: for people, where it does not pass."""

    id: str
    ending: Ending | None
    why: str


SOURCES = Step("sources", "source", Label)
LABELS = Step("labels", "text", Label)


def label_id(item: Item, program: str) -> str:
    """The id of the label of a program for an item's test: equal programs have one."""
    text = hashlib.sha256(program.encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{item.set}-{item.target}/{item.problem.partition('/')[2]}:{item.tests}:{text}"


def to_label(items: Sequence[Item], answers: Sequence[Answers], tests: Mapping[str, Program]) -> Iterator[ProgramUnderTest]:
    """Each distinct program that answers make."""
    by_id, known = {item.id: item for item in items}, set[str]()
    for record in answers:
        item = by_id[record["id"]]
        for one in record["answers"]:
            if one["text"] is None:
                continue
            program = item.program(one["arm"], one["text"])
            name = label_id(item, program)
            if name not in known:
                known.add(name)
                yield ProgramUnderTest(name, item.target, program, tests[item.id].test, tests[item.id].entry_point)


def check_languages(languages: frozenset[Language]) -> None:
    """Raises StudyError where the programs of a language can't be run here, which says how to mend that, and NoIsolation."""
    best_level()
    try:
        if "java" in languages:
            find_jdk()
        if "javascript" in languages:
            find_node()
    except (MissingJava, MissingNode) as error:
        raise StudyError(str(error)) from None


@dataclass(frozen=True, slots=True)
class Running:
    """Makes the worker's function that runs programs; travels to the worker."""

    isolation: Isolation

    def __call__(self) -> Callable[[ProgramUnderTest], dict[str, Any]]:
        """The function, whose sandboxes open as they are needed."""
        return Runs(Jail(self.isolation))


Sandbox = PythonSandbox | JavaSandbox | JavaScriptSandbox
KINDS: dict[Language, Callable[[Jail], Sandbox]] = {"python": PythonSandbox, "java": JavaSandbox, "javascript": JavaScriptSandbox}


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs programs; holds the sandboxes."""

    jail: Jail
    sandboxes: dict[Language, Sandbox] = field(default_factory=dict)
    opened: ExitStack = field(default_factory=ExitStack)

    def __call__(self, tested: ProgramUnderTest) -> dict[str, Any]:
        """The label. Raises Unjudged where the machine failed: then there is none."""
        begun = time.perf_counter()
        if tested.language not in self.sandboxes:
            self.sandboxes[tested.language] = KINDS[tested.language](self.jail)
            self.opened.push(self.sandboxes[tested.language])
        sandbox = self.sandboxes[tested.language]
        if isinstance(sandbox, PythonSandbox):
            result = sandbox.check(tested.program, tested.test, tested.entry_point)
        else:
            result = sandbox.check(tested.program, tested.test)
        if result.outcome is ProgramOutcome.INFRASTRUCTURE:
            raise Unjudged(result.reason)
        label: Label = {"id": tested.id, "ending": ending_of(tested, result), "why": result.reason}
        return {**label, "timings": {"tests_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """End the sandboxes."""
        self.opened.close()


def ending_of(tested: ProgramUnderTest, result: Result) -> Ending | None:
    """How a program ended, by its outcome and the reason of its sandbox; None where the test could not decide."""
    match result.outcome:
        case ProgramOutcome.PASSED:
            return "passes"
        case ProgramOutcome.TIMED_OUT:
            return "time"
        case ProgramOutcome.CRASHED | ProgramOutcome.OUT_OF_MEMORY:
            return "crash"
        case ProgramOutcome.FAILED:
            if _COMPILER.match(result.reason) if tested.language == "java" else not LANGUAGES[tested.language].parses(tested.program):
                return "does_not_compile"
            return "wrong" if _WRONG.match(result.reason) or _fails_to_tell(tested.test, result.reason) else "crash"
    return None


def _fails_to_tell(test: str, reason: str) -> bool:
    """Whether a comparison failed in a test of MBXP for JavaScript, which then names a variable that it has not."""
    line = _NO_VARIABLE.match(reason)
    return line is not None and "th assert statement" in "".join(test.splitlines()[int(line[1]) - 1 : int(line[1])])
