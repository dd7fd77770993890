"""Samples: one generation each, with its measures, labels and groups. JSON Lines; the format is in docs/formats.md.

msgspec decodes a line straight into a Sample. A line that it refuses is decoded again by slower rules that say what is wrong. msgspec's own
messages do not name the measure or label with a bad value, and call NaN malformed JSON.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
import numpy as np

from .atomic_write import write_atomically
from .strict_json import DECODER

SCHEMA = "assay/sample/1"
Event = Literal["exact_match", "tests_pass", "kept"]
EVENTS: tuple[Event, ...] = get_args(Event)

_EVENTS = frozenset(EVENTS)
_HEX_DIGITS = b"0123456789abcdef"
_TEXTS = ("id", "model", "prompt", "task", "language", "project", "file", "text_sha256")
_OPTIONAL_TEXTS = ("model_name", "user")
_FIELDS = frozenset((*_TEXTS, "schema", "seed", "measures", "labels"))
_OPTIONAL = frozenset((*_OPTIONAL_TEXTS, "asked", "fallbacks", "rank", "alternatives", "propensity"))


class SampleError(ValueError):
    """A file of samples can't be read. The message says file, line and reason."""


# gc=False: a frozen sample of texts, numbers and dicts of them is in no reference cycle, and each collection would visit a million of them.
class Sample(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False, tag_field="schema", tag=SCHEMA):
    """One generation: raw measures, one label per event, and the groups that it belongs to. An unknown label is None, never False.

    model: fingerprint id of the model, 16 hex digits. prompt: of prompt and decoder, 16 hex digits. Calibrators are matched by both.
    text_sha256: of the generated text in UTF-8.
    model_name: for people only.
    asked: for each reflective measure the fingerprint of the question that the model was asked, 16 hex digits.
    fallbacks: measures whose value stands in for one that could not be had.
    user: the person or machine that it comes from.
    rank, alternatives: it is number `rank`, from 1, of so many alternatives drawn at its place (`agreement.Drawn`).
    propensity: the probability with which it became a sample.

    Changed with `msgspec.structs.replace`.
    """

    id: str
    model: str
    prompt: str
    task: str
    language: str
    project: str
    file: str
    seed: int
    measures: dict[str, float]
    labels: dict[str, bool | None]
    text_sha256: str
    model_name: str = ""
    asked: dict[str, str] = {}
    fallbacks: tuple[str, ...] = ()
    user: str = ""
    rank: int = 1
    alternatives: int = 1
    propensity: float = 1.0


class _Other(msgspec.Struct, tag_field="schema", tag=""):
    """Never a sample. In a union of two tagged types an object without a tag is refused; a single tagged type would accept it."""


_decoder: msgspec.json.Decoder[Sample] = msgspec.json.Decoder(Sample | _Other)
# A sample has a few hundred bytes. A file that never ends, such as a device, may have no line's end either.
_MAX_LINE = 1 << 24
_encoder = msgspec.json.Encoder()


def write_samples(path: Path, samples: Iterable[Sample], *, private: bool = False) -> None:
    """Write a file of samples, atomically. private: only the owner may read it.

    Raises SampleError for samples that `read_samples` would refuse; the file is then as it was.
    """
    seen: set[str] = set()
    with write_atomically(path, private=private) as out:
        for number, sample in enumerate(samples, 1):
            line = _line(sample)
            try:
                _check(line, sample)
                if sample.id in seen:
                    raise ValueError(f"the id {sample.id!r} was used before")
            except ValueError as error:
                raise SampleError(f"{path}:{number}: {error}") from None
            seen.add(sample.id)
            out.write(line + b"\n")


