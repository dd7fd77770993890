"""Guards: what must hold before the probabilities of a calibrator are shown. Each is recorded with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats
from .evidence import Evidence
from .maps.platt import PlattMap
from .maps.registry import MAPS, Map
from .maps.temperature import TemperatureMap
from .measures.registry import MEASURES

MIN_SAMPLES = 25
MIN_PER_CLASS = 5
MIN_SPREAD = 0.02

Status = Literal["informative", "borrowed", "uninformative", "insufficient"]
# The statuses of calibrators that give numbers.
GIVING: tuple[Status, ...] = ("informative", "borrowed")
Name = Literal["one_class", "too_few", "skill", "slope", "spread", "bounds", "range"]


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: whether it passed, and why, for people."""

    name: Name
    passed: bool
    reason: str


def are_too_few(y: NDArray[np.bool_]) -> bool:
    """Whether labels y (n,), or those of one class, are too few to learn more from than their base rate."""
    positives = int(y.sum())
    return len(y) < MIN_SAMPLES or min(positives, len(y) - positives) < MIN_PER_CLASS


def guards_of(
    features: Sequence[str],
    ranges: Sequence[tuple[float, float]],
    x: Floats,
    y: NDArray[np.bool_],
    fitted: Map,
    p: Floats,
    evidence: Evidence,
    behind: int,
) -> tuple[Guard, ...]:
    """All guards of a map.

    Parameters:
        features, ranges: the measures, and the range of each that the map was fitted on.
        x (n, k), y (n,): what the map was fitted to. p (n,): its probabilities for those samples.
        behind: the number of samples behind the map, those of its parent included.

    Returns these guards:
        one_class, too_few: there is something to learn from.
        skill: the held-out interval of the skill score is above 0.
        slope: the measure points the right way; of several measures the first, with the others varying along with it.
        spread: 90 % of the probabilities are not nearly equal (the collapse into one bucket of Spiess et al. 2024, §5).
        bounds, range: always pass, and say what the confidence is limited to.
    """
    n, positives, bound = len(y), int(y.sum()), 1 / (behind + 2)
    skill = evidence.skill
    shown = f"{skill.value:z.3f} with interval {skill.low:z.3f} to {skill.high:z.3f}" if skill else "not defined"
    low, high = np.quantile(p, [0.05, 0.95])
    return (
        Guard("one_class", 0 < positives < n, f"{positives} positive and {n - positives} negative"),
        Guard(
            "too_few",
            not are_too_few(y),
            f"{n} samples, {positives} positive and {n - positives} negative; "
            f"at least {MIN_SAMPLES} with {MIN_PER_CLASS} of each are needed",
        ),
        Guard("skill", skill is not None and skill.low > 0, f"the skill score on held-out data is {shown}"),
        _slope(features[0], fitted, x),
        Guard("spread", bool(high - low >= MIN_SPREAD), f"90 % of the probabilities are between {low:.3f} and {high:.3f}"),
        Guard("bounds", True, f"a probability is at least {bound:.3g} and at most {1 - bound:.6g}: 1 / (n + 2) from certainty"),
        Guard("range", True, "; ".join(_limit(name, a, b) for name, (a, b) in zip(features, ranges, strict=True))),
    )


def _limit(name: str, low: float, high: float) -> str:
    """What becomes of a measure beyond the range that a map was fitted on: `confidence`."""
    match MEASURES[name].direction:
        case 0:
            return f"no number where {name} is not between {low:.6g} and {high:.6g}"
        case 1:
            return f"the lowest number where {name} is below {low:.6g}; above {high:.6g} it counts as that"
        case -1:
            return f"the lowest number where {name} is above {high:.6g}; below {low:.6g} it counts as that"


def status_of(guards: Sequence[Guard], undecided: bool = False, borrows: bool = False) -> tuple[Status, str]:
    """The status that follows from the guards, and its reason.

    undecided: the samples of one project are too few to tell whether there is skill. The status is then `insufficient` instead of
    `uninformative`, so that a map which has shown skill elsewhere is still used.
    borrows: the map was moved from one that has shown skill with every other model. Until the samples can tell, it is `borrowed`.
    """
    failed = {guard.name: guard.reason for guard in guards if not guard.passed}
    for name in ("one_class", "too_few"):
        if name in failed:
            reason = "all labels are equal: " if name == "one_class" else ""
            return "borrowed" if borrows else "insufficient", reason + failed[name]
    if "skill" in failed:
        if undecided and borrows:
            return "borrowed", f"too few samples of this model to tell whether it has skill by itself: {failed['skill']}"
        if undecided:
            return "insufficient", f"too few samples of the project to tell whether the map has skill here: {failed['skill']}"
        return "uninformative", f"no skill is shown: {failed['skill']}"
    if "slope" in failed:
        return "uninformative", failed["slope"]
    if "spread" in failed:
        return "uninformative", f"the probabilities collapse: {failed['spread']}"
    return "informative", next(guard.reason for guard in guards if guard.name == "skill")


def _slope(name: str, fitted: Map, x: Floats) -> Guard:
    match MAPS[fitted.kind].shape:
        case "line":
            slope, direction = _slope_along_first(fitted, x), MEASURES[name].direction
            if slope * direction < 0 or (direction and slope == 0):
                return Guard("slope", False, f"the slope of {name} is {slope:.3g}: it points the wrong way")
            return Guard("slope", True, f"the slope of {name} is {slope:.3g}")
        case "free":
            return Guard("slope", True, "the map has no slope")
        case "monotone":
            return Guard("slope", True, f"the map never falls where {name} speaks more for the event")


def _slope_along_first(fitted: Map, x: Floats) -> float:
    """The slope of the log odds along the first feature, with that of the others as far as they vary with it in these samples.

    The slope of a measure among several says nothing by itself: of two measures that say the same, the first may only correct the second.
    """
    if isinstance(fitted, TemperatureMap):
        return fitted.slope
    if isinstance(fitted, PlattMap) and x.shape[1] == 1:
        return fitted.slopes[0]
    off = x[:, 0] - x[:, 0].mean()
    spread = float(off @ off)
    return float(off @ fitted.log_odds(x)) / spread if spread > 0 else 0.0
