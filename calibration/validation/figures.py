"""Figures: one number each that a study prints, with a claim and what its 95 % interval says of the claim."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Literal

from ..field_types import Count
from ..metrics.intervals import Interval

Reading = Literal["holds", "refuted", "undecided", "not run", "not applicable", "reported"]
# There is no number: the runs lack what it needs, or an event can't have it.
WITHOUT: tuple[Reading, ...] = ("not run", "not applicable")
ClaimKind = Literal[">", "<=", "within", "reaches", "not below"]

# Fewer say too little of other groups for any reading.
MIN_GROUPS = 5
_MAX_GROUPS = 1_000_000
_CLAIM = re.compile(r"(>|<=|within|reaches|not below) (±?)(-?\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Figure:
    """One printed number.

    id: a capital letter, number and part: `K1`, `K7.no_suffix`.
    value, low, high: with the 95 % interval. None where it was not run or is undefined.
    n, groups, grouped_by: samples, and the groups (`project`, `file`, `sample`, `problem`) that alone are independent.
    claim: `> x`, `<= x`, `within ±x`, `reaches x` (holds unless the interval is below), `not below x` (refuted if it is below, never
        holds) or empty.
    reading: what the numbers say of the claim. note: for people.
    """

    id: str
    value: float | None
    low: float | None
    high: float | None
    n: Count
    groups: Count
    grouped_by: str
    claim: str
    reading: Reading
    note: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a figure is to be.

    "> 0" and "<= 0.05" hold where the whole interval satisfies them. "within ±0.05" is between both.
    "reaches 0.95" is for a share that is expected to be 0.95 or more: it holds unless the whole interval lies below.
    "not below 0" never holds: it is a number without a claim, but refuted where the whole interval lies below.
    """

    kind: ClaimKind
    bound: float

    @classmethod
    def of(cls, text: str) -> Claim:
        """The claim that a text says. Raises ValueError."""
        found = _CLAIM.fullmatch(text)
        if found is None or (found[1] == "within") != bool(found[2]):
            raise ValueError(f'claim: {text!r} is none such as "> 0", "<= 0.05", "within ±0.05", "reaches 0.95" or "not below 0"')
        kind: ClaimKind = found[1]  # type: ignore[assignment]
        return cls(kind, float(found[3]))

    def reading(self, low: float, high: float) -> Reading:
        """What an interval says of it."""
        bound = self.bound
        match self.kind:
            case ">":
                holds, violates = low > bound, high <= bound
            case "<=":
                holds, violates = high <= bound, low > bound
            case "within":
                holds, violates = -bound <= low and high <= bound, low > bound or high < -bound
            case "reaches":
                holds, violates = high >= bound, high < bound
            case "not below":
                return "refuted" if high < bound else "reported"
        return "holds" if holds else "refuted" if violates else "undecided"

    def share_to_edge(self, interval: Interval) -> float:
        """The half-width toward the nearest edge of the claim over the distance to it. At most 1 where the claim is decided."""
        edges = (self.bound,) if self.kind != "within" else (self.bound, -self.bound)
        return max(_share(interval, edge) for edge in edges)


def _share(interval: Interval, edge: float) -> float:
    half = interval.high - interval.value if edge > interval.value else interval.value - interval.low
    distance = abs(edge - interval.value)
    return half / distance if distance > 0 else math.inf


def reading_of(claim: str, interval: Interval | None, groups: int) -> Reading:
    """What an interval by so many groups says of a claim. None: it is undefined."""
    if not claim:
        return "reported"
    if interval is None or groups < MIN_GROUPS:
        return "undecided"
    return Claim.of(claim).reading(interval.low, interval.high)


def groups_to_decide(claim: str, interval: Interval, groups: int) -> int | None:
    """How many groups would decide a claim if the value stayed: half-widths shrink as 1 / √groups. None where none would.

    Of an interval by a few groups that is a guess, which is as far off as its value.
    """
    wanted = groups * min(Claim.of(claim).share_to_edge(interval), _MAX_GROUPS) ** 2
    return max(MIN_GROUPS, math.ceil(wanted)) if wanted <= _MAX_GROUPS else None


