"""The records of one step of a run: JSON Lines, one line per finished item, appended and on the disk before the next.

A file that was killed at any byte is mended by the next run: what is damaged is taken out, and its items are asked again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..calibration.atomic_write import write_atomically
from .errors import RunError


class _Damaged(ValueError):
    """A line that holds no record."""


@dataclass(frozen=True, slots=True)
class Records:
    """A file of records. kind: a TypedDict that names their fields, "id" among them; a record may have more."""

    path: Path
    kind: type[Any]

    def add(self, record: Mapping[str, Any]) -> None:
        """Add the record of a finished item; it is on the disk when this returns."""
        with self.path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> list[Any]:
        """The records by id, a torn last line left out. Raises RunError for any other damaged line, and for a second one of an item."""
        found, known = [], set[str]()
        for number, line in self._lines():
            try:
                found.append(self._record(line, known))
            except _Damaged as error:
                raise RunError(f"{self.path}:{number}: {error}; delete the line: an item without one is asked again") from None
        return sorted(found, key=_id)

    def mend(self) -> list[int]:
        """Take out the lines that hold no record, so that their items are asked again: a torn last one, which a kill leaves, and any that
        a fault of the disk left. Returns the numbers of the latter, and of further lines of an item that has one.
        """
        whole, damaged, known = [], [], set[str]()
        for number, line in self._lines():
            try:
                self._record(line, known)
                whole.append(line)
            except _Damaged:
                damaged.append(number)
        if self.path.exists() and self.path.stat().st_size != sum(map(len, whole)):
            self._write(whole)
        return damaged

    def sort(self) -> None:
        """Put the lines in the order of their ids, so that the file does not tell in which order the items were finished."""
        lines = [line for _, line in self._lines()]
        ordered = sorted(lines, key=lambda line: _id(json.loads(line)))
        if ordered != lines:
            self._write(ordered)

    def _write(self, lines: list[bytes]) -> None:
        with write_atomically(self.path) as file:
            file.writelines(lines)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        if self.path.exists():
            with self.path.open("rb") as file:
                yield from ((number, line) for number, line in enumerate(file, 1) if line.endswith(b"\n"))

    def _record(self, line: bytes, known: set[str]) -> Any:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _Damaged(f"not JSON: {error}") from None
        try:
            msgspec.convert(record, self.kind)
        except msgspec.ValidationError as error:
            raise _Damaged(f"not the record of an item: {error}") from None
        if _id(record) in known:
            raise _Damaged(f"the item {_id(record)} has a line before")
        known.add(_id(record))
        return record


def _id(record: Any) -> str:
    return str(record["id"])
