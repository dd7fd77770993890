"""Programs of a set of counterfeits: their classes, the choice of a balanced set, and the file of one.

Right, counterfeit or other: by the paper's rules and by strict ones (Gu et al. 2024, arXiv 2402.19475, section 2; not its filter by hand).

A file of `assay/counterfeits/1` is JSON Lines: a header, then one program in a line (docs/formats.md). So is the published set read.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from ....calibration.atomic_write import write_atomically
from ...recorded.answers import Recorded, RecordedError
from ...recorded.formats import recorded
from ...recorded.records import licence_of, lines, source_of
from ...sets.problem import SetError
from ..classes import Class

Rule = Literal["strict", "benchmark"]
RULES: tuple[Rule, ...] = get_args(Rule)
SAID: dict[Rule, str] = {"strict": "strict: every test", "benchmark": "the benchmark's: at least 95 % of EvalPlus' tests"}

# Of EvalPlus' inputs; section 2 says "at least 10 %" once, and "more than" where the sets are made.
MIN_PLUS_RIGHT, MIN_PLUS_COUNTERFEIT = 0.95, 0.10
MAX_ODEX_LENGTH = 500


@dataclass(frozen=True, slots=True)
class PassShares:
    """What the tests say of a program.

    base, plus: its shares of the original benchmark's tests, and of those that EvalPlus adds (None: the benchmark has none of these).
    parses, length: of its text, in characters.
    """

    base: float
    plus: float | None = None
    parses: bool = True
    length: int = 0

    @property
    def rate(self) -> float:
        """The share by which counterfeits are sorted: EvalPlus', where there is one."""
        return self.base if self.plus is None else self.plus


def is_right(tested: PassShares, rule: Rule) -> bool:
    """Whether a program is right: it passes all of the original tests, and of EvalPlus' all (strict), or 95 % (the benchmark's rule)."""
    least = 1.0 if rule == "strict" else MIN_PLUS_RIGHT
    return tested.base == 1.0 and (tested.plus is None or tested.plus >= least)


def class_of(benchmark: str, tested: PassShares, rule: Rule) -> Class:
    """The class of a program for a benchmark.

    A wrong program is a counterfeit, on HumanEval and MBPP, if it passes more than 10 % of EvalPlus' tests; on ODEX, whose tests its judges
    are shown, if it parses and is shorter than 500 characters.
    """
    if is_right(tested, rule):
        return "right"
    if benchmark == "odex":
        return "counterfeit" if tested.parses and tested.length < MAX_ODEX_LENGTH else "other"
    return "counterfeit" if tested.rate > MIN_PLUS_COUNTERFEIT else "other"


PER_CLASS = 5


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a set.

    index: of the draw. text: the whole program with its docstring. kind: its class by the strict rule.
    base, plus: as of `PassShares`. pass_at_1: the share of all draws of its generator for the problem that are right; None where not known.
    """

    problem: str
    index: int
    text: str
    kind: Literal["right", "counterfeit"]
    base: float
    plus: float | None = None
    pass_at_1: float | None = None

    @property
    def id(self) -> str:
        """As the published set names its samples."""
        return f"{self.problem}_{self.index}"

    @property
    def tested(self) -> PassShares:
        """What the tests say of it."""
        return PassShares(self.base, self.plus)

    def is_right(self, rule: Rule = "strict") -> bool:
        """Whether it is right: by the set's own word, or by the benchmark's rule."""
        return self.kind == "right" if rule == "strict" else self.kind == "right" or is_right(self.tested, rule)


@dataclass(frozen=True, slots=True)
class CounterfeitSet:
    """A set of programs, half of them counterfeits.

    name: for people. benchmark: of its problems. generator: whose programs they are. source, licence: where it is from.
    temperature: at which they were drawn; None where not known.
    """

    name: str
    benchmark: str
    generator: str
    programs: tuple[Program, ...]
    source: str = ""
    licence: str = ""
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A distinct text for a problem. index: of its first draw. draws: how many have it. tested: None where no test could decide.

    own_share: the share of its generator's own tests that it passes; None where there are none.
    """

    problem: str
    index: int
    text: str
    draws: int
    tested: PassShares | None
    own_share: float | None = None


def rates_of(found: Iterable[Any]) -> dict[str, float]:
    """pass@1 at each problem where it is known. found: programs, or what became of them."""
    return {each.problem: each.pass_at_1 for each in found if each.pass_at_1 is not None}


def pass_at_1(drawn: Iterable[Drawn]) -> dict[str, float]:
    """The share of the draws with a label that are right by the strict rule, by problem."""
    rates = {}
    for problem, group in groupby(drawn, attrgetter("problem")):
        known = [(each.draws, is_right(each.tested, "strict")) for each in group if each.tested is not None]
        if known:
            rates[problem] = sum(draws for draws, right in known if right) / sum(draws for draws, _ in known)
    return rates


def balanced(benchmark: str, drawn: Sequence[Drawn], seed: int) -> tuple[Program, ...]:
    """So many right programs and as many counterfeits of each problem that has them, chosen by a seed from distinct texts.

    drawn: problem by problem.
    """
    rates, chosen = pass_at_1(drawn), []
    for problem, group in groupby(drawn, attrgetter("problem")):
        texts = {each.text: each for each in reversed(list(group)) if each.tested is not None}
        found: list[Program] = []
        for kind in ("right", "counterfeit"):
            of_kind = [
                Program(problem, each.index, each.text, kind, each.tested.base, each.tested.plus, rates[problem])
                for each in sorted(texts.values(), key=attrgetter("index"))
                if each.tested is not None and class_of(benchmark, each.tested, "strict") == kind
            ]
            if len(of_kind) >= PER_CLASS:
                found += random.Random(f"{seed} {problem} {kind}").sample(of_kind, PER_CLASS)
        if len(found) == 2 * PER_CLASS:
            chosen += sorted(found, key=attrgetter("index"))
    return tuple(chosen)


