"""Samples: one generation each with its measures, its labels and its groups; JSON Lines, format in docs/formats.md."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .files import write_atomically
from .strict_json import DECODER

SCHEMA = "assay/sample/1"
EVENTS = ("exact_match", "tests_pass", "kept")

_HEX16 = re.compile(r"[0-9a-f]{16}").fullmatch
_HEX64 = re.compile(r"[0-9a-f]{64}").fullmatch
_TEXTS = ("id", "model", "prompt", "task", "language", "project", "file", "text_sha256")
_FIELDS = frozenset((*_TEXTS, "schema", "seed", "measures", "labels"))
_OPTIONAL = frozenset(("model_name",))


class SampleError(ValueError):
    """A samples file that can't be read; the message says file, line and reason."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One generation: raw measures, one label per event (None where unknown, never False), and the groups that it belongs to.

    model: fingerprint id of the model; prompt: fingerprint of prompt and decoder (both 16 hex digits: calibrators are matched by them);
    text_sha256: of the generated text in UTF-8; model_name: for people only.
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


def write_samples(path: Path, samples: Iterable[Sample]) -> None:
    """Write a samples file: to a temporary file beside it, then renamed, so no reader sees a half of it.

    Raises SampleError, before anything is renamed, for a sample that `read_samples` would refuse.
    """
    with write_atomically(path) as out:
        for number, sample in enumerate(samples, 1):
            line = _line(sample)
            try:
                _sample(json.loads(line))
            except ValueError as error:
                raise SampleError(f"{path}:{number}: {error}") from None
            out.write(line + b"\n")


def read_samples(paths: Path | Sequence[Path]) -> list[Sample]:
    """All samples of the files, in order.

    Raises SampleError for whatever is unreadable: no such file, not UTF-8, bad JSON, wrong schema, a field that is missing, unknown or of
    the wrong type, a measure that is not a finite number, a label that is not true, false or null, an id met before in any of the files.
    """
    samples: list[Sample] = []
    seen: dict[str, tuple[Path, int]] = {}
    for path in [paths] if isinstance(paths, Path) else paths:
        try:
            with path.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    try:
                        sample = _sample(_decode(line))
                        if (first := seen.setdefault(sample.id, (path, number))) != (path, number):
                            raise ValueError(f"the id {sample.id!r} was used before, at {first[0]}:{first[1]}")
                    except ValueError as error:
                        raise SampleError(f"{path}:{number}: {error}") from None
                    samples.append(sample)
        except OSError as error:
            raise SampleError(f"{path}: can't be read: {error.strerror}") from None
    return samples


def samples_sha256(samples: Iterable[Sample]) -> str:
    """SHA-256 of the samples' lines in the order of their ids: the same however they were split into files."""
    digest = hashlib.sha256()
    for sample in sorted(samples, key=lambda s: s.id):
        digest.update(_line(sample) + b"\n")
    return digest.hexdigest()


def _line(sample: Sample) -> bytes:
    fields: dict[str, Any] = {"schema": SCHEMA, **asdict(sample)}
    if not sample.model_name:
        del fields["model_name"]
    return json.dumps(fields, separators=(",", ":")).encode()


def _decode(line: bytes) -> object:
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
    if (names := fields.keys()) != _FIELDS:
        if missing := _FIELDS - names:
            raise ValueError(f"missing: {', '.join(sorted(missing))}")
        if unknown := names - _FIELDS - _OPTIONAL:
            raise ValueError(f"unknown field: {', '.join(sorted(unknown))}")
    for name in _TEXTS:
        if not isinstance(fields[name], str):
            raise ValueError(f"{name} must be a string, not {fields[name]!r}")
    if not fields["id"]:
        raise ValueError("id is empty")
    for name, matches, digits in (("model", _HEX16, 16), ("prompt", _HEX16, 16), ("text_sha256", _HEX64, 64)):
        if not matches(fields[name]):
            raise ValueError(f"{name} must be {digits} lower-case hex digits, not {fields[name]!r}")
    if type(fields["seed"]) is not int:
        raise ValueError(f"seed must be an integer, not {fields['seed']!r}")
    if not isinstance(model_name := fields.get("model_name", ""), str):
        raise ValueError(f"model_name must be a string, not {model_name!r}")
    return Sample(
        **{name: fields[name] for name in _TEXTS},
        seed=fields["seed"],
        measures=_measures(fields["measures"]),
        labels=_labels(fields["labels"]),
        model_name=model_name,
    )


def _measures(measures: object) -> dict[str, float]:
    if not isinstance(measures, dict):
        raise ValueError("measures must be an object of numbers")
    for name, value in measures.items():
        if type(value) is int:
            try:
                measures[name] = float(value)
            except OverflowError:
                raise ValueError(f"the measure {name} is too large") from None
        elif type(value) is not float or not math.isfinite(value):
            raise ValueError(f"the measure {name} must be a finite number, not {value!r}")
    return measures


def _labels(labels: object) -> dict[str, bool | None]:
    if not isinstance(labels, dict):
        raise ValueError("labels must be an object of true, false or null")
    for event, label in labels.items():
        if event not in EVENTS:
            raise ValueError(f"unknown event {event!r} in labels, known are {', '.join(EVENTS)}")
        if label is not None and type(label) is not bool:
            raise ValueError(f"the label {event} must be true, false or null, not {label!r}")
    return labels
