"""The open format `assay/answers/1`: JSON Lines, a header and then one answer in a line. docs/formats.md describes it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from ...calibration.atomic_write import write_atomically
from ...calibration.strict_json import DECODER
from .answers import Recorded, RecordedAnswer, RecordedError
from .records import by_key, licence_of, lines, source_of

SCHEMA = "assay/answers/1"


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
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

_header_decoder = msgspec.json.Decoder(_Header)
_decoder = msgspec.json.Decoder(RecordedAnswer)
_encoder = msgspec.json.Encoder()


def read(path: Path) -> Recorded:
    """The answers of a file. Raises RecordedError."""
    numbered = lines(path)
    number, first = next(numbered, (1, b""))
    try:
        header = _decode(first, _header_decoder)
        _check_header(header)
    except ValueError as error:
        raise RecordedError(path, number, f"not the header of a file of {SCHEMA}: {error}") from None
    answers = by_key(path, _answers(path, numbered, header.scale))
    licence = header.licence or licence_of(path)
    return Recorded(header.name, header.model, header.source or source_of(path), licence, answers, header.scale)


def write(path: Path, recorded: Recorded) -> None:
    """Write answers to a file, atomically. Raises RecordedError for what `read` would refuse; the file is then as it was."""
    header = _Header(SCHEMA, recorded.name, recorded.model, recorded.source, recorded.licence, recorded.scale)
    with write_atomically(path) as out:
        try:
            _check_header(header)
        except ValueError as error:
            raise RecordedError(path, 1, str(error)) from None
        out.write(_line(header) + b"\n")
        for number, answer in enumerate(recorded.answers.values(), 2):
            try:
                _check(answer, recorded.scale)
            except ValueError as error:
                raise RecordedError(path, number, str(error)) from None
            out.write(_line(answer) + b"\n")


def _check_header(header: _Header) -> None:
    if header.schema != SCHEMA:
        raise ValueError(f"the schema is {header.schema!r}, this version of Assay reads {SCHEMA!r}")
    low, high = header.scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"scale is the lowest and the highest score, not {low:g} and {high:g}")


def _answers(path: Path, numbered: Iterator[tuple[int, bytes]], scale: tuple[float, float]) -> Iterator[tuple[int, RecordedAnswer]]:
    for number, line in numbered:
        try:
            answer = _decode(line, _decoder)
            _check(answer, scale)
        except (ValueError, RecursionError) as error:
            raise RecordedError(path, number, str(error)) from None
        yield number, answer


def _decode(line: bytes, decoder: msgspec.json.Decoder[AnyRecord]) -> AnyRecord:
    try:
        return decoder.decode(line)
    except msgspec.ValidationError:
        raise
    except ValueError:
        # half a surrogate pair, which msgspec refuses, and reasons that tell the column
        record: AnyRecord = msgspec.convert(DECODER.decode(line.decode().rstrip()), decoder.type)
        return record


def _check(answer: RecordedAnswer, scale: tuple[float, float]) -> None:
    if not answer.item:
        raise ValueError("item is empty")
    if answer.index < 0:
        raise ValueError(f"index is {answer.index}: it counts from 0")
    if answer.logprobs is not None and not all(value <= 0 for value in answer.logprobs):
        raise ValueError("a log-probability is above 0")
    if answer.score is not None and not scale[0] <= answer.score <= scale[1]:
        raise ValueError(f"score is {answer.score:g}, outside of the file's scale, {scale[0]:g} to {scale[1]:g}")


def _line(made: _Header | RecordedAnswer) -> bytes:
    try:
        return _encoder.encode(made)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(made), separators=(",", ":")).encode()
