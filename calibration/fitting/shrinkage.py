"""Shrinkage: a map for each language, project and user, drawn toward the one above it, the more the fewer samples it has.

It is a hierarchical logistic model, fitted by empirical Bayes. The parameters θ_g of the groups of a level are N(θ of the parent, T), with
T diagonal and the same for the whole level. A group without samples has its parent's map, and one with very many has its own.

The T of all levels are estimated together by restricted maximum likelihood, on the quadratic form of each deepest group's log-likelihood at
its mode. The steps are Schall's, because expectation-maximisation needs thousands of steps where groups do not differ.

References: Breslow & Clayton (1993), penalised quasi-likelihood. Schall (1991), Biometrika 78.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, sigmoid
from ..maps.linear import residuals
from ..maps.platt import PlattMap, fit_platt
from ..maps.registry import Map
from .folds import numbered

Level = Literal["language", "project", "user"]
LEVELS: tuple[Level, ...] = ("language", "project", "user")

# Rounds of making the likelihoods quadratic anew. After five the modes move by less than 1e-4 of their spread.
_ROUNDS = 6
_VARIANCE_STEPS = 50
_NEWTON_STEPS = 6
_MAX_STEP = 2.0
# In units of a feature's spread. Below it, groups do not differ in any way that a percentage shows.
_MIN_VARIANCE = 1e-6
# A standard deviation of 10 log odds: groups can't differ by more.
_MAX_VARIANCE = 100.0


@dataclass(frozen=True, slots=True)
class Child:
    """The map of one group: log odds = intercept + Σ slope · feature.

    path: the group's name at each level of the tree, from the top.
    n, positives: its own samples.
    covariance: of (intercept, slopes), what it borrowed from its parent included.
    """

    path: tuple[str, ...]
    n: int
    positives: int
    intercept: float
    slopes: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    def as_map(self) -> PlattMap:
        """The group's map."""
        return PlattMap("platt", self.intercept, self.slopes, self.covariance, 0.0)


@dataclass(frozen=True, slots=True)
class Tree:
    """The maps of a hierarchy of groups.

    root: the map of a group that was not seen.
    children: the maps of those that were, parents before their children.
    between (levels, k + 1): standard deviation of intercept and slopes between the groups of each level, slopes per spread of the feature.
    """

    root: PlattMap
    children: tuple[Child, ...]
    between: tuple[tuple[float, ...], ...]


def fit_tree(x: Floats, y: NDArray[np.bool_], paths: Sequence[tuple[str, ...]], *, ridge: float = 0.0) -> Tree:
    """Fit the maps of all groups.

    Parameters:
        x (n, k): features as they enter the map. y (n,): labels.
        paths: of each sample, its group at each level from the top.
        ridge: on the root's slopes after the first, as in `fit_platt`.

    If every parent on a level has one child, how much the groups of that level differ is unknown. The children then have their parents'
    maps.
    """
    centre, spread = x.mean(axis=0), x.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(y)), (x - centre) / scale])
    d = design.shape[1]
    # Only levels that part the groups above them are fitted. The groups of another level are those of the last fitted one.
    leaf = np.zeros(len(y), dtype=np.intp)
    parents: list[NDArray[np.intp]] = []
    shape: list[tuple[list[tuple[str, ...]], bool, int, NDArray[np.intp]]] = []
    for depth in range(1, len(paths[0]) + 1):
        names = [path[:depth] for path in paths]
        group = numbered(names)
        parent = np.zeros(int(group.max()) + 1, dtype=np.intp)
        parent[group] = leaf
        if parts := bool(np.bincount(parent).max() > 1):
            parents.append(parent)
            leaf = group
        shape.append((names, parts, len(parents), leaf))
    whole = fit_platt((x - centre) / scale, y, ridge=ridge)
    top = _Level(np.array([[whole.intercept, *whole.slopes]]), np.array([whole.covariance]), np.zeros(d))
    fitted = _fitted(design, y, leaf, parents, top, np.concatenate([np.zeros(min(2, d)), np.full(max(0, d - 2), ridge)]))
    # theta in the features' own units = raw @ theta of the design
    raw = np.eye(d)
    raw[0, 1:] = -centre / scale
    raw[1:, 1:] = np.diag(1 / scale)
    children, between = [], []
    for names, parts, number, leaf in shape:
        group = numbered(names)
        first = np.unique(group, return_index=True)[1].tolist()
        for i, n, positives in zip(first, np.bincount(group).tolist(), np.bincount(group, y).tolist(), strict=True):
            children.append(Child(names[i], n, int(positives), *_in_units(raw, fitted[number], int(leaf[i]))))
        between.append(tuple(np.sqrt(fitted[number].variance).tolist()) if parts else (0.0,) * d)
    return Tree(PlattMap("platt", *_in_units(raw, fitted[0], 0), ridge), tuple(children), tuple(between))


def log_odds_of(tree: Tree, x: Floats, paths: Sequence[tuple[str, ...]]) -> Floats:
    """Log odds (n,) of features x (n, k), each by the map of the deepest known group on its path."""
    return deepest_log_odds(tree.root, tree.children, x, paths)


def deepest_log_odds(root: Map, children: Sequence[Child], x: Floats, paths: Sequence[tuple[str, ...]]) -> Floats:
    """`log_odds_of` the maps of a tree: the root's and the children's."""
    known = {child.path: child for child in children}
    index = numbered(paths)
    made = np.empty(len(paths))
    for number, path in enumerate(dict.fromkeys(paths)):
        inside = index == number
        made[inside] = deepest(known, path, root).log_odds(x[inside])
    return made