def read_samples(paths: Path | Sequence[Path]) -> list[Sample]:
    """All samples of the files, in order.

    Raises SampleError if a file can't be read or is not UTF-8, a line is bad JSON or of another schema, a field is missing, unknown or of
    the wrong type, a measure is not a finite number, a label is not true, false or null, or an id occurs twice.
    """
    files = [paths] if isinstance(paths, Path) else paths
    samples: list[Sample] = []
    seen: set[str] = set()
    for path in files:
        try:
            with path.open("rb") as lines:
                for number, line in enumerate(iter(partial(lines.readline, _MAX_LINE + 1), b""), 1):
                    try:
                        if len(line) > _MAX_LINE:
                            raise ValueError(f"the line is longer than {_MAX_LINE >> 20} MiB: no sample is")
                        sample = _decode(line if number > 1 else line.removeprefix(codecs.BOM_UTF8))
                        if sample.id in seen:
                            raise ValueError(f"the id {sample.id!r} was used before, at {place_of(sample.id, files)}")
                    except ValueError as error:
                        raise SampleError(f"{path}:{number}: {error}") from None
                    seen.add(sample.id)
                    samples.append(sample)
        except OSError as error:
            raise SampleError(f"{path}: can't be read: {error.strerror}") from None
    return samples


def place_of(sample_id: str, paths: Sequence[Path]) -> str | None:
    """FILE:LINE of the first sample with this id in files that `read_samples` can read. None if no file has it.

    A sample does not hold its place, so the files are read again for a message about it.
    """
    for path in paths:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if _decode(line if number > 1 else line.removeprefix(codecs.BOM_UTF8)).id == sample_id:
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


def _check(line: bytes, sample: Sample) -> None:
    """Raise ValueError where the sample's own line would be refused."""
    try:
        if _has_right_texts(_decoder.decode(line)):
            return
    except ValueError:
        pass
    _sample(msgspec.to_builtins(sample))


def _decode(line: bytes) -> Sample:
    """The sample of a line; ValueError says which field is wrong and why."""
    try:
        sample = _decoder.decode(line)
        # An empty schema is the tag of `_Other`.
        if isinstance(sample, Sample) and _has_right_texts(sample):
            return sample
    except (ValueError, RecursionError):
        pass
    return _sample(_fields(line))


def _has_right_texts(sample: Sample) -> bool:
    """Whether the texts and numbers are right as far as their types can't say. Raises ValueError for a wrong optional field."""
    model, prompt, text = sample.model, sample.prompt, sample.text_sha256
    if not (sample.id and len(model) == len(prompt) == 16 and len(text) == 64 and _EVENTS.issuperset(sample.labels)):
        return False
    if (model + prompt + text).encode().translate(None, _HEX_DIGITS) or not 1 <= sample.rank <= sample.alternatives:
        return False
    if not 0 < sample.propensity <= 1:
        return False
    if sample.asked or sample.fallbacks:
        _asked(sample.asked, sample.measures)
        _fallbacks(sample.fallbacks, sample.measures)
    return True


def _fields(line: bytes) -> object:
    try:
        return DECODER.decode(line.decode())
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}" if line.strip() else "an empty line") from None
    except RecursionError:
        raise ValueError("not JSON of a sample: nested too deep") from None


