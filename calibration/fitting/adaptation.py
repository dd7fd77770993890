"""Adaptation: a map that was fitted to other projects, or other models, is moved toward the samples of one.

It moves as far as the samples say, and no farther than projects or models are known to lie from the map. The log odds of project g are
η_g = η + α_g + β_g (η - c) / s. η are those of the map of other projects, c and s their mean and standard deviation, α_g ~ N(0, σ_α²) and
β_g ~ N(0, σ_β²). So before its samples are seen, the map of a project is N(θ, V + J diag(σ_α², σ_β²) Jᵀ), with V the covariance of θ and J
how θ changes with (α, β). The samples move it to the mode of the posterior.

σ_α and σ_β are estimated where the map was fitted, from its held-out log odds by project (`shrinkage.fit_tree`). The calibrator's file
keeps them, so adaptation needs none of those samples.

References: MacKay (1992), Bayesian interpolation, with the quadratic form of the logistic likelihood at the mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeGuard

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ..arrays import Floats, sigmoid
from ..field_types import MAX_PARAMETER, Parameter, Spread
from ..maps.beta import BetaMap, logs_of
from ..maps.platt import PlattMap
from ..maps.registry import Map
from .shrinkage import fit_tree

_MAX_STEPS = 50
_MAX_HALVINGS = 40
# In squared log odds. Below it, a direction of the map can't be told from one that is known exactly.
_MIN_VARIANCE = 1e-12
# Prior knowledge of how models vary: so many more models, so far from the map.
_SUPPOSED, _SUPPOSED_SD = 2, 0.5
# How projects differ is limited by their number, so more samples than this tell no more.
MAX_SAMPLES = 100_000


@dataclass(frozen=True, slots=True)
class Variation:
    """How the maps of n projects or models lie around the map of all, whose log odds are η: one's are η + α + β (η - centre) / spread.

    centre, spread: mean and standard deviation of the held-out log odds.
    offset_sd, slope_sd: standard deviations of α and β.
    """

    n: Annotated[int, Meta(ge=2)]
    centre: Parameter
    spread: Annotated[float, Meta(ge=1e-6, le=MAX_PARAMETER)]
    offset_sd: Spread
    slope_sd: Spread

    def of_few(self) -> Variation:
        """The same, where n groups are too few to tell that they are alike: as if `_SUPPOSED` more lay `_SUPPOSED_SD` from the map.

        That is the mode of each variance under a scaled inverse χ² prior. Half a log odds is 12 points in a hundred at the middle, and of
        five models, which were read on one another, some lay so far (docs/calibration.md).
        """
        offset, slope = (
            math.sqrt((self.n * sd**2 + _SUPPOSED * _SUPPOSED_SD**2) / (self.n + _SUPPOSED)) for sd in (self.offset_sd, self.slope_sd)
        )
        return replace(self, offset_sd=offset, slope_sd=slope)


def variations(log_odds: Floats, y: NDArray[np.bool_], paths: Sequence[tuple[str, ...]]) -> tuple[Variation, ...]:
    """Estimate how the groups of each level vary around those above them.

    log_odds (n,): held out. y (n,): labels. paths: of each sample, its group at each level from the top, such as (model, project).
    """
    tree = fit_tree(log_odds[:, None], y, paths)
    centre, spread = float(log_odds.mean()), float(log_odds.std()) or 1.0
    counts = [len({path[: depth + 1] for path in paths}) for depth in range(len(tree.between))]
    return tuple(Variation(n, centre, spread, offset, slope) for n, (offset, slope) in zip(counts, tree.between, strict=True))


def is_adaptable(map_: Map) -> TypeGuard[PlattMap | BetaMap]:
    """Whether a map is one that `adapt` takes: its log odds are linear in its parameters."""
    return isinstance(map_, (PlattMap, BetaMap))


def adapt(
    parent: PlattMap | BetaMap,
    around: Variation,
    x: Floats,
    y: NDArray[np.bool_],
    clusters: NDArray[np.intp] | None = None,
    between_sd: float = 0.0,
) -> PlattMap | BetaMap:
    """The parent's map, adapted to samples with features x (n, k), as they enter the map, and labels y (n,).

    around: how the group that the samples are of may differ. clusters (n,), between_sd: samples of one cluster, such as a project, have an
    offset in common, with this standard deviation in log odds, which is theirs and not the map's.

    Without samples it is the parent's map. The covariance includes how far the group may lie from the parent where its samples do not say.
    A beta map goes toward the mode only as far as it never falls; the loss is convex, so there it is better than the parent.
    """
    theta = np.array([parent.intercept, *parent.slopes] if isinstance(parent, PlattMap) else [parent.c, parent.a, parent.b])
    along = theta.copy()
    along[0] -= around.centre
    jacobian = np.column_stack([np.eye(len(theta))[0], along / around.spread])
    prior = np.array(parent.covariance) + jacobian @ np.diag([around.offset_sd**2, around.slope_sd**2]) @ jacobian.T
    # θ = parent + root · u with u ~ N(0, 1). So nothing is inverted that may be singular, as for a measure that never varied.
    values, vectors = np.linalg.eigh((prior + prior.T) / 2)
    root = vectors * np.sqrt(np.where(values > _MIN_VARIANCE, values, 0.0))
    design = np.column_stack([np.ones(len(y)), x if isinstance(parent, PlattMap) else logs_of(x)])
    k, columns = len(theta), design @ root
    if clusters is not None and between_sd > 0:
        columns = np.column_stack([columns, between_sd * np.eye(int(clusters.max(initial=-1)) + 1)[clusters]])
    u, covariance = _mode(columns, design @ theta, y)
    moved, spread = root @ u[:k], root @ covariance[:k, :k] @ root.T
    kept = tuple(map(tuple, ((spread + spread.T) / 2).tolist()))
    if isinstance(parent, PlattMap):
        intercept, *slopes = (theta + moved).tolist()
        return PlattMap("platt", intercept, tuple(slopes), kept, parent.ridge)
    falling = moved[1:] < -theta[1:]
    share = float((theta[1:][falling] / -moved[1:][falling]).min()) if falling.any() else 1.0
    c, a, b = (theta + share * moved).tolist()
    return BetaMap("beta", c, max(a, 0.0), max(b, 0.0), kept)


def _mode(design: Floats, start: Floats, y: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The u that maximises the likelihood of labels y at log odds start + design · u, times N(u; 0, 1), and its covariance. By Newton."""
    u = np.zeros(design.shape[1])
    z = start
    loss = _loss(z, y, u)
    for _ in range(_MAX_STEPS):
        p = sigmoid(z)
        hessian = np.eye(len(u)) + (design * (p * (1 - p))[:, None]).T @ design
        gradient = u - design.T @ (y - p)
        step = np.linalg.solve(hessian, gradient)
        promised = float(gradient @ step)
        if promised < 1e-12:
            break
        for halving in range(_MAX_HALVINGS):
            tried = u - step * 0.5**halving
            z_tried = start + design @ tried
            if (loss_tried := _loss(z_tried, y, tried)) <= loss - 1e-4 * promised * 0.5**halving:
                u, z, loss = tried, z_tried, loss_tried
                break
        else:
            break
    p = sigmoid(z)
    return u, np.asarray(np.linalg.inv(np.eye(len(u)) + (design * (p * (1 - p))[:, None]).T @ design))


def _loss(z: Floats, y: NDArray[np.bool_], u: Floats) -> float:
    return float((np.logaddexp(0.0, z) - np.where(y, z, 0.0)).sum() + 0.5 * u @ u)
