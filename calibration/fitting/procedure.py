"""The procedure that a fit repeats in each fold: select a map, fit it with the maps of its levels, or move the map of a parent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..calibrator import Calibrator
from ..guards import are_too_few
from ..held_out import FoldMap, path_of
from ..maps.platt import PlattMap, fit_platt
from ..maps.registry import Map
from ..measures.registry import MEASURES
from ..samples import Sample
from .adaptation import adapt, is_adaptable
from .folds import folds_of, grouped, renumbered
from .model_selection import Selection, fit_map, log_losses, mean_and_standard_error, select_map
from .shrinkage import Level, Tree, fit_tree, log_odds_of

# With fewer samples in each group, how much groups differ can hardly be told from chance.
MIN_PER_GROUP = 3


def _those(paths: list[tuple[str, ...]], which: NDArray[np.bool_]) -> list[tuple[str, ...]]:
    return [paths[i] for i in np.flatnonzero(which)]


@dataclass(frozen=True, slots=True)
class Data:
    """What a map is fitted to: features x (n, k) with their names, labels y (n,) and groups (n,).

    projects (n,): their numbers, where a parent's map is adapted.
    paths, files: of each sample, where levels are asked for; top: the first of these. parent: the calibrator whose map is adapted.
    """

    x: Floats
    y: NDArray[np.bool_]
    groups: NDArray[np.intp]
    names: tuple[str, ...]
    wanted: str
    seed: int
    paths: list[tuple[str, ...]]
    files: NDArray[np.intp]
    parent: Calibrator | None = None
    top: Level | None = None
    projects: NDArray[np.intp] | None = None

    @property
    def parent_n(self) -> int:
        """The number of samples that the parent was fitted on."""
        return self.parent.fitted_on.n if self.parent else 0

    def only(self, rows: NDArray[np.bool_]) -> Data:
        """The same for some of the samples."""
        paths, files = (_those(self.paths, rows), renumbered(self.files[rows])) if self.paths else ([], self.files)
        groups = renumbered(self.groups[rows])
        projects = None if self.projects is None else renumbered(self.projects[rows])
        return replace(self, x=self.x[rows], y=self.y[rows], groups=groups, paths=paths, files=files, projects=projects)


@dataclass(frozen=True, slots=True)
class Fitted:
    """The map and how it was selected. tree: the maps of the levels, if they are used; about_levels: what they bring, for people."""

    selection: Selection
    map: Map
    tree: Tree | None
    about_levels: str


def fit_whole(data: Data) -> Fitted:
    """The whole procedure: select a map, fit it and its levels; or adapt the parent's map."""
    if data.parent:
        parent = data.parent.map
        assert is_adaptable(parent), "`check_adaptable` refuses any other"
        around = data.parent.models or data.parent.projects
        assert around is not None, "`check_adaptable` refuses one without"
        selection = Selection(parent.kind, len(data.names), parent.ridge if isinstance(parent, PlattMap) else 0.0, ())
        # A model's map is for any project, so what the lines of one have in common is not the map's.
        between_sd = data.parent.between_group_sd if data.parent.models else 0.0
        return Fitted(selection, adapt(parent, around, data.x, data.y, data.projects, between_sd), None, "")
    selection = select_map(data.x, data.y, data.groups, data.names, data.wanted, data.seed)
    tree, about_levels = _tree(data, selection) if data.paths else (None, "")
    fitted = tree.root if tree else fit_map(selection, data.x, data.y, data.names, data.groups)
    return Fitted(selection, fitted, tree, about_levels)


def cross_fitted(data: Data, fold: NDArray[np.intp]) -> tuple[Floats, tuple[FoldMap, ...]]:
    """Probabilities (n,), each from the procedure without the sample's fold (n,), and the map of each fold."""
    p, maps = np.empty(len(data.y)), []
    for f in range(int(fold.max()) + 1):
        out = fold == f
        fitted = fit_whole(data.only(~out))
        features, children = fitted.selection.features, fitted.tree.children if fitted.tree else ()
        made = FoldMap(int((~out).sum()) + data.parent_n, features, fitted.map, children)
        paths = _those(data.paths, out) if data.paths else [()] * int(out.sum())
        p[out] = made.probabilities(data.x[out, :features], paths)
        maps.append(made)
    return p, tuple(maps)


def _tree(data: Data, selection: Selection) -> tuple[Tree | None, str]:
    """The maps of the levels, and by how much they beat one map for all on held-out files.

    None where that is not more than one standard error. A group whose own map points the wrong way has its parent's.
    """
    x, y, paths = data.x[:, : selection.features], data.y, data.paths
    if are_too_few(y):
        return None, "there are too few samples"
    if len(set(paths)) * MIN_PER_GROUP > len(y):
        return None, f"there are {len(set(paths))} groups for {len(y)} samples, fewer than {MIN_PER_GROUP} in each"
    fold = folds_of(data.files, data.seed)
    gains = np.empty(len(y))
    for f in range(int(fold.max()) + 1):
        out = fold == f
        rest = ~out
        single = fit_platt(x[rest], y[rest], ridge=selection.ridge).log_odds(x[out])
        shrunk = log_odds_of(fit_tree(x[rest], y[rest], _those(paths, rest), ridge=selection.ridge), x[out], _those(paths, out))
        n = int(rest.sum())
        gains[out] = log_losses(single, y[out], n) - log_losses(shrunk, y[out], n)
    gain, error = mean_and_standard_error(gains, data.files)
    about = (
        f"log loss {'lower' if gain >= 0 else 'higher'} by {abs(gain):.2g} ± {error:.2g} nats than with one map for all, on files held out"
    )
    if gain <= error:
        return None, about
    tree = fit_tree(x, y, paths, ridge=selection.ridge)
    # With several measures the first may rightly correct the others.
    direction = MEASURES[data.names[0]].direction if selection.features == 1 else 0
    right = tuple(child for child in tree.children if child.slopes[0] * direction >= 0)
    wrong = len(tree.children) - len(right)
    return replace(tree, children=right), about + (
        f"; {wrong} groups whose own map points the wrong way have their parents'" if wrong else ""
    )


def paths_and_files(samples: Sequence[Sample], levels: Sequence[Level]) -> tuple[list[tuple[str, ...]], NDArray[np.intp]]:
    """Of each sample its group at each level, and the number of its file; both empty without levels."""
    if not levels:
        return [], np.zeros(0, dtype=np.intp)
    return [path_of(sample, levels) for sample in samples], grouped(samples, "file")[1]
