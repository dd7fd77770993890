"""A calibrator: a map from measures to P(event) with the evidence for it. One JSON file each; the format is in docs/formats.md."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from ..inference.regular_file import read_regular_file
from .atomic_write import write_atomically
from .by_language import InLanguage
from .evidence import Evidence, problems_of_interval
from .field_types import Count, Fingerprint, Positive, Sha256, Spread
from .fitting.adaptation import Variation
from .fitting.dial import DialRow
from .fitting.folds import Grouping
from .fitting.model_selection import Candidate
from .fitting.shrinkage import LEVELS, Child, Level
from .guards import GIVING, Guard, Status
from .maps.checks import check_linear
from .maps.platt import PlattMap
from .maps.registry import MAPS, Map, problems_of
from .measures.registry import MEASURES, enter
from .metrics.intervals import student_t
from .samples import EVENTS
from .strict_json import DECODER, Variants, build, reading, without_schema

SCHEMA = "assay/calibrator/2"
# A hundred times what a calibrator has. The file may come from anywhere.
MAX_FILE_BYTES = 2 * 2**20
# Standard deviation of the log odds between quantisations of one model (docs/calibration.md).
KIN_SD = 0.3
MAP_OF_KIND: Variants = {Map: {name: kind.type for name, kind in MAPS.items()}}


class CalibratorError(ValueError):
    """A calibrator's file can't be read. The message says file, field and reason."""


@dataclass(frozen=True, slots=True)
class FittedOn:
    """What a map was fitted on.

    date: ISO 8601 with a time zone.
    alternatives: how many were drawn at each place, all of them samples. 1 where the samples are first choices alone.
    models: names of the models, where there are several. `model` and `prompt` are then hashes of all their ids, which nothing matches.
    kin: of the model (`inference.model.Fingerprint.kin`); empty where it is not known.
    """

    model: Fingerprint
    model_name: str
    prompt: Fingerprint
    languages: tuple[str, ...]
    n: Positive
    positives: Count
    grouped_by: Grouping
    groups: Annotated[int, Meta(ge=2)]
    date: str
    samples_sha256: Sha256
    alternatives: Positive = 1
    models: tuple[str, ...] = ()
    kin: str = ""


@dataclass(frozen=True, slots=True)
class Parent:
    """The calibrator that a map was adapted from: its id, and the number of samples that it was fitted on.

    models: how many models these were of.
    groups: how many projects between_group_sd was taken over from; 0 where the samples say it themselves.
    """

    calibrator: Fingerprint
    n: Positive
    models: Positive = 1
    groups: Count = 0


@dataclass(frozen=True)
class Calibrator:
    """A map from measures to P(event), what it was fitted on, and what it is worth.

    event, task: what the probability is about, and the samples' task.
    features: names of measures, in the order of the map's parameters. Only `platt` takes several.
    ranges: smallest and largest raw value of each measure in the fit. Beyond them a measure that speaks for or against the event gives the
        lowest number or counts as the largest value; with another there is no number.
    between_group_sd: τ, standard deviation of the log odds between groups, such as projects, that were not seen; within a model, where the
        map is of several.
    levels, children: the maps of the languages, projects or users that have their own, at most 10,000. The path of a child has a name for
        each level.
    tried: the candidates of model selection.
    status, reason: `informative` only if every guard passes, `borrowed` where that is of other models, `uninformative` where no skill is
        shown, `insufficient` with fewer than 25 samples or 5 of a class, or with one project that can't show skill; and why, for people.
    dial: for each share of suggestions that shall be right, the confidence from which on to show them.
    projects, models: how the maps of projects and of models vary around this one. Adaptation needs it.
    moved_from: the calibrator that the map was adapted from.
    by_language: how it stands in each of its languages, where there are several. A file gets a number only if its language is informative.
    """

    event: str
    task: str
    features: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    map: Map
    between_group_sd: Spread
    levels: tuple[Level, ...]
    children: Annotated[tuple[Child, ...], Meta(max_length=10_000)]
    tried: tuple[Candidate, ...]
    fitted_on: FittedOn
    status: Status
    reason: str
    guards: tuple[Guard, ...]
    evidence: Evidence
    dial: tuple[DialRow, ...]
    projects: Variation | None = None
    models: Variation | None = None
    moved_from: Parent | None = None
    by_language: tuple[InLanguage, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError, "field: reason", if the parts do not fit together."""
        k = len(self.features)
        wrong = (
            ("event", self.event not in EVENTS, f"{self.event!r} is none of {', '.join(EVENTS)}"),
            ("features", k == 0 or len(set(self.features)) < k, "needs at least one, each once"),
            ("features", bool(set(self.features) - MEASURES.keys()), f"unknown measure in {', '.join(self.features)}"),
            ("ranges", len(self.ranges) != k, f"{len(self.ranges)} for {k} features"),
            ("ranges", any(low > high for low, high in self.ranges), "low above high"),
            *((field, True, reason) for field, reason in problems_of(self.map, k)),
            ("tried", any(candidate.kind not in MAPS for candidate in self.tried), f"a kind is none of {', '.join(MAPS)}"),
            ("levels", list(self.levels) != sorted(set(self.levels), key=LEVELS.index), f"not of {', '.join(LEVELS)} in this order, once"),
            ("children", any(not 0 < len(child.path) <= len(self.levels) for child in self.children), "a path does not fit the levels"),
            ("children", len({child.path for child in self.children}) < len(self.children), "a path is there twice"),
            *(
                (field, True, reason)
                for child in self.children
                for field, reason in check_linear(child.intercept, child.slopes, child.covariance, k, f"children {'/'.join(child.path)}")
            ),
            *((f"evidence.{field}", True, reason) for field, reason in self.evidence.problems()),
            *((field, True, reason) for row in self.dial for field, reason in _wrong_row(row)),
            ("fitted_on.n", max(self.fitted_on.positives, self.fitted_on.groups) > self.fitted_on.n, "less than positives or groups"),
            (
                "fitted_on.alternatives",
                self.fitted_on.alternatives == 1 and "agreement" in self.features,
                "1, and first choices alone have no agreement",
            ),
            (
                "by_language",
                bool(self.by_language) and [each.name for each in self.by_language] != sorted(self.fitted_on.languages),
                "not each of fitted_on.languages, by name",
            ),
            *((f"by_language {each.name}", True, reason) for each in self.by_language for reason in each.problems()),
            (
                "models",
                {self.models is not None, self.fitted_on.grouped_by == "model"} != {len(self.fitted_on.models) > 1},
                "a map for any model is held out by model, names several, and says how they vary",
            ),
            ("models", self.models is not None and self.projects is None, "does not say how projects vary"),
            ("status", self.models is not None and self.status == "informative", "informative, and a map for any model lends"),
            ("status", self.status == "borrowed" and self.models is None and self.moved_from is None, "borrowed from none"),
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

    @cached_property
    def id(self) -> str:
        """16 hex digits over the whole content."""
        return hashlib.sha256(_document(self)).hexdigest()[:16]

    @cached_property
    def bound(self) -> float:
        """Every probability is at least this and at most 1 minus this: 1 / (n + 2), with n the map's samples and those of its parent."""
        return 1 / (self.fitted_on.n + (self.moved_from.n if self.moved_from else 0) + 2)

    def status_in(self, language: str | None) -> tuple[Status, str]:
        """Status and reason in a language: its own where the calibrator gives numbers and has several. None: of the calibrator."""
        if self.status in GIVING:
            for each in self.by_language:
                if each.name == language:
                    return self.status if each.status == "informative" else each.status, each.reason
        return self.status, self.reason

    @property
    def languages_with_numbers(self) -> tuple[str, ...]:
        """The languages in which its evidence allows a number."""
        return tuple(name for name in self.fitted_on.languages if self.status_in(name)[0] in GIVING)

    @cached_property
    def child_of(self) -> dict[tuple[str, ...], Child]:
        """The children by their paths."""
        return {child.path: child for child in self.children}


def save(calibrator: Calibrator, path: Path, *, follow: bool = True) -> None:
    """Write a calibrator's file, atomically. follow: as `write_atomically`."""
    with write_atomically(path, follow=follow) as out:
        out.write(_document(calibrator))


def load(path: Path, *, follow: bool = True) -> Calibrator:
    """The calibrator in a file. follow: whether the path may be a symbolic link.

    Raises CalibratorError, with file, field and reason, for what `save` would not have written, and for what is no file or larger than
    `MAX_FILE_BYTES`.
    """
    with reading(path, CalibratorError, "a calibrator"):
        document = DECODER.decode(read_regular_file(path, MAX_FILE_BYTES, follow=follow).decode("utf-8-sig"))
        fields = without_schema(document, SCHEMA, "a calibrator", "fit it again with `assay calibrate fit`")
        return build(Calibrator, fields, MAP_OF_KIND)


def as_json(calibrator: Calibrator) -> dict[str, Any]:
    """The calibrator as its file holds it. What says nothing of itself (None, no `by_language`, one alternative) is left out."""
    document = {"schema": SCHEMA, **asdict(calibrator)}
    for name in ("projects", "models", "moved_from"):
        if document[name] is None:
            del document[name]
    if not calibrator.by_language:
        del document["by_language"]
    for each in document.get("by_language", ()):
        if not each["by_file"]:
            del each["by_file"]
    for part, usual in (("fitted_on", {"alternatives": 1, "models": (), "kin": ""}), ("moved_from", {"models": 1, "groups": 0})):
        for name, value in usual.items():
            if part in document and document[part][name] == value:
                del document[part][name]
    return document


def log_odds_range(
    calibrator: Calibrator, features: tuple[float, ...], groups: Mapping[Level, str] | None = None, *, kin: bool = False
) -> tuple[float, float, float]:
    """Log odds η of the event and their 95 % range: value, low, high.

    features: as they enter the map. groups: the language, project and user, as far as they are known.

    In a project that the calibrator has not seen the range is η ± t · √(s² + τ²). s is the map's standard error of η, τ the standard
    deviation between groups, and t Student's with G - 2 degrees of freedom for G groups, because s and τ are known from so many groups
    only. With 1.96 instead, the range from 15 projects would hold 9 in 10 and that from 5 projects 8 in 10. In a project that has its own
    map τ is 0. A map of several models is for one that it has not seen: how models vary adds to τ², with the degrees of freedom of the sum.
    kin: the map is of another quantisation of the model, which adds `KIN_SD`².

    References: Higgins, Thompson & Spiegelhalter (2009), eq. 12.
    """
    named = groups or {}
    path = tuple(named[level] for level in takewhile(named.__contains__, calibrator.levels))
    own = next((child for depth in range(len(path), 0, -1) if (child := calibrator.child_of.get(path[:depth]))), None)
    used = own.as_map() if own else calibrator.map
    seen = own is not None and calibrator.fitted_on.grouped_by in calibrator.levels[: len(own.path)]
    if isinstance(used, PlattMap):
        value, error = used.at(features)
    else:
        x = np.array([features])
        value, error = float(used.log_odds(x)[0]), float(used.standard_error(x)[0])
    variance = error**2 + (0.0 if seen else calibrator.between_group_sd**2) + (KIN_SD**2 if kin else 0.0)
    degrees = calibrator.fitted_on.groups - 2
    if around := calibrator.models:
        of_models = around.offset_sd**2 + (around.slope_sd * (value - around.centre) / around.spread) ** 2
        projects = calibrator.projects.n if calibrator.projects else around.n
        degrees = _degrees((variance, projects - 2), (of_models, around.n - 2))
        variance += of_models
    elif (parent := calibrator.moved_from) and parent.groups and not seen:
        # What is left of how models vary is known from these few, and from the own groups.
        degrees = _degrees((error**2, parent.models - 1 + degrees), (variance - error**2, parent.groups - 2))
    half = student_t(max(1, degrees)) * math.sqrt(variance)
    return value, value - half, value + half


def _degrees(*parts: tuple[float, int]) -> int:
    """The degrees of freedom of a sum of variances, each with its own (Satterthwaite 1946)."""
    total = sum(variance for variance, _ in parts)
    uncertain = sum(variance**2 / max(1, degrees) for variance, degrees in parts)
    return int(min(total**2 / uncertain, 1e6)) if uncertain > 0 else 1


def _wrong_row(row: DialRow) -> Iterator[tuple[str, str]]:
    for part in filter(None, (row.share, row.precision)):
        if not 0 <= part.value <= 1:
            yield "dial", "a share is not between 0 and 1"
        yield from problems_of_interval(part, "dial")


def _document(calibrator: Calibrator) -> bytes:
    return (json.dumps(as_json(calibrator), indent=1, allow_nan=False) + "\n").encode()


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
