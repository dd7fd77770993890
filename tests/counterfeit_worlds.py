"""Worlds with known truth of the counterfeit study: places with several texts each, whose probability is exact.

A text passes with P = 1 / (1 + exp(0.4 - 1.8 a - 1.2 b)), and the calibrator gives the exact P given a. Of the failures two thirds are
counterfeits, and look no different. The model's own answer knows a, with noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.validation.counterfeit_study import (
    Texts,
    of_shown,
    repair_pays,
    self_check_adds,
    self_check_bias,
    within_places,
)
from assay.calibration.validation.figures import Figure

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True, slots=True)
class World:
    """places (n,): where each text stands. full: P given all that is known. says_right: the model's own answer, (n,) each."""

    texts: Texts
    places: NDArray[np.intp]
    full: Floats
    says_right: NDArray[np.bool_]

    def shuffled(self, rng: np.random.Generator, *, within: bool) -> World:
        """The same with the outcomes dealt anew to all texts, or within each place."""
        order = np.lexsort((rng.random(len(self.places)), self.places if within else np.zeros(len(self.places))))
        dealt = np.empty_like(order)
        dealt[np.argsort(self.places, kind="stable") if within else np.arange(len(order))] = order
        texts = self.texts
        return replace(
            self, texts=replace(texts, right=texts.right[dealt], counterfeit=texts.counterfeit[dealt], parses=texts.parses[dealt])
        )


def world(seed: int, places: int = 200, draws: int = 6, groups: int = 20) -> World:
    """Places in groups of very unequal size, with so many texts each."""
    rng = np.random.default_rng(seed)
    of_place = np.concatenate([np.arange(groups), rng.choice(groups, places - groups, p=rng.dirichlet(np.full(groups, 3.0)))])
    place = np.repeat(np.arange(places), draws)
    a, b = rng.normal(size=(2, len(place)))
    full = sigmoid(-0.4 + 1.8 * a + 1.2 * b)
    p = np.asarray(sigmoid(-0.4 + 1.8 * a[:, None] + 1.2 * _NODES) @ (_WEIGHTS / _WEIGHTS.sum()))
    right = rng.random(len(place)) < full
    counterfeit = ~right & (rng.random(len(place)) < 2 / 3)
    parses = right | counterfeit | (rng.random(len(place)) < 1 / 2)
    return World(Texts(p, right, counterfeit, parses, of_place[place]), place, full, a + rng.normal(size=len(place)) > 0)


def figures_of(found: World) -> Iterator[Figure]:
    """F1 to F7 of a world."""
    yield from of_shown(found.texts)
    yield within_places(found.texts, found.places)
    yield self_check_adds("F6", found.texts, found.full)
    yield from self_check_bias(found.texts, found.says_right)


def of_repairs(seed: int, gain: float, places: int = 200, groups: int = 20) -> Figure:
    """F9 of repairs that pass more often than draws, by so much."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(groups), rng.integers(0, groups, places - groups)])
    rate = rng.uniform(0.1, 0.6, places)
    drawn, repaired = rng.binomial(10, rate) / 10, rng.binomial(6, np.clip(rate + gain, 0, 1)) / 6
    return repair_pays(repaired, drawn, group, "project")
