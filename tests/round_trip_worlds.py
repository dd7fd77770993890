"""Worlds in which it is known what round trips tell.

A suggestion has a hidden measure a, which the calibrator knows, and b, which it does not: P(right) = 1 / (1 + exp(0.3 - 1.6 a - b)). Each
of its three rebuilds is the suggestion again with a probability that depends on a alone, or on b, too. So with `telling` 0 a round trip
says nothing beyond what is known already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from synthetic_samples import sample

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.measures.round_trip import measures_of_round_trips
from assay.calibration.validation.inputs import Inputs
from assay.calibration.validation.round_trip_facts import CodeFact, PlaceFact, TripFact
from assay.calibration.validation.round_trip_study import Trips

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
FORWARD = 3


@dataclass(frozen=True, slots=True)
class World:
    """Suggestions with their round trips, the exact P(right) given a, the hidden a and b, and whether a description was a copy."""

    trips: Trips
    p: Floats
    a: Floats
    b: Floats
    copied: NDArray[np.bool_]

    def inputs(self) -> Inputs:
        """These as samples with measures, and the facts of a study."""
        samples, facts = [], {}
        for row, (share, y, group) in enumerate(zip(self.trips.share, self.trips.y, self.trips.groups, strict=True)):
            equal = [number < round(share * FORWARD) for number in range(FORWARD)]
            total = float(np.log(sigmoid(self.a[row])))
            measures = {"total_logprob": total, **measures_of_round_trips(equal, [None] * FORWARD, None)}
            project, right = f"p{group}", bool(y)
            samples.append(sample(row, label=right, project=project, **measures))
            code = CodeFact(trips=tuple(TripFact(equal=float(each), passes=None, copied=bool(self.copied[row])) for each in equal))
            codes = {"suggestion": code, "truth": code}
            facts[samples[-1].id] = PlaceFact(id=samples[-1].id, project=project, exact=right, passes=None, codes=codes)
        return Inputs(samples, facts=facts)


def world(seed: int, telling: float, n: int = 600, groups: int = 20) -> World:
    """n suggestions in groups of very unequal size."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(groups), rng.choice(groups, n - groups, p=rng.dirichlet(np.full(groups, 3.0)))])
    a, b = rng.normal(size=(2, n))
    y = rng.random(n) < sigmoid(-0.3 + 1.6 * a + b)
    share = rng.binomial(FORWARD, sigmoid(a + telling * b)) / FORWARD
    p = (sigmoid(-0.3 + 1.6 * a[:, None] + _NODES) @ _WEIGHTS) / _WEIGHTS.sum()
    return World(Trips(share, y, group), p, a, b, rng.random(n) < 0.2)
