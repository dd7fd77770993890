"""Samples: one generation each, with its measures, labels and groups. JSON Lines; the format is in docs/formats.md.

msgspec decodes a line straight into a Sample. A line that it refuses is parsed again with `json`, so that the message tells a bad value and
its measure: msgspec names neither, and calls NaN malformed JSON.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
import numpy as np

from .atomic_write import write_atomically
from .field_types import Fingerprint, Positive, Sha256
from .strict_json import DECODER, in_words

SCHEMA = "assay/sample/1"
Event = Literal["exact_match", "tests_pass", "kept"]
EVENTS: tuple[Event, ...] = get_args(Event)

_Name = Annotated[str, msgspec.Meta(min_length=1)]
_Propensity = Annotated[float, msgspec.Meta(gt=0, le=1)]


class SampleError(ValueError):
    """A file of samples can't be read. The message says file, line and reason."""


# gc=False: a frozen sample of texts, numbers and dicts of them is in no reference cycle, and each collection would visit a million of them.
class Sample(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, tag_field="schema", tag=SCHEMA):
    """One generation: raw measures, one label per event, and the groups that it belongs to. An unknown label is None, never False.

    id: not empty; used once in all files that are read together.
    model, prompt: fingerprints, of weights, tokenizer and a quantised cache, and of the prompt's layout and the decoder's settings.
        Calibrators are matched by both.
    task, language: what was asked for.
    project, file: its groups. Evidence is held out by project.
    seed: of the sampling.
    labels: by event, `exact_match`, `tests_pass` or `kept`; None or absent is unknown.
    text_sha256: of the generated text in UTF-8.
    model_name: for people.
    kin: what all quantisations of the model share; empty where that is not known.
    asked: by reflective measure the fingerprint of the question.
    fallbacks: measures whose value stands in for one that could not be had (`verbalised` is then 0.5).
    user: a person or machine.
    rank, alternatives: it is number `rank` of so many drawn at its place, 1 of 1 by default. Number 1 begins with the likeliest token.
    propensity: with which it became a sample, in (0, 1], 1 by default. Fits do not weigh by it.

    Changed with `msgspec.structs.replace`.
    """

    id: _Name
    model: Fingerprint
    prompt: Fingerprint
    task: str
    language: str
    project: str
    file: str
    seed: int
    measures: dict[str, float]
    labels: dict[str, bool | None]
    text_sha256: Sha256
    model_name: str = ""
    kin: str = ""
    asked: dict[str, Fingerprint] = {}
    fallbacks: tuple[str, ...] = ()
    user: str = ""
    rank: Positive = 1
    alternatives: Positive = 1
    propensity: _Propensity = 1.0


class _Other(msgspec.Struct, tag_field="schema", tag=""):
    """Never a sample. In a union of two tagged types an object without a tag is refused; a single tagged type would accept it."""


_decoder: msgspec.json.Decoder[Sample] = msgspec.json.Decoder(Sample | _Other)
# A sample has a few hundred bytes. A file that never ends, such as a device, may have no line's end either.
_MAX_LINE = 1 << 24
_encoder = msgspec.json.Encoder()
# Where msgspec says that a value is wrong: in a field, or in a value of an object.
_PLACE = re.compile(r"(.*) - at `\$\.(\w+)(\[\.\.\.\])?`")


def write_samples(path: Path, samples: Iterable[Sample], *, private: bool = False) -> None:
    """Write a file of samples, atomically. private: only the owner may read it.

    Raises SampleError for samples that `read_samples` would refuse; the file is then as it was.
    """
    seen: set[str] = set()
    with write_atomically(path, private=private) as out:
        for number, sample in enumerate(samples, 1):
            line = _line(sample)
            try:
                _check(sample)
                _decode(line)
                if sample.id in seen:
                    raise ValueError(f"the id {sample.id!r} was used before")
            except ValueError as error:
                raise SampleError(f"{path}:{number}: {error}") from None
            seen.add(sample.id)
            out.write(line + b"\n")


def read_samples(paths: Path | str | Sequence[Path]) -> list[Sample]:
    """All samples of the files, in order.

    Raises SampleError if a file can't be read or is not UTF-8, a line is bad JSON or of another schema, a field is missing, unknown or of
    the wrong type, a measure is not a finite number, a label is not true, false or null, or an id occurs twice for one model.
    """
    files = [Path(paths)] if isinstance(paths, Path | str) else paths
    samples: list[Sample] = []
    seen: set[tuple[str, str]] = set()
    for path in files:
        try:
            with path.open("rb") as lines:
                for number, line in enumerate(iter(partial(lines.readline, _MAX_LINE + 1), b""), 1):
                    try:
                        if len(line) > _MAX_LINE:
                            raise ValueError(f"the line is longer than {_MAX_LINE >> 20} MiB: no sample is")
                        sample = _decode(line if number > 1 else line.removeprefix(codecs.BOM_UTF8))
                        if (sample.model, sample.id) in seen:
                            raise ValueError(f"the id {sample.id!r} was used before, at {place_of(sample.id, files, sample.model)}")
                    except ValueError as error:
                        raise SampleError(f"{path}:{number}: {error}") from None
                    seen.add((sample.model, sample.id))
                    samples.append(sample)
        except OSError as error:
            raise SampleError(f"{path}: can't be read: {error.strerror}") from None
    return samples


