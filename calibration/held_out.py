"""Cross-fitted maps: of each project that a calibrator was fitted to, the map that did not see it. The format is in docs/formats.md.

With them more samples of these very projects, such as rewritten code or further draws, are judged as held out as the calibrator's evidence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ..inference.regular_file import read_regular_file
from .arrays import Floats, bounded, sigmoid
from .atomic_write import write_atomically
from .calibrator import MAP_OF_KIND, Calibrator, CalibratorError, load, log_odds_range
from .calibrator import MAX_FILE_BYTES as MAX_CALIBRATOR_BYTES
from .field_types import Count, Fingerprint, Positive
from .fitting.folds import FOLDS
from .fitting.shrinkage import LEVELS, Child, Level, deepest_log_odds
from .maps.checks import check_linear
from .maps.registry import Map, problems_of
from .measures.registry import MEASURES, enter
from .samples import Sample
from .strict_json import DECODER, build, reading, without_schema

SCHEMA = "assay/folds/1"
# Beside calibrators. Of a folder with calibrators only the files themselves are read as such.
FOLDER = "folds"
MAX_FILE_BYTES = FOLDS * MAX_CALIBRATOR_BYTES


class FoldsError(ValueError):
    """Folds can't be read, or are another calibrator's. The message says file, field and reason."""


@dataclass(frozen=True, slots=True)
class FoldMap:
    """The map that was fitted without the projects of one fold.

    n: the number of samples that it was fitted on. features: how many of the measures it takes, from the first on. children: the maps of
    languages, projects or users that have their own.
    """

    n: Positive
    features: Positive
    map: Map
    children: tuple[Child, ...] = ()

    def probabilities(self, x: Floats, paths: Sequence[tuple[str, ...]]) -> Floats:
        """Features (n, k) as they enter the map, and the path of each sample, to probabilities (n,). Each depends on its own row alone."""
        return bounded(sigmoid(deepest_log_odds(self.map, self.children, x, paths)), self.n)


@dataclass(frozen=True, slots=True)
class Group:
    """A project, by name, and the number of its fold from 0."""

    name: str
    fold: Count


@dataclass(frozen=True, slots=True)
class Folds:
    """The cross-fitted maps of a calibrator.

    calibrator: its id.
    measures: what the maps may take, in order; ranges: smallest and largest raw value of each among all samples.
    levels: of the children of the maps.
    groups: the projects. folds: the map that was fitted without those of each fold.
    """

    calibrator: Fingerprint
    measures: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    levels: tuple[Level, ...]
    groups: tuple[Group, ...]
    folds: tuple[FoldMap, ...]

    def __post_init__(self) -> None:
        """Raises ValueError, "field: reason", if the parts do not fit together."""
        k, numbers = len(self.measures), range(len(self.folds))
        for field, is_wrong, reason in (
            ("measures", k == 0 or len(set(self.measures)) < k, "needs at least one, each once"),
            ("measures", bool(set(self.measures) - MEASURES.keys()), f"unknown measure in {', '.join(self.measures)}"),
            ("ranges", len(self.ranges) != k, f"{len(self.ranges)} for {k} measures"),
            ("ranges", any(low > high for low, high in self.ranges), "low above high"),
            ("levels", list(self.levels) != sorted(set(self.levels), key=LEVELS.index), f"not of {', '.join(LEVELS)} in this order, once"),
            ("groups", len({group.name for group in self.groups}) < len(self.groups), "a name is there twice"),
            ("groups", {group.fold for group in self.groups} != set(numbers), f"not each of {len(numbers)} folds has one"),
        ):
            if is_wrong:
                raise ValueError(f"{field}: {reason}")
        for name, limits in zip(self.measures, self.ranges, strict=True):
            try:
                enter(name, limits)
            except ValueError as error:
                raise ValueError(f"ranges: {error}") from None
        for number, fold in enumerate(self.folds):
            if reason := self._why_unusable(fold):
                raise ValueError(f"folds[{number}].{reason}")

    def _why_unusable(self, fold: FoldMap) -> str:
        if fold.features > len(self.measures):
            return f"features: not 1 to {len(self.measures)}"
        if any(not 0 < len(child.path) <= len(self.levels) for child in fold.children):
            return "children: a path does not fit the levels"
        wrong = [*problems_of(fold.map, fold.features)]
        for child in fold.children:
            wrong += check_linear(child.intercept, child.slopes, child.covariance, fold.features, f"children {'/'.join(child.path)}")
        return next((f"{field}: {reason}" for field, reason in wrong), "")


def held_out(calibrator: Calibrator, folds: Folds, *, everywhere: bool = False) -> Callable[[Sample], float | None]:
    """P(event) of a sample by the map that did not see its project; by the calibrator's own where that saw none of it.

    For a sample of the fit it is what the calibrator's evidence was computed from. The calibrator's status is not looked at. It is None
    where an editor shows none: a measure is missing, or one without a direction is outside of what the samples of the fit had. everywhere:
    outside of that it is the number at the bound.

    Raises FoldsError for folds of another calibrator.
    """
    if folds.calibrator != calibrator.id:
        raise FoldsError(
            f"these folds are of calibrator {folds.calibrator}, not of {calibrator.id}: fit it again with "
            "`assay calibrate fit --keep-folds`, which writes both"
        )
    without = {group.name: folds.folds[group.fold] for group in folds.groups}

    def probability(sample: Sample) -> float | None:
        fold = without.get(sample.project)
        if fold is None:
            return by_own_map(calibrator, sample, everywhere=everywhere)
        entered = _entered(sample, folds.measures[: fold.features], folds.ranges, everywhere=everywhere)
        if entered is None:
            return None
        x, is_worse = entered
        return float((bounded(np.zeros(1), fold.n) if is_worse else fold.probabilities(x, [path_of(sample, folds.levels)]))[0])

    return probability


def by_own_map(calibrator: Calibrator, sample: Sample, *, everywhere: bool = False) -> float | None:
    """What an editor shows of a sample, whatever the calibrator's status. everywhere: as `held_out`."""
    entered = _entered(sample, calibrator.features, calibrator.ranges, everywhere=everywhere)
    if entered is None:
        return None
    x, is_worse = entered
    groups: dict[Level, str] = {level: name for level in LEVELS if (name := getattr(sample, level))}
    log_odds, _, _ = log_odds_range(calibrator, tuple(x[0].tolist()), groups)
    p = 0.0 if is_worse else float(sigmoid(np.array(log_odds)))
    return min(max(p, calibrator.bound), 1 - calibrator.bound)


