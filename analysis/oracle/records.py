"""The records of the plugin in the jail (jailed/assay_oracle/plugin.py), checked, since the project's code shares its process.

Names of files in them are no paths to be opened: `baseline.coverage_of` keeps those of files that were copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from .jailed.assay_oracle.channel import printable

TestOutcome = Literal["passed", "skipped", "xfailed", "xpassed", "failed", "error", "missing"]
# A line of records that is longer is none: the coverage of a large suite's imports has a few MiB.
MAX_RECORD_BYTES = 1 << 24
# Names and other texts, each in two quotes, in one line and in all lines of a run; and the lines themselves. A suite of 100,000 tests has
# 200,000 records, and its first names all tests.
_MAX_QUOTES, _MAX_ALL_QUOTES, _MAX_RECORDS = 1 << 19, 1 << 23, 1 << 18
# Of what is said to people.
_MAX_TEXT = 1000

_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e6)]
# As sets: a line that is told a million times is kept once.
_Lines = dict[str, set[Annotated[int, msgspec.Meta(ge=0, le=1 << 31)]]]


class _Record(msgspec.Struct, tag_field="kind", tag=str.lower):
    """Of the kind that its class is named after."""


def _check_names(*names: str) -> None:
    """The plugin makes the ids of tests printable: others would write lines of their own where they are shown. Raises ValueError."""
    if not all(map(str.isprintable, names)):
        raise ValueError("an id that can't be printed")


def _text(said: str) -> str:
    return printable(said[:_MAX_TEXT])


class Begun(_Record):
    """A test begins."""

    id: str

    def __post_init__(self) -> None:
        _check_names(self.id)


class ObservedTest(_Record, tag="test"):
    """A test has ended.

    lines: those that it ran, by file. fresh: it may have run more; see jailed/assay_oracle/plugin.py. why: the error, where it failed.
    crashed: whether that came out of the project's code.
    """

    id: str
    outcome: TestOutcome
    cpu_s: _Seconds
    wall_s: _Seconds
    lines: _Lines = {}
    fresh: bool = False
    why: str = ""
    crashed: bool = False

    def __post_init__(self) -> None:
        _check_names(self.id)
        self.why = _text(self.why)


class Canary(_Record):
    """A test that must fail has ended."""

    outcome: TestOutcome


class Collected(_Record):
    """The tests that there are, and files that can't be collected."""

    ids: list[str]
    modules: list[str]
    errors: dict[str, str]

    def __post_init__(self) -> None:
        _check_names(*self.ids, *self.errors)
        self.errors = {node: _text(why) for node, why in self.errors.items()}


class FixtureLines(_Record, tag="touched"):
    """The lines that a fixture ran while it was set up for all tests in a scope (the id of a folder, file or class)."""

    scope: str
    lines: _Lines
    fresh: bool


class Imported(_Record):
    """The lines that ran while something was imported."""

    lines: _Lines


class Ended(_Record):
    """The run came to its end."""

    cpu_s: _Seconds


class Broke(_Record):
    """Pytest itself failed; it says why, to people."""

    reason: str

    def __post_init__(self) -> None:
        self.reason = _text(self.reason)


Record = Begun | ObservedTest | Canary | Collected | FixtureLines | Imported | Ended | Broke
_decoder = msgspec.json.Decoder(Record)


class TooManyRecords(Exception):
    """A run says far more than tests do; the message says what. Nothing is concluded from what it said."""


@dataclass(slots=True)
class RecordReader:
    """Reads the records of one run, which begin with its nonce. What else is written costs no more than to look for that."""

    nonce: bytes
    _records: int = 0
    _quotes: int = 0

    def read(self, lines: bytes) -> Iterator[Record]:
        """The records in whole lines of output. Raises TooManyRecords."""
        end = 0
        while (begin := lines.find(self.nonce, end)) >= 0:
            end = lines.find(b"\n", begin)
            end = len(lines) if end < 0 else end
            if begin and lines[begin - 1 : begin] != b"\n":
                continue
            self._records += 1
            self._quotes += lines.count(b'"', begin, end)
            if self._records > _MAX_RECORDS:
                raise TooManyRecords(f"it wrote more than {_MAX_RECORDS:,} records of its tests")
            if self._quotes > _MAX_ALL_QUOTES:
                raise TooManyRecords(f"it wrote more than {_MAX_ALL_QUOTES // 2:,} names into the records of its tests")
            if (record := parse_record(lines[begin:end], self.nonce)) is not None:
                yield record


def parse_record(line: bytes, nonce: bytes) -> Record | None:
    """The record in a line of output; None for a line without one, or with one that the plugin does not write."""
    if not line.startswith(nonce) or len(line) > MAX_RECORD_BYTES or line.count(b'"') > _MAX_QUOTES:
        return None
    try:
        record: Record = _decoder.decode(line[len(nonce) :])
        return record
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
