"""Calibrators: a map from measures to P(event) with the evidence for it, in one JSON file each (format in docs/formats.md)."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .evidence import Evidence
from .files import write_atomically
from .measures import MEASURES, enter
from .metrics.intervals import student_t
from .samples import EVENTS
from .strict_json import DECODER, build

SCHEMA = "assay/calibrator/1"

Status = Literal["informative", "uninformative", "insufficient"]
Grouping = Literal["project", "file", "sample"]

# far above any fit to real measures, far below what overflows on the way to a probability
_LARGEST = 1e12

_HEX16 = re.compile(r"[0-9a-f]{16}").fullmatch
_HEX64 = re.compile(r"[0-9a-f]{64}").fullmatch


class CalibratorError(ValueError):
    """A calibrator file that can't be read; the message says file, field and reason."""


@dataclass(frozen=True, slots=True)
class PlattMap:
    """log odds = intercept + Σ slope · feature, each feature as `measures.enter` gives it.

    covariance: of (intercept, slopes), with only the groups taken as independent. between_group_sd: how much the intercept differs
    between groups (log odds).
    """

    kind: Literal["platt"]
    intercept: float
    slopes: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    between_group_sd: float


@dataclass(frozen=True, slots=True)
class FittedOn:
    """Where a map comes from. model and prompt are fingerprint ids; date is ISO 8601 with a time zone; samples_sha256 as in `samples`."""

    model: str
    model_name: str
    prompt: str
    languages: tuple[str, ...]
    n: int
    positives: int
    grouped_by: Grouping
    groups: int
    date: str
    samples_sha256: str


@dataclass(frozen=True)
class Calibrator:
    """A map from measures to P(event), what it was fitted on, and what it is worth.

    features: names of measures, in the order of the slopes; ranges: smallest and largest raw value of each that it was fitted on.
    status: "informative" only if the evidence shows skill; reason: why it has that status, for people.
    """

    event: str
    task: str
    features: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    map: PlattMap
    fitted_on: FittedOn
    status: Status
    reason: str
    evidence: Evidence

    def __post_init__(self) -> None:
        """Raises ValueError, "field: reason", where the parts do not fit together."""
        k, model = len(self.features), self.map
        parameters = (model.intercept, *model.slopes, model.between_group_sd, *(v for row in model.covariance for v in row))
        wrong = (
            ("event", self.event not in EVENTS, f"{self.event!r} is none of {', '.join(EVENTS)}"),
            ("features", k == 0 or len(set(self.features)) < k, "needs at least one, each once"),
            ("features", bool(set(self.features) - MEASURES.keys()), f"unknown measure in {', '.join(self.features)}"),
            ("ranges", len(self.ranges) != k, f"{len(self.ranges)} for {k} features"),
            ("ranges", any(low > high for low, high in self.ranges), "low above high"),
            ("map.slopes", len(model.slopes) != k, f"{len(model.slopes)} for {k} features"),
            ("map.covariance", [len(row) for row in model.covariance] != [k + 1] * (k + 1), f"not {k + 1} by {k + 1}"),
            ("map", any(abs(v) > _LARGEST for v in parameters), f"a parameter is larger than {_LARGEST:g}"),
            ("map.between_group_sd", not model.between_group_sd >= 0, "negative"),
            ("fitted_on.model", not _HEX16(self.fitted_on.model), "not 16 lower-case hex digits"),
            ("fitted_on.prompt", not _HEX16(self.fitted_on.prompt), "not 16 lower-case hex digits"),
            ("fitted_on.samples_sha256", not _HEX64(self.fitted_on.samples_sha256), "not 64 lower-case hex digits"),
            ("fitted_on.n", not 0 <= self.fitted_on.positives <= self.fitted_on.n > 0, "not 0 <= positives <= n > 0"),
            ("fitted_on.groups", not 2 <= self.fitted_on.groups <= self.fitted_on.n, "not 2 <= groups <= n"),
            ("fitted_on.date", not _is_moment(self.fitted_on.date), "not an ISO 8601 date and time with a time zone"),
        )
        for field, is_wrong, reason in wrong:
            if is_wrong:
                raise ValueError(f"{field}: {reason}")
        for name, bounds in zip(self.features, self.ranges, strict=True):
            try:
                enter(name, bounds)
            except ValueError as error:
                raise ValueError(f"ranges: {error}") from None
        if np.linalg.eigvalsh(model.covariance).min() < -1e-9 * max(1.0, np.abs(model.covariance).max()):
            raise ValueError("map.covariance: has a negative variance")

    @cached_property
    def id(self) -> str:
        """16 hex digits over the whole content."""
        return hashlib.sha256(_document(self)).hexdigest()[:16]


def save(calibrator: Calibrator, path: Path) -> None:
    """Write a calibrator file, to a temporary file beside it first."""
    with write_atomically(path) as out:
        out.write(_document(calibrator))


def load(path: Path) -> Calibrator:
    """The calibrator in a file. Raises CalibratorError, with file, field and reason, for anything that `save` would not have written."""
    try:
        fields = DECODER.decode(path.read_text(encoding="utf-8"))
        if not isinstance(fields, dict):
            raise ValueError("a calibrator is a JSON object")
        if (schema := fields.pop("schema", None)) != SCHEMA:
            of_ours = str(schema).startswith("assay/calibrator/")
            advice = "; another version wrote it: fit it again with `assay calibrate fit`" if of_ours else ""
            raise ValueError(f"schema: {schema!r}, this version of Assay reads {SCHEMA!r}{advice}")
        return build(Calibrator, fields)
    except OSError as error:
        raise CalibratorError(f"{path}: can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CalibratorError(f"{path}: not UTF-8") from None
    except json.JSONDecodeError as error:
        raise CalibratorError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise CalibratorError(f"{path}: not a calibrator: nested too deep") from None
    except ValueError as error:
        raise CalibratorError(f"{path}: {error}") from None


def as_json(calibrator: Calibrator) -> dict[str, Any]:
    """The calibrator as its file holds it."""
    return {"schema": SCHEMA, **asdict(calibrator)}


def log_odds_range(calibrator: Calibrator, features: tuple[float, ...]) -> tuple[float, float, float]:
    """Log odds of the event and its 95 % range in a group (project) that the calibrator has not seen: value, low, high.

    features: as they enter the map. η = θ · x with x = (1, features), and η ± t · √(xᵀ V x + τ²): V is the covariance of θ, τ the standard
    deviation of the intercept between groups, t Student's with G - 2 degrees for G groups (Higgins, Thompson & Spiegelhalter 2009, eq. 12):
    V and τ are known from so many groups only, and with 1.96 the range of 15 projects holds 9 in 10, that of 5 projects 8 in 10.
    """
    model = calibrator.map
    x = (1.0, *features)
    value = math.fsum(a * b for a, b in zip((model.intercept, *model.slopes), x, strict=True))
    variance = math.fsum(a * v * b for a, row in zip(x, model.covariance, strict=True) for v, b in zip(row, x, strict=True))
    half = student_t(max(1, calibrator.fitted_on.groups - 2)) * math.sqrt(max(0.0, variance) + model.between_group_sd**2)
    return value, value - half, value + half


def _document(calibrator: Calibrator) -> bytes:
    return (json.dumps(as_json(calibrator), indent=1, allow_nan=False) + "\n").encode()


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
