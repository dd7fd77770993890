"""Whether a file of JSON or TOML can be read with a change in it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from .candidate import Change, Lines


@dataclass(frozen=True, slots=True)
class ParsedData:
    """A file of data. before: what it says, written out; None where it can't be read."""

    lines: Lines
    read: Callable[[str], object]
    before: str | None

    @property
    def parses(self) -> bool:
        """Whether the file does, as it is."""
        return self.before is not None

    @property
    def indents(self) -> bool:
        """In none of these languages."""
        return False

    def breaks(self, change: Change) -> bool:
        """Whether the file can't be read with the change, whether or not it can without."""
        return self._after(change) is None

    def mends(self, change: Change) -> bool:
        """Whether the file can be read with the change alone."""
        return not self.parses and self._after(change) is not None

    def says_the_same(self, change: Change, /) -> bool | None:
        """Whether the file says the same with it; None of one that can't be read."""
        return None if self.before is None else self._after(change) == self.before

    def _after(self, change: Change) -> str | None:
        return _said(change.of(self.lines), self.read)


def parsed_data(lines: Lines, language: str) -> ParsedData:
    """A file in a language of `READERS`."""
    read = READERS[language]
    return ParsedData(lines, read, _said(lines, read))


def _said(lines: Lines, read: Callable[[str], object]) -> str | None:
    try:
        # 1, 1.0 and true are equal, and are not written alike.
        return repr(read("\n".join(lines).removeprefix("\ufeff")))
    except (ValueError, RecursionError):
        return None


def _json(text: str) -> object:
    return json.loads(text, parse_constant=_refused)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


READERS: Mapping[str, Callable[[str], object]] = {"json": _json, "toml": tomllib.loads}
