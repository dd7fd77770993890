"""The formats of recorded answers, recognised by what a file holds, and the open one, `assay/answers/1`: JSON Lines, a header and then one
answer in a line. docs/formats.md describes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ...calibration.strict_json import DECODER
from .answers import Recorded, RecordedAnswer, RecordedError
from .published import reader_of
from .records import UNREADABLE, by_key, licence_of, lines, opened, source_of

SCHEMA = "assay/answers/1"
# A document of CRUXEval that is laid out over several lines is read whole to see what it is; the published ones have a megabyte.
_MAX_DOCUMENT = 1 << 28


def recorded(path: Path) -> Recorded:
    """The recorded answers of a file, in whichever format. Raises RecordedError with file, line and reason."""
    if path.is_dir():
        raise RecordedError(path, None, "a folder; name a file of recorded answers in it")
    first = _first_record(path)
    if isinstance(first, dict) and "schema" in first:
        return _read(path)
    if read := reader_of(first):
        return read(path)
    raise RecordedError(
        path,
        1,
        f"no known format: a record with {', '.join(sorted(first)) or 'no field'}. Read are outputs of EvalPlus, lm-evaluation-harness, "
        "inspect_ai, bigcode's harness and of batches of OpenAI or vLLM, the published sets of CRUXEval, CodeT, IdentityChain, Counterfeit "
        f"and mxeval, and your own answers as {SCHEMA} (docs/formats.md)",
    )


def is_recorded(path: Path) -> bool:
    """Whether a file's first record is one of recorded answers, so that `recorded` reads it or says what is wrong with it."""
    try:
        first = _first_record(path)
    except RecordedError:
        return False
    open_format = isinstance(first, dict) and str(first.get("schema", "")).startswith("assay/answers/")
    return open_format or reader_of(first) is not None


def _first_record(path: Path) -> Any:
    number, line = next(lines(path), (1, b""))
    if not line:
        raise RecordedError(path, None, "an empty file")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        record = _document(path)
        if record is None:
            raise RecordedError(path, number, f"not JSON: {error}") from None
    if not isinstance(record, dict | list):
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


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line.

    name, model: of the set; who answered. source, licence: else what files SOURCE and LICENSE beside it say.
    scale: bounds of `score`, [0, 1] by default. Confidence is (`score` - low) / (high - low).
    """

    schema: str
    name: str
    model: str
    source: str = ""
    licence: str = ""
    scale: tuple[float, float] = (0.0, 1.0)


AnyRecord = TypeVar("AnyRecord", _Header, RecordedAnswer)


def _read(path: Path) -> Recorded:
    """The answers of a file in the open format. Raises RecordedError."""
    numbered = lines(path)
    number, first = next(numbered, (1, b""))
    try:
        header = _decode(first, _Header)
        _check_header(header)
    except ValueError as error:
        raise RecordedError(path, number, f"not the header of a file of {SCHEMA}: {error}") from None
    answers = by_key(path, _answers(path, numbered, header.scale))
    licence = header.licence or licence_of(path)
    return Recorded(header.name, header.model, header.source or source_of(path), licence, answers, header.scale)


def _check_header(header: _Header) -> None:
    if header.schema != SCHEMA:
        raise ValueError(f"the schema is {header.schema!r}, this version of Assay reads {SCHEMA!r}")
    low, high = header.scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"scale is the lowest and the highest score, not {low:g} and {high:g}")


def _answers(path: Path, numbered: Iterator[tuple[int, bytes]], scale: tuple[float, float]) -> Iterator[tuple[int, RecordedAnswer]]:
    for number, line in numbered:
        try:
            answer = _decode(line, RecordedAnswer)
            if answer.score is not None and not scale[0] <= answer.score <= scale[1]:
                raise ValueError(f"score is {answer.score:g}, outside of the file's scale, {scale[0]:g} to {scale[1]:g}")
        except (ValueError, RecursionError) as error:
            raise RecordedError(path, number, str(error)) from None
        yield number, answer


def _decode(line: bytes, kind: type[AnyRecord]) -> AnyRecord:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.ValidationError:
        raise
    except ValueError:
        # half a surrogate pair, which msgspec refuses, and reasons that tell the column
        return msgspec.convert(DECODER.decode(line.decode().rstrip()), kind)
