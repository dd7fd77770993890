"""Where a figure's probabilities come from: of each sample a map that has not seen its project, as far as that can be known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, bounded, sigmoid
from ..calibrator import Calibrator
from ..fitting.folds import GROUP_OF, Grouping, folds_of, grouped, renumbered
from ..fitting.model_selection import fit_map, select_map
from ..held_out import Folds, by_own_map
from ..held_out import held_out as by_folds
from ..maps.registry import Map
from ..measures.registry import enter
from ..samples import Sample, samples_sha256

# Held-out probabilities (n,) of an event for samples, from these measures; nan where there is no number.
Source = Callable[[Sequence[Sample], str, tuple[str, ...]], Floats]
# It is held out only if its reader knows that the projects are others.
BY_OWN_MAP = "other samples than it was fitted on, by its own map: which projects that has seen its file does not say"
UNSEEN = "projects that its fit did not see, by the calibrator itself"
CROSS_VALIDATION = "cross-validation"


class NotHeldOut(ValueError):
    """No held-out probabilities can be had. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The source for figures of a calibrator on some samples, and on others of the same places.

    own: of its event from its measures. how: what that is, for people. cross_fitted: fitted to the samples themselves, for what the
    calibrator has no map for, and for comparisons of maps that are to have the same samples. everywhere: as own, and where a measure is
    outside of what the calibrator was fitted on, and an editor shows no number, that of the bound: for comparisons of texts that no model
    chose. validates: the samples are of projects that no fit has seen. Cross-validation decided that the calibrator is there, so it can't
    fail.
    """

    calibrator: Calibrator
    own: Callable[[Sequence[Sample]], Floats]
    how: str
    cross_fitted: CrossFitted
    everywhere: Callable[[Sequence[Sample]], Floats]
    validates: bool = False

    def __call__(self, judged: Sequence[Sample], event: str, features: tuple[str, ...]) -> Floats:
        """As `Source`."""
        if (event, features) == (self.calibrator.event, self.calibrator.features):
            return self.own(judged)
        return self.cross_fitted(judged, event, features)


def held_out(calibrator: Calibrator, samples: Sequence[Sample], folds: Folds | None = None) -> HeldOut:
    """How probabilities of a calibrator are held out on samples.

    With its folds each sample has the map that did not see its project. Without them the samples that it was fitted on (known by their
    hash) are cross-fitted again, and others have its own map: of which projects it was fitted its file does not say.

    Raises NotHeldOut where a sample can't be held out and that is known: without folds its procedure can't be repeated if it was adapted
    or has maps for levels, and a project with a map of its own was seen. Raises FoldsError for folds of another calibrator.
    """
    cross_fitted = CrossFitted(tuple(samples), calibrator.fitted_on.grouped_by, _wanted(calibrator))
    if folds is not None:
        known = {group.name for group in folds.groups}
        strangers = sum(sample.project not in known for sample in samples)
        fresh = bool(samples) and strangers == len(samples)
        how = UNSEEN if fresh else f"{CROSS_VALIDATION}: each project by the kept map that did not see it"
        if strangers and not fresh:
            how += f", {strangers:,} of {len(samples):,} samples by the map itself, which saw none of their projects"
        own, everywhere = (_each(by_folds(calibrator, folds, everywhere=beyond)) for beyond in (False, True))
        return HeldOut(calibrator, own, how, cross_fitted, everywhere, fresh)
    if not are_its_own(calibrator, samples):
        _check_unseen(calibrator, samples)
        beyond = partial(shown, calibrator, everywhere=True)
        return HeldOut(calibrator, partial(shown, calibrator), BY_OWN_MAP, cross_fitted, beyond, validates=True)
    if calibrator.moved_from or calibrator.levels:
        why = "was adapted from another one" if calibrator.moved_from else "has maps of its own for levels"
        raise NotHeldOut(
            f"calibrator {calibrator.id} was fitted on these very samples and {why}: validate it on other samples, or fit it again with "
            "--keep-folds"
        )
    how = f"{CROSS_VALIDATION}: its own samples, each by a map that was fitted without the fold of its {calibrator.fitted_on.grouped_by}"

    def again(judged: Sequence[Sample]) -> Floats:
        return cross_fitted(judged, calibrator.event, calibrator.features)

    return HeldOut(calibrator, again, how, cross_fitted, again)


def _each(probability: Callable[[Sample], float | None]) -> Callable[[Sequence[Sample]], Floats]:
    return lambda judged: np.array([probability(sample) for sample in judged], dtype=np.float64)


def _check_unseen(calibrator: Calibrator, samples: Sequence[Sample]) -> None:
    """Raise NotHeldOut for a project that has a map of its own: the only ones that a calibrator names."""
    if "project" not in calibrator.levels:
        return
    level = calibrator.levels.index("project")
    seen = {child.path[level] for child in calibrator.children if len(child.path) > level}
    if both := sorted(seen & {sample.project for sample in samples}):
        raise NotHeldOut(
            f"calibrator {calibrator.id} has a map of its own for the project {both[0]}, which these samples are of, and no folds: fit it "
            "again with --keep-folds, or validate it on other projects"
        )


def are_its_own(calibrator: Calibrator, samples: Sequence[Sample]) -> bool:
    """Whether those with a label are the samples that it was fitted on, by their hash."""
    known = [sample for sample in samples if sample.labels.get(calibrator.event) is not None]
    return samples_sha256(known) == calibrator.fitted_on.samples_sha256


def shown(calibrator: Calibrator, samples: Sequence[Sample], *, everywhere: bool = False) -> Floats:
    """What the calibrator itself says (n,), whatever its status; nan where an editor shows no number. everywhere: as `by_own_map`."""
    return _each(partial(by_own_map, calibrator, everywhere=everywhere))(samples)


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """Of each group the map that was fitted without the group's fold: the procedure, selection included, of `fit`'s evidence.

    samples: what maps are fitted to. by: what is held out together. wanted: the kind of map, or "auto".
    """

    samples: tuple[Sample, ...]
    by: Grouping
    wanted: str = "auto"
    _fitted: dict[tuple[str, tuple[str, ...]], _Folds] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, judged: Sequence[Sample], event: str, features: tuple[str, ...]) -> Floats:
        """As `Source`. A group that no map was fitted to has the map of all others."""
        if (event, features) not in self._fitted:
            self._fitted[event, features] = self._fit(event, features)
        folds = self._fitted[event, features]
        x, inside = _entered(_raw(judged, features), features)
        names = list(map(GROUP_OF[self.by], judged))
        fold = np.fromiter((folds.of.get(name, len(folds.maps) - 1) for name in names), np.intp, len(names))
        p = np.full(len(judged), np.nan)
        for number, (fitted, used, n) in enumerate(folds.maps):
            rows = inside & (fold == number)
            p[rows] = bounded(sigmoid(fitted.log_odds(x[rows, :used])), n)
        return p

    def _fit(self, event: str, features: tuple[str, ...]) -> _Folds:
        known = [sample for sample in self.samples if sample.labels.get(event) is not None]
        x, inside = _entered(_raw(known, features), features)
        known, x = [known[row] for row in np.flatnonzero(inside)], x[inside]
        if len(known) < 2:
            raise NotHeldOut(f"only {len(known)} samples have a label for {event} and the measures {', '.join(features)}")
        y = np.array([sample.labels[event] for sample in known], dtype=np.bool_)
        _, groups, _ = grouped(known, self.by, least=1)
        if groups.max() == 0:
            raise NotHeldOut(f"the samples are of one {self.by}, so none can be held out")
        fold = folds_of(groups, seed=0)
        names = list(map(GROUP_OF[self.by], known))
        maps = [
            _fitted_to(x[rows], y[rows], groups[rows], features, self.wanted)
            for rows in (*(fold != number for number in range(int(fold.max()) + 1)), np.full(len(y), True))
        ]
        return _Folds(dict(zip(names, fold.tolist(), strict=True)), maps)


@dataclass(frozen=True, slots=True)
class _Folds:
    """of: the fold of each group. maps: of each fold the map, how many measures it takes and its samples; last that of all samples."""

    of: dict[object, int]
    maps: list[tuple[Map, int, int]]


def _fitted_to(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], features: tuple[str, ...], wanted: str) -> tuple[Map, int, int]:
    groups = renumbered(groups)
    selection = select_map(x, y, groups, features, wanted, 0)
    return fit_map(selection, x, y, features, groups), selection.features, len(y)


def _wanted(calibrator: Calibrator) -> str:
    """The kind of map that its fit was asked for, as far as the candidates tell."""
    return "auto" if len({candidate.kind for candidate in calibrator.tried}) > 1 else calibrator.map.kind


def _raw(samples: Sequence[Sample], features: tuple[str, ...]) -> Floats:
    rows = np.array([[sample.measures.get(name, np.nan) for name in features] for sample in samples], dtype=np.float64)
    return rows.reshape(len(samples), len(features))


def _entered(raw: Floats, features: tuple[str, ...]) -> tuple[Floats, NDArray[np.bool_]]:
    """Measures (n, k) as they enter a map, nan where one is missing, and which rows have them all (n,)."""
    inside = np.asarray(np.isfinite(raw).all(axis=1))
    x = np.full(raw.shape, np.nan)
    x[inside] = np.column_stack([enter(name, column) for name, column in zip(features, raw[inside].T, strict=True)])
    return x, inside