def _sample(fields: object) -> Sample:
    """The sample of one decoded line; ValueError says which field is wrong and why."""
    if not isinstance(fields, dict):
        raise ValueError("a sample is a JSON object")
    if (schema := fields.get("schema")) != SCHEMA:
        raise ValueError(f"the schema is {schema!r}, this version of Assay reads {SCHEMA!r}")
    if missing := _FIELDS - fields.keys():
        raise ValueError(f"missing: {', '.join(sorted(missing))}")
    if unknown := fields.keys() - _FIELDS - _OPTIONAL:
        raise ValueError(f"unknown field: {', '.join(sorted(unknown))}")
    for name in (*_TEXTS, *_OPTIONAL_TEXTS):
        if not isinstance(fields.get(name, ""), str):
            raise ValueError(f"{name} must be a string, not {fields[name]!r}")
    if not fields["id"]:
        raise ValueError("id is empty")
    for name, digits in (("model", 16), ("prompt", 16), ("text_sha256", 64)):
        if not _are_hex_digits(fields[name], digits):
            raise ValueError(f"{name} must be {digits} lower-case hex digits, not {fields[name]!r}")
    if type(fields["seed"]) is not int:
        raise ValueError(f"seed must be an integer, not {fields['seed']!r}")
    measures = _measures(fields["measures"])
    rank, alternatives = _draw(fields)
    return Sample(
        **{name: fields[name] for name in _TEXTS},
        seed=fields["seed"],
        measures=measures,
        labels=_labels(fields["labels"]),
        model_name=fields.get("model_name", ""),
        asked=_asked(fields.get("asked", {}), measures),
        fallbacks=_fallbacks(fields.get("fallbacks", ()), measures),
        user=fields.get("user", ""),
        rank=rank,
        alternatives=alternatives,
        propensity=_propensity(fields.get("propensity", 1.0)),
    )


def _propensity(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    raise ValueError(f"propensity must be a number above 0 and at most 1, not {value!r}")


def _draw(fields: dict[str, Any]) -> tuple[int, int]:
    rank, alternatives = fields.get("rank", 1), fields.get("alternatives", 1)
    for name, value in (("rank", rank), ("alternatives", alternatives)):
        if type(value) is not int or value < 1:
            raise ValueError(f"{name} must be a whole number from 1 on, not {value!r}")
    if rank > alternatives:
        raise ValueError(f"rank is {rank}, of {alternatives} alternatives")
    return rank, alternatives


def _measures(measures: object) -> dict[str, float]:
    if not isinstance(measures, dict):
        raise ValueError("measures must be an object of numbers")
    floats = {}
    for name, value in measures.items():
        if type(value) not in (int, float):
            raise ValueError(f"the measure {name} must be a finite number, not {value!r}")
        try:
            floats[name] = float(value)
        except OverflowError:
            raise ValueError(f"the measure {name} is too large") from None
        if not math.isfinite(value):
            raise ValueError(f"the measure {name} must be a finite number, not {value!r}")
    return floats


def _labels(labels: object) -> dict[str, bool | None]:
    if not isinstance(labels, dict):
        raise ValueError("labels must be an object of true, false or null")
    for event, label in labels.items():
        if event not in EVENTS:
            raise ValueError(f"unknown event {event!r} in labels, known are {', '.join(EVENTS)}")
        if label is not None and type(label) is not bool:
            raise ValueError(f"the label {event} must be true, false or null, not {label!r}")
    return labels


def _asked(asked: object, measures: dict[str, float]) -> dict[str, str]:
    if not isinstance(asked, dict):
        raise ValueError("asked must be an object of fingerprints")
    for name, fingerprint in asked.items():
        if name not in measures:
            raise ValueError(f"asked names {name!r}, which is none of the sample's measures")
        if not (isinstance(fingerprint, str) and _are_hex_digits(fingerprint, 16)):
            raise ValueError(f"what was asked for {name} must be 16 lower-case hex digits, not {fingerprint!r}")
    return asked


def _fallbacks(fallbacks: object, measures: dict[str, float]) -> tuple[str, ...]:
    if not isinstance(fallbacks, list | tuple) or not all(isinstance(name, str) for name in fallbacks):
        raise ValueError(f"fallbacks must be a list of measures, not {fallbacks!r}")
    if unknown := [name for name in fallbacks if name not in measures]:
        raise ValueError(f"fallbacks names {unknown[0]!r}, which is none of the sample's measures")
    if len(set(fallbacks)) < len(fallbacks):
        raise ValueError(f"fallbacks names a measure twice: {', '.join(fallbacks)}")
    return tuple(fallbacks)


def _are_hex_digits(text: str, count: int) -> bool:
    return len(text) == count and not text.strip("0123456789abcdef")
