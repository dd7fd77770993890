"""The formats of recorded answers, recognised by what a file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import assay_answers
from .answers import Recorded, RecordedError
from .published import reader_of
from .records import UNREADABLE, lines, opened

# A document of CRUXEval that is laid out over several lines is read whole to see what it is; the published ones have a megabyte.
_MAX_DOCUMENT = 1 << 28


def recorded(path: Path) -> Recorded:
    """The recorded answers of a file, in whichever format. Raises RecordedError with file, line and reason."""
    if path.is_dir():
        raise RecordedError(path, None, "a folder; name a file of recorded answers in it")
    first = _first_record(path)
    if "schema" in first:
        return assay_answers.read(path)
    if read := reader_of(first):
        return read(path)
    raise RecordedError(
        path,
        1,
        f"no known format: a record with {', '.join(sorted(first)) or 'no field'}. Your own answers go into {assay_answers.SCHEMA} "
        "(docs/formats.md); of published sets those of CRUXEval, CodeT, IdentityChain, Counterfeit and mxeval are read",
    )


def is_recorded(path: Path) -> bool:
    """Whether a file's first record is one of recorded answers, so that `recorded` reads it or says what is wrong with it."""
    try:
        first = _first_record(path)
    except RecordedError:
        return False
    return str(first.get("schema", "")).startswith("assay/answers/") or reader_of(first) is not None


def _first_record(path: Path) -> dict[str, Any]:
    number, line = next(lines(path), (1, b""))
    if not line:
        raise RecordedError(path, None, "an empty file")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        record = _document(path)
        if record is None:
            raise RecordedError(path, number, f"not JSON: {error}") from None
    if not isinstance(record, dict):
        raise RecordedError(path, number, "a record is a JSON object")
    return record


def _document(path: Path) -> Any:
    """The whole file as one JSON document; None where it is none."""
    with opened(path) as file:
        try:
            text = file.read(_MAX_DOCUMENT + 1)
            return json.loads(text) if len(text) <= _MAX_DOCUMENT else None
        except (ValueError, RecursionError, *UNREADABLE):
            return None