def place_of(sample_id: str, paths: Sequence[Path], model: str = "") -> str | None:
    """FILE:LINE of the first sample with this id, of a model if one is named, in files that `read_samples` can read. None if there is none.

    A sample does not hold its place, so the files are read again for a message about it.
    """
    for path in paths:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                found = _decode(line if number > 1 else line.removeprefix(codecs.BOM_UTF8))
                if found.id == sample_id and model in ("", found.model):
                    return f"{path}:{number}"
    return None


def samples_sha256(samples: Iterable[Sample]) -> str:
    """One hash of all samples, whatever their order and files: SHA-256 of the sorted SHA-256 digests of their lines.

    A line is what `write_samples` writes, without its newline.
    """
    # To sort the samples by id and hash the lines in that order takes twice as long, because of cache misses.
    digests = bytearray()
    for sample in samples:
        digests += hashlib.sha256(_line(sample)).digest()
    # numpy sorts 32 bytes at a time in the same order as Python, several times faster.
    return hashlib.sha256(np.sort(np.frombuffer(digests, "S32")).tobytes()).hexdigest()


def _line(sample: Sample) -> bytes:
    try:
        return _encoder.encode(sample)
    except UnicodeEncodeError:
        # Half a surrogate pair, as in the name of a file that is not UTF-8.
        return json.dumps(msgspec.to_builtins(sample), separators=(",", ":")).encode()


def _decode(line: bytes) -> Sample:
    """The sample of a line; ValueError says which field is wrong and why."""
    sample: object = None
    with suppress(ValueError, RecursionError):
        sample = _decoder.decode(line)
    if not isinstance(sample, Sample):  # or an empty schema, the tag of `_Other`
        sample = _converted(_fields(line))
    _check(sample)
    return sample


def _fields(line: bytes) -> object:
    try:
        return DECODER.decode(line.decode())
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}" if line.strip() else "an empty line") from None
    except RecursionError:
        raise ValueError("not JSON of a sample: nested too deep") from None


def _converted(fields: object) -> Sample:
    """The sample of decoded JSON. ValueError tells the wrong value, too."""
    if isinstance(fields, dict) and (schema := fields.get("schema")) != SCHEMA:
        raise ValueError(f"the schema is {schema!r}, this version of Assay reads {SCHEMA!r}")
    try:
        return msgspec.convert(fields, Sample)
    except msgspec.ValidationError as error:
        found = _PLACE.fullmatch(str(error))
        if found is None or not isinstance(fields, dict):
            raise ValueError(str(error)) from None
        reason, name, inside = in_words(found[1]), *found.groups()[1:]
        value = fields[name]
        if inside:
            name, value = next((f"{name}.{key}", one) for key, one in value.items() if _is_wrong(fields | {name: {key: one}}))
        shown = repr(value)
        raise ValueError(f"{name} is {shown if len(shown) <= 60 else shown[:57] + '...'}: {reason}") from None


def _is_wrong(fields: dict[str, Any]) -> bool:
    try:
        msgspec.convert(fields, Sample)
    except msgspec.ValidationError:
        return True
    return False


def _check(sample: Sample) -> None:
    """Raise ValueError for what the types of the fields can't say."""
    if unknown := sample.labels.keys() - EVENTS:
        raise ValueError(f"unknown event {min(unknown)!r} in labels, known are {', '.join(EVENTS)}")
    if sample.rank > sample.alternatives:
        raise ValueError(f"rank is {sample.rank}, of {sample.alternatives} alternatives")
    for name, value in sample.measures.items():
        if not math.isfinite(value):
            raise ValueError(f"the measure {name} must be a finite number, not {value!r}")
    for field, names in (("asked", sample.asked), ("fallbacks", sample.fallbacks)):
        if without_measure := [name for name in names if name not in sample.measures]:
            raise ValueError(f"{field} names {without_measure[0]!r}, which is none of the sample's measures")
    if len(set(sample.fallbacks)) < len(sample.fallbacks):
        raise ValueError(f"fallbacks names a measure twice: {', '.join(sample.fallbacks)}")
