"""Pairs of programs that do the same or not, as tests confirm, and the open format `assay/pairs/1` of a file of them.

JSON Lines: a header, then one pair in a line.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from ....analysis.corpora.benchmarks import Language
from ....analysis.corpora.comments import without_comments
from ....analysis.python.source_text import UnreadableSource
from ....calibration.atomic_write import write_atomically
from ...recorded.answers import Recorded, RecordedError
from ...recorded.records import lines
from ...sets.problem import Problem, SetError
from ...sets.programs import Program

# About as long as the paper's solutions may be, which have less than 500 tokens.
MAX_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class DrawnPrograms:
    """What was drawn for one problem: whole programs, each with whether it is right, where that is published."""

    id: str
    set: str
    language: Language
    problem: str
    test: str
    entry_point: str | None
    programs: tuple[tuple[str, bool | None], ...]


def drawn_programs(recorded: Sequence[Recorded], programs: Sequence[Program]) -> list[DrawnPrograms]:
    """The draws for the problems of some programs, those of HumanEval in Python."""
    found = []
    for program in programs:
        if program.language != "python" or not program.prompt or program.entry_point is None:
            continue
        frame = _frame(program)
        drawn = [
            (frame.program(answer.text), answer.labels.get("tests_pass"))
            for each in recorded
            for (item, step, _), answer in each.answers.items()
            if item == program.problem and step == "draw"
        ]
        if drawn:
            name = f"{program.id}@draws"
            found.append(
                DrawnPrograms(name, program.set, program.language, program.problem, program.test, program.entry_point, tuple(drawn))
            )
    return found


def distinct_programs(item: DrawnPrograms, seed: int) -> Iterator[tuple[str, bool | None]]:
    """The distinct programs without comments, in an order that the seed draws; none that is long or can't be parsed."""
    seen: set[str] = set()
    for text, label in random.Random(f"{seed}:{item.id}").sample(item.programs, len(item.programs)):
        try:
            source = without_comments(text, item.language)
        except (UnreadableSource, RecursionError):
            continue
        if source not in seen and len(source) <= MAX_CHARACTERS:
            seen.add(source)
            yield source, label


def _frame(program: Program) -> Problem:
    return Problem(
        *(program.problem, program.set, "function", "python", program.problem, program.prompt, "", "", "", program.test),
        entry_point=program.entry_point,
    )


SCHEMA = "assay/pairs/1"
Kind = Literal["1-eq", "2-eq", "2-eq-chain", "3-eq-chain", "1-neq", "identity", "global-eq", "global-neq"]
KINDS: tuple[Kind, ...] = get_args(Kind)
GLOBAL: tuple[Kind, ...] = ("global-eq", "global-neq")
# What people are told of each.
SAID: Mapping[Kind, str] = {
    "1-eq": "source and an equivalent variant",
    "2-eq": "two equivalent variants of one source",
    "2-eq-chain": "source and a chain of two rewrites",
    "3-eq-chain": "source and a chain of three rewrites",
    "1-neq": "source and a variant that is not equivalent",
    "identity": "a program and itself",
    "global-eq": "two right programs for one problem",
    "global-neq": "a right and a wrong program for one problem",
}
# (A, B) as made, and (B, A).
Order = Literal["ab", "ba"]
ORDERS: tuple[Order, ...] = get_args(Order)


@dataclass(frozen=True, slots=True)
class CodePair:
    """Two programs.

    id: PROGRAM:KIND and the rules; used once. set, language, problem: of the program that they come from. A problem has one name in all
        languages.
    kind: whether they do the same (`eq`) or not. 1: a program and its variant. 2: two variants. chain: of 2 or 3 rewrites in a row.
        identity: a program and itself. global: two right programs for a problem, or a right and a wrong one.
    rules: the morphisms that were applied; none for `identity` and `global`. first, second: without comments and docstrings.
    outcomes: of the tests of each, such as `passed`, or `as published`.
    """

    id: Annotated[str, msgspec.Meta(min_length=1)]
    set: str
    language: Language
    problem: str
    kind: Kind
    rules: tuple[str, ...]
    first: str
    second: str
    outcomes: tuple[str, str]

    @property
    def equivalent(self) -> bool:
        """Whether both do the same."""
        return not self.kind.endswith("neq")

    @property
    def data(self) -> str:
        """The data set with its language, for people."""
        return f"{self.set} {self.language}"

    @property
    def orders(self) -> tuple[Order, ...]:
        """The orders in which it is asked about."""
        return ORDERS[:1] if self.kind == "identity" else ORDERS

    def programs(self, order: Order) -> tuple[str, str]:
        """Both programs in an order."""
        return (self.first, self.second) if order == "ab" else (self.second, self.first)


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line. seed: of the rules that were drawn."""

    schema: str
    name: str
    seed: int


def write_pairs(path: Path, name: str, seed: int, pairs: Iterable[CodePair]) -> None:
    """Write a file of pairs, whole or not at all."""
    with write_atomically(path) as out:
        for record in (msgspec.to_builtins(_Header(SCHEMA, name, seed)), *map(asdict, pairs)):
            out.write(json.dumps(record).encode() + b"\n")


def is_pairs_file(path: Path) -> bool:
    """Whether a file says that it is one of pairs, in whichever version."""
    try:
        _, line = next(lines(path), (1, b""))
        record = json.loads(line)
    except (RecordedError, ValueError, RecursionError):
        return False
    return isinstance(record, dict) and str(record.get("schema", "")).startswith("assay/pairs/")


def read_pairs(path: Path) -> list[CodePair]:
    """The pairs of a file. Raises SetError with file, line and reason."""
    found, number, what = dict[str, CodePair](), 1, "the header of a file"
    try:
        numbered = lines(path)
        number, first = next(numbered, (1, b""))
        schema = msgspec.json.decode(first, type=_Header).schema
        if schema != SCHEMA:
            raise SetError(f"{path}:{number}: the schema is {schema!r}, this version of Assay reads {SCHEMA!r}")
        what = "a pair"
        for number, line in numbered:
            pair = msgspec.json.decode(line, type=CodePair)
            if found.setdefault(pair.id, pair) is not pair:
                raise SetError(f"{path}:{number}: the pair {pair.id} is there already")
    except RecordedError as error:
        raise SetError(str(error)) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise SetError(f"{path}:{number}: not {what} of {SCHEMA}: {error}") from None
    if not found:
        raise SetError(f"{path}: there is no pair in it")
    return list(found.values())
