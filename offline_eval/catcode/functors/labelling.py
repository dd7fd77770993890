"""The items of a run, from files of benchmarks, and their labels.

Each distinct program is run on its test once, in the sandbox of its language, and ends in one of a closed set of ways.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

from ....analysis.corpora.benchmarks import Language
from ....analysis.sandbox.isolation.best_level import best_level
from ....analysis.sandbox.judging.java import find_jdk
from ....analysis.sandbox.judging.javascript import find_node
from ....analysis.sandbox.judging.result import ProgramOutcome, Result
from ....analysis.sandbox.judging.runtime import MissingRuntime
from ...asked_model import ChatOptions
from ...errors import StudyError, UsageError
from ...progress import counted
from ...run import Step
from ...sets.judging import Sandboxes
from ...sets.programs import HOW, Program, read_programs
from .items import Ending, Item, Kind
from .placing.header import Header, NoHeader
from .placing.registry import LANGUAGES, NAMES

Set = Literal["translate", "explain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ChatOptions):
    """What the user wants. data: files of benchmarks. sources, targets: languages; empty: the paper's sources, and every target. limit: so
    many problems of each set, by the seed. draws: answers to each question.
    """

    data: Sequence[Path]
    set: Set = "translate"
    sources: Sequence[Language] = ()
    targets: Sequence[Language] = ()
    draws: int = 1


# The program that is the code of an item, and the one whose header and test it has.
Pair = tuple[Program | None, Program]
# The paper's, where nothing else is asked for.
OF_PAPER: Mapping[Kind, tuple[Language, ...]] = {"translate": ("java",), "explain": ("java", "python")}


@dataclass(frozen=True, slots=True)
class Found:
    """What can be asked about. tests: by item. sources: of each item the program that is its code, by item. left_out: for people."""

    items: Sequence[Item]
    tests: Mapping[str, Program]
    sources: Mapping[str, Program]
    left_out: Sequence[str]

    @property
    def languages(self) -> frozenset[Language]:
        """Those that a sandbox is needed for."""
        return frozenset({item.target for item in self.items} | {each.language for each in self.sources.values()})

    @property
    def counts(self) -> str:
        """For people."""
        return f"{counted(len(self.items), 'program')} of {counted(self.problems, 'problem')}"

    @property
    def problems(self) -> int:
        """How many there are."""
        return len({item.group for item in self.items})


def find(options: Options, kind: Kind) -> Found:
    """The items. Raises SetError, and UsageError where there are none."""
    programs = read_programs(options.data, unsolved_too=True)
    headers, why = dict[str, Header](), Counter[str]()
    for program in programs:
        with suppress(NoHeader):
            if program.prompt:
                headers[program.id] = LANGUAGES[program.language].header_of(program.prompt, program.entry_point)
        if program.id not in headers:
            why[f"{program.set} in {NAMES[program.language]}"] += 1
    left_out = [f"{count:,} of {what}: no header of a function can be read from what is given of them" for what, count in why.items()]
    known = [program for program in programs if program.id in headers]
    pairs = _limited(list(_pairs(known, kind, options)), options)
    if not pairs:
        names = dict.fromkeys(f"{program.set} in {NAMES[program.language]}" for program in programs)
        lacks, more = ("to explain", HOW) if kind == "explain" else (
            "that is to be found in two languages", f"name the files of the other language, too. {HOW}"
        )  # fmt: skip
        raise UsageError(f"--data has no program {lacks} (it has {', '.join(names)}): {more}")
    found = [(_item(kind, source, target, headers[target.id]), source, target) for source, target in pairs]
    sources = {item.id: source for item, source, _ in found if source is not None}
    return Found([item for item, *_ in found], {item.id: target for item, _, target in found}, sources, left_out)


def _pairs(programs: Sequence[Program], kind: Kind, options: Options) -> Iterator[Pair]:
    """Each program that is asked about, with what is to be written."""
    if kind == "complete":
        yield from ((None, program) for program in programs)
        return
    sources = [program for program in programs if program.published and program.language in (options.sources or OF_PAPER[kind])]
    if kind == "explain":
        yield from ((program, program) for program in sources)
        return
    targets = dict[tuple[str, str], list[Program]]()
    for program in programs:
        targets.setdefault((program.set, program.problem), []).append(program)
    for source in sources:
        for target in targets[source.set, source.problem]:
            if target.language != source.language and (not options.targets or target.language in options.targets):
                yield source, target


def _limited(pairs: Sequence[Pair], options: Options) -> list[Pair]:
    """The pairs of so many problems of each set, the same in each kind of run: a translation can then stand beside a reproduction."""
    found = dict[str, set[str]]()
    for _, target in pairs:
        found.setdefault(target.set, set()).add(target.problem)

    def place(problem: str) -> bytes:
        return hashlib.sha256(f"{options.seed}:{problem}".encode()).digest()

    kept = {name: set(sorted(problems, key=place)[: options.limit]) for name, problems in found.items()}
    return [pair for pair in pairs if pair[1].problem in kept[pair[1].set]]


def _item(kind: Kind, source: Program | None, target: Program, header: Header) -> Item:
    number = target.problem.partition("/")[2]
    return Item(
        id=f"{target.set}-{source.language}-{target.language}/{number}" if source is not None and kind == "translate" else target.id,
        kind=kind,
        set=target.set,
        problem=target.problem,
        source=None if source is None else source.language,
        target=target.language,
        code="" if source is None else source.source,
        header=header,
        tests=hashlib.sha256(f"{target.entry_point}\n{target.test}".encode()).hexdigest()[:16],
    )


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


def check_languages(languages: frozenset[Language]) -> None:
    """Raises StudyError where the programs of a language can't be run here, which says how to mend that, and NoIsolation."""
    best_level()
    try:
        if "java" in languages:
            find_jdk()
        if "javascript" in languages:
            find_node()
    except MissingRuntime as error:
        raise StudyError(str(error)) from None


def labelled(sandboxes: Sandboxes, tested: Program) -> dict[str, Any]:
    """The label. Raises Unjudged where the machine failed: then there is none."""
    result = sandboxes.check(tested.language, tested.published, tested.test, tested.entry_point)
    return {"id": tested.id, "ending": ending_of(tested, result), "why": result.reason}


def ending_of(tested: Program, result: Result) -> Ending | None:
    """How a program ended, by its outcome and the reason of its sandbox; None where the test could not decide."""
    match result.outcome:
        case ProgramOutcome.PASSED:
            return "passes"
        case ProgramOutcome.TIMED_OUT:
            return "time"
        case ProgramOutcome.CRASHED | ProgramOutcome.OUT_OF_MEMORY:
            return "crash"
        case ProgramOutcome.FAILED:
            if _COMPILER.match(result.reason) if tested.language == "java" else not LANGUAGES[tested.language].parses(tested.published):
                return "does_not_compile"
            return "wrong" if _WRONG.match(result.reason) or _fails_to_tell(tested.test, result.reason) else "crash"
    return None


def _fails_to_tell(test: str, reason: str) -> bool:
    """Whether a comparison failed in a test of MBXP for JavaScript, which then names a variable that it has not."""
    line = _NO_VARIABLE.match(reason)
    return line is not None and "th assert statement" in "".join(test.splitlines()[int(line[1]) - 1 : int(line[1])])