def deepest(known: dict[tuple[str, ...], Child], path: tuple[str, ...], root: Map) -> Map:
    """The map of the deepest known group on a path, or the root's."""
    for depth in range(len(path), 0, -1):
        if path[:depth] in known:
            return known[path[:depth]].as_map()
    return root


@dataclass(frozen=True, slots=True)
class _Level:
    """theta (G, d) of each group of a level, its covariance (G, d, d), and the variance (d,) between groups that have one parent."""

    theta: Floats
    covariance: Floats
    variance: Floats


def _in_units(raw: Floats, level: _Level, i: int) -> tuple[float, tuple[float, ...], tuple[tuple[float, ...], ...]]:
    """Intercept, slopes and covariance of a level's group i in the features' own units."""
    intercept, *slopes = (raw @ level.theta[i]).tolist()
    covariance = raw @ level.covariance[i] @ raw.T
    return intercept, tuple(slopes), tuple(map(tuple, ((covariance + covariance.T) / 2).tolist()))


def _fitted(
    design: Floats, y: NDArray[np.bool_], leaf: NDArray[np.intp], parents: Sequence[NDArray[np.intp]], top: _Level, penalty: Floats
) -> list[_Level]:
    """The root and each level below it, of samples in the groups `leaf` (n,) of the deepest; parents: of each level's groups, (G,)."""
    if not parents:
        return [top]
    count, d = len(parents[-1]), design.shape[1]
    theta = centre = np.repeat(top.theta, count, axis=0)
    variances = [np.full(d, 0.1) for _ in parents]
    for _ in range(_ROUNDS):
        information, pull = _quadratic(design, y, leaf, theta, centre, variances[-1], count)
        for _ in range(_VARIANCE_STEPS):
            levels = _posterior(information, pull, parents, variances, penalty)
            moved = max(np.abs(np.log(level.variance / old)).max() for level, old in zip(levels[1:], variances, strict=True))
            variances = [level.variance for level in levels[1:]]
            if moved < 1e-4:
                break
        theta, centre = levels[-1].theta, levels[-2].theta[parents[-1]]
    return levels


def _posterior(
    information: Floats, pull: Floats, parents: Sequence[NDArray[np.intp]], variances: Sequence[Floats], penalty: Floats
) -> list[_Level]:
    """The root and each level, given the variances. Exact for the quadratic forms of the deepest level's groups.

    information (G, d, d) and pull (G, d) are those of the deepest level. Up the tree: a group's own estimate I⁻¹ pull has the variance I⁻¹
    + T around its parent, so it brings the parent the information (I⁻¹ + T)⁻¹ = I - I (I + T⁻¹)⁻¹ I, where I may be singular. Down the
    tree: a group is its parent, moved by what its own samples say. The variances in the result are those of the next step.
    """
    below = []
    for parent, variance in zip(reversed(parents), reversed(variances), strict=True):
        inverse = np.linalg.inv(information + np.diag(1 / variance))
        below.append((parent, variance, information, pull, inverse))
        own = information @ inverse
        information = _summed(information - own @ information, parent)
        pull = _summed(pull - np.einsum("gij,gj->gi", own, pull), parent)
    found: NDArray[Any] = np.linalg.pinv(information + np.diag(penalty), rcond=1e-11, hermitian=True)
    levels = [_Level(np.einsum("gij,gj->gi", found, pull), found, np.zeros(len(penalty)))]
    for parent, variance, information, pull, inverse in reversed(below):
        centre, of_centre = levels[-1].theta[parent], levels[-1].covariance[parent]
        move = np.einsum("gij,gj->gi", inverse, pull - np.einsum("gij,gj->gi", information, centre))
        own = inverse @ information
        rest = np.eye(len(penalty)) - own
        # The error of θ_g - centre: that of θ_g itself and, with the other sign, the part of the centre's that it does not take over.
        error = np.einsum("gii->gi", inverse + own @ of_centre @ np.swapaxes(own, 1, 2))
        # Where nothing is known of a parameter, as for a constant feature, both are 0.
        known = (variance - error).sum(axis=0)
        step = np.divide((move**2).sum(axis=0), known, out=np.ones_like(known), where=known > 1e-9 * variance * len(parent))
        variance = np.clip(variance * step, _MIN_VARIANCE, _MAX_VARIANCE)
        levels.append(_Level(centre + move, inverse + rest @ of_centre @ np.swapaxes(rest, 1, 2), variance))
    return levels


def _summed(values: Floats, parent: NDArray[np.intp]) -> Floats:
    """Sums of values (G, …) over the groups of each parent."""
    sums = np.zeros((int(parent.max()) + 1, *values.shape[1:]))
    np.add.at(sums, parent, values)
    return sums


def _quadratic(
    design: Floats, y: NDArray[np.bool_], group: NDArray[np.intp], theta: Floats, centre: Floats, variance: Floats, count: int
) -> tuple[Floats, Floats]:
    """Each group's log-likelihood near its mode as pull · θ - ½ θᵀ information θ: information (G, d, d), pull (G, d)."""
    d = design.shape[1]
    for _ in range(_NEWTON_STEPS):
        z = np.einsum("ij,ij->i", design, theta[group])
        p = sigmoid(z)
        weight = p * (1 - p)
        score = np.column_stack([np.bincount(group, residuals(z, y) * column, count) for column in design.T])
        information = np.empty((count, d, d))
        for i in range(d):
            for j in range(i + 1):
                information[:, i, j] = information[:, j, i] = np.bincount(group, weight * design[:, i] * design[:, j], count)
        step = np.linalg.solve(information + np.diag(1 / variance), (score + (centre - theta) / variance)[..., None])[..., 0]
        # A group of one class is far from its mode: a whole step would leave it where the gradient vanishes.
        step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / _MAX_STEP)
        theta = theta + step
    return information, np.einsum("gij,gj->gi", information, theta - step) + score
