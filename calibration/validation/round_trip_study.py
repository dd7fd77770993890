"""The figures R1 to R6 of the round-trip study: what does it say of a suggestion that the model rebuilds it from its own description?

R1 asks whether round trips of a project's own code go with passing there. R2 to R6 are about round trips of suggestions: what they add to
what is known without them (R2, R5), what they are as a probability (R3), whether they estimate a project's rate without a label (R4), and
what is left without descriptions that recite the code (R6).

Each figure is a pure function of held-out probabilities and labels; `figures` finds the samples for all.

References: Allamanis et al. (2024) for round trips; Mantel & Haenszel (1959) for R5. Round trips as measures of a suggestion are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..calibrator import Calibrator
from ..fitting.folds import Grouping, grouped
from ..measures.registry import MEASURES
from ..measures.round_trip import NAMES
from ..metrics.correlations import kendall, pearson, ranks
from ..metrics.groups import log_odds_ratio, mean, skill, skill_gain
from ..metrics.intervals import Interval, intervals, paired, student_t
from ..samples import Event, Sample
from .figures import Figure, figure, not_run
from .held_out import CrossFitted, HeldOut, NotHeldOut
from .inputs import Inputs
from .round_trip_facts import CodeFact, PlaceFact

STUDY = "rtc"
RUNS_OF = (STUDY,)
EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")
ARMS: Mapping[str, str] = {}
STREAMS: Mapping[str, str] = {}
FACT = PlaceFact

# Of two rates (g,); None where it is undefined.
Correlation = Callable[[Floats, Floats], float | None]

MAX_OFFSET = 0.05
# A gain of skill that is surely smaller is not worth the calls.
WORTH_ITS_COST = 0.005
DECILES = 10
# So many of the shares have their rate told, the lowest and the highest among them.
MAX_SHARES_TOLD = 5
_CLAIMS = {
    "R1": "> 0",
    "R1.rho": "",
    "R1.tau": "",
    "R2": "> 0",
    "R2.agreement": "> 0",
    "R2.log_loss": "",
    "R3": f"within ±{MAX_OFFSET}",
    "R3.skill": "",
    "R3.platt": "",
    "R3.auc": "",
    "R4": "> 0",
    "R5": "> 0",
    "R6.skill": "> 0",
    "R6.odds": "> 0",
}
_OF_SUGGESTIONS = tuple(id for id in _CLAIMS if not id.startswith("R1"))


@dataclass(frozen=True, slots=True)
class Trips:
    """Suggestions with labels y (n,), in groups (n,) numbered from 0, and the share (n,) of rebuilds that are the suggestion again."""

    share: Floats
    y: NDArray[np.bool_]
    groups: NDArray[np.intp]
    by: str = "project"

    def figure(self, id: str, interval: Interval | None, note: str = "") -> Figure:
        """A figure of all of them."""
        count = int(self.groups.max()) + 1 if len(self.groups) else 0
        return figure(id, interval, len(self.y), count, self.by, _CLAIMS[id], note)

    def those(self, which: NDArray[np.bool_]) -> Trips:
        """Some of them, their groups numbered anew."""
        _, groups = np.unique(self.groups[which], return_inverse=True)
        return Trips(self.share[which], self.y[which], groups.astype(np.intp), self.by)

    @property
    def has_groups(self) -> bool:
        """Whether there can be an interval."""
        return len(self.groups) > 0 and int(self.groups.max()) > 0


def tracks_passing(round_trips: Floats, passing: Floats, n: int, by: str = "project") -> tuple[Figure, Figure, Figure]:
    """R1: r, Spearman's rho and Kendall's tau of two rates over groups (g,). n: the places in them.

    The interval is of the jackknife over groups, on Fisher's z.
    """
    count = len(passing)

    def of(id: str, statistic: Correlation) -> Figure:
        return figure(id, _jackknifed(statistic, round_trips, passing), n, count, by, _CLAIMS[id], "rates of groups, each counted once")

    return of("R1", pearson), of("R1.rho", lambda a, b: pearson(ranks(a), ranks(b))), of("R1.tau", kendall)


def _jackknifed(statistic: Correlation, a: Floats, b: Floats) -> Interval | None:
    """A correlation of pairs. None where it is undefined, or ±1, with all pairs or without one of them."""
    count = len(a)
    rows = np.arange(count)
    found = [statistic(a, b), *(statistic(a[rows != row], b[rows != row]) for row in rows)] if count > 2 else []
    defined = [math.atanh(each) for each in found if each is not None and abs(each) < 1 - 1e-12]
    if not found or len(defined) < len(found):
        return None
    whole, *without = defined
    half = student_t(count - 1) * math.sqrt(count - 1) * float(np.std(without))
    return Interval(*map(math.tanh, (whole, whole - half, whole + half)))


def adds_skill(trips: Trips, free: Floats, more: Floats, names: Sequence[str], id: str = "R2") -> Figure:
    """R2: the skill of `more` (n,), probabilities that also know the round trips, minus that of `free` (n,)."""
    found = skill_gain(free, trips.y, more, trips.y, trips.groups) if trips.has_groups else None
    left_out = "model selection leaves them out, " if np.array_equal(free, more) else ""
    made = trips.figure(id, found, f"skill with {', '.join(names)} minus that without")
    return replace(made, note=f"{made.note}; {left_out}{offered(made)}") if found else made


def offered(gain: Figure) -> str:
    """What a gain of skill means for the editor."""
    if gain.reading == "holds":
        return "worth offering to the editor"
    if gain.high is not None and gain.high < WORTH_ITS_COST:
        return f"not offered to the editor: a gain below {WORTH_ITS_COST} is not worth the calls"
    return "not offered to the editor: no gain is shown"


def in_log_loss(trips: Trips, free: Floats, more: Floats) -> Figure:
    """R2.log_loss: how much lower the log loss is, in nats."""
    found = paired(more, free, trips.y, trips.groups).log_loss if trips.has_groups else None
    return trips.figure("R2.log_loss", found, "log loss without round trips minus that with them, nats")


def as_probability(trips: Trips, scaled: Floats) -> tuple[Figure, ...]:
    """R3: the share of rebuilds, read as a probability: offset, skill, AUC; and the skill of a map of it, scaled (n,)."""
    if not trips.has_groups:
        return tuple(trips.figure(id, None) for id in ("R3", "R3.skill", "R3.platt", "R3.auc"))
    smoothed = np.clip(trips.share, 1e-6, 1 - 1e-6)  # a log loss would be infinite, and is not read here
    shares = np.round(trips.share, 9)  # the same share, summed in another order, may differ by its rounding
    values = np.unique(shares)
    shown = values[np.unique(np.linspace(0, len(values) - 1, MAX_SHARES_TOLD).round().astype(np.intp))]
    rates = ", ".join(f"{trips.y[shares == share].mean():.2f} right where it is {share:.2f}" for share in shown.tolist())
    return (
        trips.figure("R3", mean(trips.share - trips.y, trips.groups), f"share of equal rebuilds minus share that is right; {rates}"),
        trips.figure("R3.skill", skill(trips.share, trips.y, trips.groups), "of the share as it is"),
        trips.figure("R3.platt", skill(scaled, trips.y, trips.groups), "of Platt scaling of round_trip, fitted to other projects"),
        trips.figure("R3.auc", intervals(smoothed, trips.y, trips.groups, resamples=2).auc, "of the share"),
    )


def without_labels(trips: Trips, free: Floats, rebuilt: Floats) -> Figure:
    """R4: how much nearer a group's mean probability is to its share of right ones with `rebuilt` (n,) than with `free` (n,).

    Both are probabilities by maps of other groups.
    """
    if not trips.has_groups:
        return trips.figure("R4", None)
    size = np.bincount(trips.groups)
    off = [np.abs(np.bincount(trips.groups, p - trips.y)) / size for p in (free, rebuilt)]
    note = f"mean offset of a {trips.by} {off[0].mean():.3f} without round trips, {off[1].mean():.3f} by round_trip alone"
    return trips.figure("R4", mean(off[0] - off[1], np.arange(len(size))), note)


def beyond(trips: Trips, p: Floats, id: str = "R5") -> Figure:
    """R5: the log odds ratio of being right on a successful round trip, among suggestions of like probability p (n,).

    Successful: more than half of the rebuilds are the suggestion again. Like: in the same tenth of the probabilities.
    """
    if not trips.has_groups:
        return trips.figure(id, None)
    strata = np.searchsorted(np.quantile(p, np.arange(1, DECILES) / DECILES), p, side="right")
    success = trips.share > 0.5
    return trips.figure(id, log_odds_ratio(trips.y, success, strata, trips.groups), f"{int(success.sum()):,} round trips succeed")


def figures(calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> tuple[Figure, ...]:
    """All figures of a calibrator.

    Samples without a label for its event, without a number, without round trips, or that are no first choice, are left out.
    """
    return (*of_truth(inputs.facts, calibrator.event), *_of_suggestions(calibrator, inputs, source))


def of_truth(facts: Mapping[str, PlaceFact], event: str) -> tuple[Figure, ...]:
    """R1 of a run's facts: the rate at which the project's own code is rebuilt, beside the rate of suggestions that are right.

    Rebuilt: it passes its tests, or for exact_match is the very code.
    """
    places = [row for place in facts.values() if (row := _rebuilt_and_right(place, event))]
    if not places:
        return tuple(not_run(id, _CLAIMS[id], "no facts of round trips of the projects' own code") for id in ("R1", "R1.rho", "R1.tau"))
    _, group = np.unique([project for project, _, _ in places], return_inverse=True)
    size = np.bincount(group)
    rebuilt, passing = (np.bincount(group, [float(place[column]) for place in places]) / size for column in (1, 2))
    return tracks_passing(rebuilt, passing, len(places))


def _rebuilt_and_right(place: PlaceFact, event: str) -> tuple[str, float, bool] | None:
    truth = place.codes.get("truth")
    right = place.passes if event == "tests_pass" else place.exact
    if truth is None or right is None:
        return None
    shares = [trip.passes if event == "tests_pass" else trip.equal for trip in truth.trips]
    known = [share for share in shares if share is not None]
    return (place.project, float(np.mean(known)), right) if known and len(known) == len(shares) else None


def _of_suggestions(calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> tuple[Figure, ...]:
    by = calibrator.fitted_on.grouped_by
    found = _with_trips(calibrator, inputs, source, by)
    if isinstance(found, str):
        return tuple(not_run(id, _CLAIMS[id], found, by) for id in _OF_SUGGESTIONS)
    if not found.free:
        why = "the calibrator has no measure that costs no call, so there is nothing that round trips could add to"
        return tuple(not_run(id, _CLAIMS[id], why, by) for id in _OF_SUGGESTIONS)
    try:
        free, more = found.judged(found.free), found.judged((*found.free, *found.names))
        rebuilt = found.judged(("round_trip",), "platt")  # of four values no richer map can be fitted
    except NotHeldOut as error:
        return tuple(not_run(id, _CLAIMS[id], str(error), by) for id in _OF_SUGGESTIONS)
    trips, kept = found.trips, ~found.copied
    own = trips.those(kept)
    copies = f"{int(found.copied.sum()):,} suggestions with a description that recites them are left out"
    r6 = (adds_skill(own, free[kept], more[kept], found.names, "R6.skill"), beyond(own, found.p[kept], "R6.odds"))
    return (
        adds_skill(trips, free, more, found.names),
        _over_agreement(found),
        in_log_loss(trips, free, more),
        *as_probability(trips, rebuilt),
        without_labels(trips, free, rebuilt),
        beyond(trips, found.p),
        *(replace(each, note="; ".join(filter(None, (each.note, copies)))) for each in r6),
    )


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What the figures of suggestions are made of.

    p (n,): of the calibrator. copied (n,): whether a description recites the suggestion. names: the measures of round trips that all have.
    maps: fitted to these very samples, so that those with and without round trips differ in nothing else.
    """

    calibrator: Calibrator
    samples: Sequence[Sample]
    p: Floats
    trips: Trips
    copied: NDArray[np.bool_]
    names: tuple[str, ...]
    maps: CrossFitted

    def judged(self, features: Sequence[str], kind: str | None = None) -> Floats:
        """Probabilities by maps of these measures, cross-fitted to these samples. kind: as the calibrator's. Raises NotHeldOut."""
        maps = self.maps if kind is None else replace(self.maps, wanted=kind)
        return maps(self.samples, self.calibrator.event, tuple(features))

    @property
    def free(self) -> tuple[str, ...]:
        """The measures of the calibrator that cost no call."""
        return tuple(name for name in self.calibrator.features if not MEASURES[name].cost)


