"""Shrinkage: a map for each language, project and user, pulled toward the one above it as far as its own samples are few.

A hierarchical logistic model, top down. Within a level the parameters θ_g of the groups are N(θ of the parent, T), T diagonal and the same
for the whole level: empirical Bayes. T is found by restricted maximum likelihood (Laird & Ware 1982, by expectation-maximisation) on the
quadratic form that each group's log-likelihood has at its own mode (penalised quasi-likelihood, Breslow & Clayton 1993). A group without
samples has its parent's map; one with very many has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .folds import numbered
from .maps.linear import residuals, sigmoid
from .maps.platt import PlattMap, fit_platt
from .measures import Floats

Level = Literal["language", "project", "user"]
LEVELS: tuple[Level, ...] = ("language", "project", "user")

# Rounds in which the likelihoods are made quadratic anew: the modes move by less than 1e-4 of their spread after five.
_ROUNDS = 6
_EM_STEPS = 500
_NEWTON_STEPS = 4
# In units of a feature's spread: below, groups do not differ in any way that a percentage shows.
_LEAST_VARIANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Child:
    """The map of one group: log odds = intercept + Σ slope · feature; covariance of (intercept, slopes), what it borrowed included.

    path: the group's name at each level of the tree, from the top; n and positives: its own samples.
    """

    path: tuple[str, ...]
    n: int
    positives: int
    intercept: float
    slopes: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]

    def as_map(self) -> PlattMap:
        """The same as a map."""
        return PlattMap("platt", self.intercept, self.slopes, self.covariance, 0.0)


@dataclass(frozen=True, slots=True)
class Tree:
    """root: the map of a group that was never seen; children: of those that were, parents before their children.

    between (levels, k + 1): standard deviation of intercept and slopes between the groups of each level, slopes per spread of the feature.
    """

    root: PlattMap
    children: tuple[Child, ...]
    between: tuple[tuple[float, ...], ...]


def fit_tree(x: Floats, y: NDArray[np.bool_], paths: Sequence[tuple[str, ...]]) -> Tree:
    """Fit to features x (n, k) as they enter, labels y (n,), and each sample's path: its group at each level, from the top.

    A level all of whose parents have one child says nothing of how much its groups differ: its children have their parents' maps.
    """
    centre, spread = x.mean(axis=0), x.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(y)), (x - centre) / scale])
    whole = fit_platt((x - centre) / scale, y)
    # a covariance of 0 has no inverse; a flat direction (a constant feature) is left flat
    top = np.array([whole.intercept, *whole.slopes])
    parents, root = top[None, :], top
    parent_covariance, root_covariance = np.array(whole.covariance)[None], np.array(whole.covariance)
    parent_of_sample = np.zeros(len(y), dtype=np.intp)
    made: list[tuple[list[tuple[str, ...]], NDArray[np.intp], Floats, Floats]] = []
    between: list[tuple[float, ...]] = []
    for level in range(len(paths[0])):
        names = list(dict.fromkeys(path[: level + 1] for path in paths))
        group = numbered([path[: level + 1] for path in paths])
        parent = np.zeros(len(names), dtype=np.intp)
        parent[group] = parent_of_sample
        theta, covariance, variance, centre_theta, centre_covariance = _level(
            design, y, group, parent, parents, parent_covariance, free=level == 0
        )
        if level == 0:
            root, root_covariance = centre_theta, centre_covariance
        between.append(tuple(np.sqrt(variance).tolist()))
        made.append((names, group, theta, covariance))
        parents, parent_covariance, parent_of_sample = theta, covariance, group
    # theta in the features' own units = raw @ theta of the design
    raw = np.eye(design.shape[1])
    raw[0, 1:] = -centre / scale
    raw[1:, 1:] = np.diag(1 / scale)
    children = []
    for names, group, theta, covariance in made:
        size, positives = np.bincount(group), np.bincount(group, y).astype(np.intp)
        for i, path in enumerate(names):
            intercept, *slopes = (raw @ theta[i]).tolist()
            own = tuple(map(tuple, (raw @ covariance[i] @ raw.T).tolist()))
            children.append(Child(path, int(size[i]), int(positives[i]), intercept, tuple(slopes), own))
    intercept, *slopes = (raw @ root).tolist()
    return Tree(
        PlattMap("platt", intercept, tuple(slopes), tuple(map(tuple, (raw @ root_covariance @ raw.T).tolist())), 0.0),
        tuple(children),
        tuple(between),
    )


def log_odds_of(tree: Tree, x: Floats, paths: Sequence[tuple[str, ...]]) -> Floats:
    """Log odds (n,) of features x (n, k), each by the map of the deepest group on its path that the tree knows."""
    known = {child.path: child for child in tree.children}
    index = numbered(paths)
    made = np.empty(len(paths))
    for number, path in enumerate(dict.fromkeys(paths)):
        inside = index == number
        made[inside] = deepest(known, path, tree.root).log_odds(x[inside])
    return made


def deepest(known: dict[tuple[str, ...], Child], path: tuple[str, ...], root: PlattMap) -> PlattMap:
    """The map of the deepest known group on a path, the root's where none is known."""
    for depth in range(len(path), 0, -1):
        if path[:depth] in known:
            return known[path[:depth]].as_map()
    return root