def figure(id: str, interval: Interval | None, n: int, groups: int, grouped_by: str, claim: str = "", note: str = "") -> Figure:
    """A figure with its reading. An undecided one says in its note what would decide it."""
    reading = reading_of(claim, interval, groups)
    if reading == "undecided":
        note = joined(note, _what_would_decide(claim, interval, groups, grouped_by))
    value, low, high = (interval.value, interval.low, interval.high) if interval else (None, None, None)
    return Figure(id, value, low, high, n, groups, grouped_by, claim, reading, note)


def not_run(id: str, claim: str, why: str, grouped_by: str = "project") -> Figure:
    """A figure for which the runs have no data."""
    return Figure(id, None, None, None, 0, 0, grouped_by, claim, "not run", why)


def not_applicable(id: str, why: str, grouped_by: str = "project") -> Figure:
    """A figure that can't exist for an event."""
    return Figure(id, None, None, None, 0, 0, grouped_by, "", "not applicable", why)


def without_claim(found: Figure) -> Figure:
    """The number alone: what can't fail, holds nothing."""
    if found.reading in WITHOUT:
        return found
    return replace(
        found, claim="", reading="reported", note=joined(*(part for part in found.note.split("; ") if "would decide" not in part))
    )


def with_note(note: str, *found: Figure) -> tuple[Figure, ...]:
    """The figures, whose notes begin with this one; what was not run has its reason alone."""
    return tuple(each if each.reading in WITHOUT or not note else replace(each, note=joined(note, each.note)) for each in found)


def joined(*notes: str) -> str:
    """Notes as one, without those that are empty."""
    return "; ".join(filter(None, notes))


def only_with_skill(found: Figure, has_skill: bool) -> Figure:
    """The figure, which does not hold where no skill is shown.

    A map that always says the base rate has no calibration error and no offset. So neither speaks for a map without skill.
    """
    if found.reading != "holds" or has_skill:
        return found
    note = "always saying the base rate would satisfy it as well, and no skill is shown"
    return replace(found, reading="undecided", note=joined(found.note, note))


def problem_of(found: Figure) -> str:
    """What is wrong with a figure that comes from a file, "field: reason"; empty where nothing is."""
    numbers = found.value, found.low, found.high
    if found.claim:
        try:
            Claim.of(found.claim)
        except ValueError as error:
            return str(error)
    if any(number is None for number in numbers) != all(number is None for number in numbers):
        return "value: value, low and high are all numbers or all null"
    if found.groups > found.n:
        return "groups: more than n"
    if found.reading in WITHOUT:
        return "" if found.n == 0 and found.value is None else f"reading: {found.reading!r}, but there are samples"
    if found.low is not None and found.high is not None and found.low > found.high:
        return "low: above high"
    interval = None if found.value is None or found.low is None or found.high is None else Interval(found.value, found.low, found.high)
    follows = reading_of(found.claim, interval, found.groups)
    if found.reading not in (follows, "undecided" if follows == "holds" else follows):
        return f"reading: {found.reading!r}, but its numbers and its claim say {follows!r}"
    return ""


def _what_would_decide(claim: str, interval: Interval | None, groups: int, grouped_by: str) -> str:
    if interval is None:
        return f"these labels of {groups} {grouped_by}{'' if groups == 1 else 's'} give no number with an interval"
    wanted = groups_to_decide(claim, interval, groups)
    few = f"{groups} {grouped_by}{'' if groups == 1 else 's'}, and {MIN_GROUPS} are the least" if groups < MIN_GROUPS else ""
    about = f"about {_rounded(wanted)} {grouped_by}s would decide" if wanted else "it lies on the edge, and no number would decide"
    return joined(few, about)


def _rounded(count: int) -> str:
    """With two digits: more would promise too much."""
    step = 10 ** max(0, len(str(count)) - 2)
    return f"{math.ceil(count / step) * step:,}"