def _with_trips(calibrator: Calibrator, inputs: Inputs, source: HeldOut, by: Grouping) -> _Inputs | str:
    """The samples that figures can be made of; or why there are none."""
    event = calibrator.event
    known = [
        (each, code)
        for each in inputs.plain
        if each.rank == 1 and each.labels.get(event) is not None and "round_trip" in each.measures and (code := _code_of(inputs, each))
    ]
    if not known:
        return f"no sample has a label for {event} and round trips"
    p = source([each for each, _ in known], event, calibrator.features)
    there = ~np.isnan(p)
    samples, codes = zip(*(known[row] for row in np.flatnonzero(there)), strict=True) if there.any() else ((), ())
    if not samples:
        return "the calibrator has a number for none of the samples with round trips"
    return _Inputs(
        calibrator,
        samples,
        p[there],
        Trips(
            np.array([np.mean([trip.equal for trip in code.trips]) for code in codes]),
            np.array([each.labels[event] for each in samples], dtype=np.bool_),
            grouped(samples, by, least=1)[1],
            by,
        ),
        np.array([any(trip.copied for trip in code.trips) for code in codes], dtype=np.bool_),
        tuple(name for name in NAMES if all(name in each.measures for each in samples)),
        replace(source.cross_fitted, samples=tuple(samples)),
    )


def _code_of(inputs: Inputs, sample: Sample) -> CodeFact | None:
    """The round trips of a sample's text."""
    place: PlaceFact | None = inputs.facts.get(sample.id)
    code = place and place.codes.get("suggestion")
    return code if code and code.trips else None


def _over_agreement(found: _Inputs) -> Figure:
    """R2.agreement: the same gain where the share of the text among alternatives is known as well."""
    id = "R2.agreement"
    if not all("agreement" in each.measures for each in found.samples):
        return not_run(id, _CLAIMS[id], "the samples have no agreement: no alternatives were drawn", found.trips.by)
    known = tuple(dict.fromkeys((*found.free, "agreement")))
    try:
        free, more = found.judged(known), found.judged((*known, *found.names))
    except NotHeldOut as error:
        return not_run(id, _CLAIMS[id], str(error), found.trips.by)
    return adds_skill(found.trips, free, more, found.names, id)
