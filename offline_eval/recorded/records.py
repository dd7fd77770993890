"""The records of a file: JSON in lines, plain or gzip, one at a time, each with its place; and where the file is from."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import msgspec

from .answers import Key, Recorded, RecordedAnswer, RecordedError

AnyRecord = TypeVar("AnyRecord", bound=msgspec.Struct)
AnyDocument = TypeVar("AnyDocument")
# The longest line of the published sets has half a megabyte. A file that never ends may have no line's end either.
MAX_LINE = 1 << 28
# What reading a file raises that is damaged, or not what its first bytes say.
UNREADABLE = (OSError, EOFError, zlib.error)


def opened(path: Path) -> BinaryIO:
    """The file's bytes, unpacked. Raises RecordedError."""
    try:
        with path.open("rb") as file:
            magic = file.read(2)
        if magic == b"PK":
            raise RecordedError(path, None, "a zip archive: of inspect_ai's logs JSON is read (inspect log convert --to json)")
        return cast(BinaryIO, gzip.open(path)) if magic == b"\x1f\x8b" else path.open("rb")
    except OSError as error:
        raise RecordedError(path, None, f"can't be read: {error.strerror}") from None


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line that is not empty, with its number from 1. Raises RecordedError."""
    with opened(path) as file:
        try:
            for number, line in enumerate(iter(partial(file.readline, MAX_LINE + 1), b""), 1):
                if len(line) > MAX_LINE:
                    raise RecordedError(path, number, f"the line is longer than {MAX_LINE >> 20} MiB: no record is")
                if line.strip():
                    yield number, line
        except UNREADABLE as error:
            raise RecordedError(path, None, f"can't be read: {error}") from None


def typed(path: Path, kind: type[AnyRecord]) -> Iterator[tuple[int, AnyRecord]]:
    """The record of each line, with its number. kind: a struct of the fields that it needs; it may have others. Raises RecordedError."""
    for number, line in lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise RecordedError(path, number, f"not JSON: {error}") from None
        yield number, converted(path, number, record, kind)


def converted(path: Path, number: int | None, record: Any, kind: type[AnyDocument]) -> AnyDocument:
    """A record of a line, or of the whole file. Raises RecordedError."""
    try:
        return msgspec.convert(record, kind)
    except msgspec.ValidationError as error:
        raise RecordedError(path, number, f"not as the records of this set: {error}") from None


def document(path: Path, kind: type[AnyDocument]) -> AnyDocument:
    """The whole file as one record. Raises RecordedError."""
    with opened(path) as file:
        try:
            return converted(path, None, json.load(file), kind)
        except ValueError as error:
            raise error if isinstance(error, RecordedError) else RecordedError(path, None, f"not JSON: {error}") from None
        except (*UNREADABLE, RecursionError) as error:
            raise RecordedError(path, None, f"can't be read: {error}") from None


def recorded_of(path: Path, name: str, model: str, answers: Iterable[tuple[int | None, RecordedAnswer]]) -> Recorded:
    """The answers of a file, whose source and licence are beside it. Raises RecordedError where two have one key."""
    return Recorded(name, model, source_of(path), licence_of(path), by_key(path, answers))


def by_key(path: Path, answers: Iterable[tuple[int | None, RecordedAnswer]]) -> dict[Key, RecordedAnswer]:
    """The answers by their keys. Raises RecordedError where two have the same."""
    found: dict[Key, RecordedAnswer] = {}
    for number, answer in answers:
        if found.setdefault(answer.key, answer) is not answer:
            item, step, index = answer.key
            raise RecordedError(path, number, f"answer {index} of step {step!r} to {item!r} is there already")
    return found


def stem(path: Path) -> str:
    """The file's name without what tells its format."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")


def source_of(path: Path) -> str:
    """Where the file is from, as the file SOURCE beside it tells."""
    return " ".join(_beside(path, "SOURCE").split())


def licence_of(path: Path) -> str:
    """The name of the licence whose text is in the file LICENSE beside it: its first lines."""
    head = [line.strip(" #*-") for line in _beside(path, "LICENSE").splitlines()]
    told = [line for line in head if line][:2]
    if told and told[0] == "Apache License":
        return " ".join(told)[: len("Apache License Version 2.0")]
    return told[0] if told else ""


def _beside(path: Path, name: str) -> str:
    try:
        return path.with_name(name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