def folds_path(calibrator: Calibrator, file: Path) -> Path:
    """Where the folds of a calibrator in a file are."""
    return file.parent / FOLDER / f"{calibrator.id}.json"


def save_folds(folds: Folds, path: Path, *, follow: bool = True) -> None:
    """Write folds, atomically. follow: as `write_atomically`."""
    with write_atomically(path, follow=follow) as out:
        out.write((json.dumps({"schema": SCHEMA, **asdict(folds)}, indent=1, allow_nan=False) + "\n").encode())


def load_folds(path: Path) -> Folds:
    """The folds in a file. Raises FoldsError, with file, field and reason, for what `save_folds` would not have written."""
    with reading(path, FoldsError, "a file of folds"):
        document = DECODER.decode(read_regular_file(path, MAX_FILE_BYTES).decode("utf-8-sig"))
        fields = without_schema(document, SCHEMA, "a file of folds", "fit the calibrator again with `assay calibrate fit --keep-folds`")
        return build(Folds, fields, MAP_OF_KIND)


def remove_folds(file: Path) -> None:
    """Remove the folds of the calibrator in a file, before that is replaced or removed. Does nothing where it has none."""
    try:
        folds_path(load(file), file).unlink(missing_ok=True)
    except CalibratorError:
        return


def path_of(sample: Sample, levels: Sequence[Level]) -> tuple[str, ...]:
    """A sample's group at each level."""
    return tuple(getattr(sample, level) for level in levels)


def _entered(
    sample: Sample, measures: Sequence[str], ranges: Sequence[tuple[float, float]], *, everywhere: bool
) -> tuple[Floats, bool] | None:
    """The features (1, k) of a sample as they enter a map, and whether one speaks more against the event than any that the fit had.

    As in `confidence.confidence`: None where a measure is missing, or unless everywhere is outside of its range without a direction.
    """
    values, is_worse = list[float](), False
    for name, (low, high) in zip(measures, ranges, strict=False):
        value, direction = sample.measures.get(name, np.nan), MEASURES[name].direction
        if not low <= value <= high:
            if np.isnan(value) or (direction == 0 and not everywhere):
                return None
            is_worse |= direction != 0 and (value < low) == (direction > 0)
            value = min(max(value, low), high)
        values.append(value)
    return np.column_stack([enter(name, [value]) for name, value in zip(measures, values, strict=True)]), is_worse