SCHEMA = "assay/counterfeits/1"
# The file of a run's own set.
COUNTERFEITS = "counterfeits.jsonl"
_FACTS = ("pass_rate_base", "pass_rate_plus", "problem_pass_rate")

_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line.

    name, generator: of the set; who wrote the programs. source, licence: as in recorded answers. temperature: of the draws.
    """

    schema: str
    name: str
    benchmark: Literal["humaneval", "mbpp", "odex"]
    generator: str
    source: str = ""
    licence: str = ""
    temperature: float | None = None


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"kind": "class"}):
    """One program.

    problem: the benchmark's name of it. index: of the draw, from 0; used once for a problem.
    text: the whole program with its docstring; no two of a problem are equal. class: whether all tests pass.
    base, plus: the shares of the original tests and of EvalPlus' that pass; None where there are none of the latter.
    pass_at_1: the share of the generator's draws for the problem that are right.
    """

    problem: Annotated[str, msgspec.Meta(min_length=1)]
    index: Annotated[int, msgspec.Meta(ge=0)]
    text: str
    kind: Literal["right", "counterfeit"]
    base: _Share
    plus: _Share | None = None
    pass_at_1: _Share | None = None


_decoder = msgspec.json.Decoder(_Row)


def read_set(path: Path) -> CounterfeitSet:
    """The set of a file. Raises SetError with file, line and reason."""
    if not path.exists():
        raise SetError(f"{path} is missing: name a file of {SCHEMA}, or the published test.jsonl of The Counterfeit Conundrum")
    try:
        numbered = lines(path)
        number, first = next(numbered, (1, b""))
        if _says_schema(first):
            return _checked(path, _header(path, number, first), _rows(path, numbered))
        return _published(path, recorded(path))
    except RecordedError as error:
        raise SetError(f"{error}. A set of counterfeits is a file of {SCHEMA}, or the published test.jsonl") from None


def write_set(path: Path, made: CounterfeitSet) -> None:
    """Write a set, whole or not at all."""
    with write_atomically(path) as out:
        out.writelines(line + b"\n" for line in lines_of(made))


def lines_of(made: CounterfeitSet) -> Iterator[bytes]:
    """The lines of its file."""
    yield _json(_Header(SCHEMA, made.name, made.benchmark, made.generator, made.source, made.licence, made.temperature))  # type: ignore[arg-type]
    for program in made.programs:
        yield _json(_Row(**asdict(program)))


def _json(record: msgspec.Struct) -> bytes:
    return json.dumps(msgspec.to_builtins(record)).encode()


def _says_schema(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and str(record.get("schema", "")).startswith("assay/counterfeits/")


def _header(path: Path, number: int, line: bytes) -> _Header:
    schema = json.loads(line)["schema"]
    if schema != SCHEMA:
        raise SetError(f"{path}:{number}: the schema is {schema!r}, this version of Assay reads {SCHEMA!r}")
    try:
        return msgspec.json.decode(line, type=_Header)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SetError(f"{path}:{number}: not the header of a file of {SCHEMA}: {error}") from None


def _rows(path: Path, numbered: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Program]]:
    for number, line in numbered:
        try:
            row = _decoder.decode(line)
        except msgspec.DecodeError as error:
            raise SetError(f"{path}:{number}: not a program of {SCHEMA}: {error}") from None
        yield number, Program(row.problem, row.index, row.text, row.kind, row.base, row.plus, row.pass_at_1)


def _checked(path: Path, header: _Header, rows: Iterable[tuple[int, Program]]) -> CounterfeitSet:
    ids, texts, programs = set[str](), set[tuple[str, str]](), []
    for number, program in rows:
        if program.id in ids or (program.problem, program.text) in texts:
            what = "index" if program.id in ids else "text"
            raise SetError(f"{path}:{number}: a program of {program.problem} with the same {what} is there already")
        ids.add(program.id)
        texts.add((program.problem, program.text))
        programs.append(program)
    if not programs:
        raise SetError(f"{path}: there is no program in it")
    source, licence = header.source or source_of(path), header.licence or licence_of(path)
    return CounterfeitSet(header.name, header.benchmark, header.generator, tuple(programs), source, licence, header.temperature)


def _published(path: Path, found: Recorded) -> CounterfeitSet:
    """The set of Code Llama 34B for HumanEval, whose right programs pass all tests."""
    answers = list(found.answers.values())
    if not answers or not all(name in answers[0].facts for name in _FACTS):
        raise SetError(
            f"{path}: recorded answers, but no set of counterfeits: name them with --recorded, and --data; a set is a file of {SCHEMA}"
        )
    programs = []
    for answer in answers:
        base, plus, rate = (float(answer.facts[name] or 0) for name in _FACTS)
        kind: Literal["right", "counterfeit"] = "right" if answer.labels["tests_pass"] else "counterfeit"
        programs.append(Program(answer.item, answer.index, answer.text, kind, base, plus, rate))
    header = _Header(SCHEMA, found.name, "humaneval", found.model, found.source, found.licence, 0.6)
    return _checked(path, header, enumerate(programs, 1))
