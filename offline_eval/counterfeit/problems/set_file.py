"""The open format `assay/counterfeits/1` of a set of programs, half of them counterfeits; the set that was published is read as one, too.

JSON Lines: a header, then one program in a line. docs/formats.md describes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ....calibration.atomic_write import write_atomically
from ...recorded.answers import Recorded, RecordedError
from ...recorded.formats import recorded
from ...recorded.records import licence_of, lines, source_of
from ...sets.problem import SetError
from .programs import CounterfeitSet, Program

SCHEMA = "assay/counterfeits/1"
_FACTS = ("pass_rate_base", "pass_rate_plus", "problem_pass_rate")

_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line."""

    schema: str
    name: str
    benchmark: Literal["humaneval", "mbpp", "odex"]
    generator: str
    source: str = ""
    licence: str = ""
    temperature: float | None = None


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"kind": "class"}):
    """A program, as `Program` has it."""

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