def _level(
    design: Floats,
    y: NDArray[np.bool_],
    group: NDArray[np.intp],
    parent: NDArray[np.intp],
    parents: Floats,
    parent_covariance: Floats,
    *,
    free: bool,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """theta (G, d) of each group and its covariance (G, d, d), the variance (d,) between groups, the centre and its covariance.

    free: the centre is estimated with the groups (the top level); else it is each group's parent, whose own error is carried along.
    """
    count, d = len(parent), design.shape[1]
    siblings = np.bincount(parent)
    if siblings.max() < 2:
        return parents[parent], parent_covariance[parent], np.zeros(d), parents[0], parent_covariance[0]
    theta, variance = parents[parent].copy(), np.full(d, 0.1)
    centre, centre_covariance = parents[parent], parent_covariance[parent]
    for _ in range(_ROUNDS):
        information, pull = _quadratic(design, y, group, theta, centre, variance, count)
        for _ in range(_EM_STEPS):
            inverse = np.linalg.inv(information + np.diag(1 / variance))
            if free:
                centre, centre_covariance = _centre(information, pull, inverse)
            theta = np.einsum("gij,gj->gi", inverse, pull + centre / variance)
            # of θ_g - centre: θ_g is off by its own error and, the other way, by the part of the centre's that it does not take over
            own = inverse @ information
            error = np.einsum("gii->gi", inverse + own @ centre_covariance @ np.swapaxes(own, 1, 2))
            better = np.maximum(((theta - centre) ** 2 + error).mean(axis=0), _LEAST_VARIANCE)
            moved = np.abs(np.log(better / variance)).max()
            variance = better
            if moved < 1e-4:
                break
    inverse = np.linalg.inv(information + np.diag(1 / variance))
    share = inverse / variance
    theta = np.einsum("gij,gj->gi", inverse, pull + centre / variance)
    return theta, inverse + share @ centre_covariance @ np.swapaxes(share, 1, 2), variance, centre[0], centre_covariance[0]


def _centre(information: Floats, pull: Floats, inverse: NDArray[Any]) -> tuple[Floats, Floats]:
    """The groups' centre and its covariance, the same for each: (1, d) and (1, d, d).

    A group's own estimate I⁻¹ pull has the variance I⁻¹ + T around it: its weight is (I⁻¹ + T)⁻¹ = I - I (I + T⁻¹)⁻¹ I, where I may be
    singular.
    """
    weight = information - information @ inverse @ information
    weighed = pull - np.einsum("gij,gjk,gk->gi", information, inverse, pull)
    covariance = np.linalg.pinv(weight.sum(axis=0), rcond=1e-11, hermitian=True)
    return (covariance @ weighed.sum(axis=0))[None], covariance[None]


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
        theta = theta + step
    return information, np.einsum("gij,gj->gi", information, theta - step) + score
