"""Worlds with known truth: what the calibration study would see of a calibrator whose every claim is true.

A sample has two hidden measures a and b, and its event happens with P = 1 / (1 + exp(0.5 - 1.6 a - b)). The calibrator knows a alone and
gives the exact P given a. Who asks the model again knows b as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom  # type: ignore[import-untyped]

from assay.calibration.arrays import Floats, logit, sigmoid
from assay.calibration.validation.calibration_study import (
    Judged,
    gain_over_raw,
    of_events,
    of_input,
    of_mixed_up_events,
    reflective_adds,
    transfer,
    whole,
)
from assay.calibration.validation.figures import Figure, only_with_skill

Labels = NDArray[np.bool_]
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True)
class World:
    """Held-out probabilities and labels, all exact. arm: another input at the same places. full: P given a and b. raw: the model's own."""

    plain: Judged
    arm: Judged
    exact: Judged
    full: Floats
    raw: Floats

    def shuffled(self, rng: np.random.Generator) -> World:
        """The same with labels that have nothing to do with the probabilities."""
        plain, arm, exact = (replace(judged, y=rng.permutation(judged.y)) for judged in (self.plain, self.arm, self.exact))
        return replace(self, plain=plain, arm=arm, exact=exact)


def world(seed: int, n: int = 600, groups: int = 20) -> World:
    """n samples in groups of very unequal size."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(groups), rng.choice(groups, n - groups, p=rng.dirichlet(np.full(groups, 3.0)))])
    a, b, other = rng.normal(size=(3, n))
    full = sigmoid(-0.5 + 1.6 * a + b)
    plain, arm = (Judged(_given(known), np.zeros(n, dtype=np.bool_), group) for known in (a, (a + other) / np.sqrt(2)))
    exact = Judged(0.6 * plain.p, rng.random(n) < 0.6 * plain.p, group)
    return World(
        replace(plain, y=rng.random(n) < full), replace(arm, y=rng.random(n) < arm.p), exact, full, sigmoid(2 * logit(plain.p) + 1)
    )


def figures_of(found: World) -> Iterator[Figure]:
    """Every figure K1 to K8 of a world."""
    first = whole(found.plain)
    yield from first
    yield gain_over_raw(found.plain, found.raw)
    yield of_events(found.exact, found.plain)
    yield of_mixed_up_events(found.exact.p, found.plain)
    yield only_with_skill(transfer(found.plain, 0.0, 20), first[0].reading == "holds")
    yield of_input("K7.no_suffix", found.plain, found.arm)
    yield reflective_adds(found.plain, found.full, ["ask_true"])


def most(worlds: int, rate: float = 0.05) -> int:
    """More than so many of the worlds happen once in a thousand times, if the rate is at most this."""
    return int(binom.ppf(0.999, worlds, rate))


def _given(a: Floats) -> Floats:
    """P given a, b unknown: the mean over b."""
    return np.asarray(sigmoid(-0.5 + 1.6 * a[:, None] + _NODES) @ _WEIGHTS)
