"""Stops: positions of the dial that say how much of what they show is right, not from which probability on. Pure functions.

quiet: at least three in four of what comes by itself are right. balanced: at least one in two. everything: all is shown.

From which probability on a stop shows is found for each calibrator by itself: from the row of its dial for the share that the stop asks
for. There each suggestion is at least so likely, and held-out samples were tested to be right so often. It is not enough that all together
are: samples are of places, each of which counts once, but while somebody types wrong suggestions come and go and right ones stay. If the
evidence does not reach that row, the highest that it reaches counts: what is surest is then still shown, and `reaches` says that it is too
little. A calibrator whose dial has no rows has too little evidence for any, and its own probability counts.

This holds until the user's own log refutes it, or confirms more. The log counts suggestions as the user saw them, and tells what was kept,
whatever the event of the calibrator is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..calibrator import Calibrator
from .dial_levels import Level

Stop = Literal["quiet", "balanced", "everything"]
Source = Literal["evidence", "log", "probability"]

TARGETS: dict[Stop, float] = {"quiet": 0.75, "balanced": 0.5, "everything": 0.0}

# With so many labels the 95 % interval of a share of one in two is ±10 points, which tells it from 3 in 4 and from 1 in 4. With fewer, the
# log would say what chance did in a file or two.
MIN_LOGGED = 100


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which probability on a stop shows the suggestions that one calibrator judges.

    source: what it was found by. reaches: whether what it shows is right as often as the stop asks for: by the evidence, if that was
    tested; by the log, unless it is refuted.
    n, shown: suggestions that the source has, and those that the threshold shows. right: the share of the shown that is right, or by the
    log was kept. shown, right: None if not known.
    """

    show_above: float
    source: Source
    reaches: bool
    n: int
    shown: int | None
    right: float | None


@dataclass(frozen=True, slots=True)
class Logged:
    """What a log says of one calibrator.

    n: suggestions. labelled: those of them of which it is known whether they were kept. levels: ascending, from 0.
    """

    labelled: int
    n: int
    levels: tuple[Level, ...]


def threshold_of(calibrator: Calibrator, stop: Stop, logged: Logged | None = None) -> Threshold:
    """The threshold of a stop: by the evidence, or by the log if that has enough labels. Quiet never shows more than balanced."""
    found = _by_evidence(calibrator, stop)
    if logged is None or logged.labelled < MIN_LOGGED:
        return found
    found = _by_log(found, logged, TARGETS[stop])
    if stop == "quiet" and (balanced := threshold_of(calibrator, "balanced", logged)).show_above > found.show_above:
        # The log has moved balanced past a level of which it does not know enough for quiet.
        return replace(balanced, reaches=False)
    return found


def _by_evidence(calibrator: Calibrator, stop: Stop) -> Threshold:
    target, evidence = TARGETS[stop], calibrator.evidence
    if stop == "everything":
        return Threshold(0.0, "evidence", True, evidence.n, evidence.n, evidence.positives / evidence.n)
    rows = [(row.threshold, row, row.precision) for row in calibrator.dial if row.threshold is not None and row.precision is not None]
    if not rows:
        return Threshold(target, "probability", False, evidence.n, None, None)
    reaching = [found for found in rows if found[1].target >= target]
    threshold, row, precision = min(reaching, key=lambda found: found[0]) if reaching else max(rows, key=lambda found: found[1].target)
    return Threshold(threshold, "evidence", bool(reaching), evidence.n, row.shown, precision.value)


def _by_log(evidence: Threshold, logged: Logged, target: float) -> Threshold:
    """The threshold moved as far as the log compels or allows.

    Up to the lowest level that the log does not refute, by an interval below the target; if it refutes all, to the strictest that it has
    measured. Else down, as long as the interval of each level lies at or above the target. Between the two the evidence stands, so that a
    threshold does not move with every label. Nothing moves if the log does not know what the threshold shows.
    """
    start = max(i for i, level in enumerate(logged.levels) if level.show_above <= evidence.show_above)
    from_start = [level for level in logged.levels[start:] if level.right is not None]
    if not from_start or from_start[0] is not logged.levels[start]:
        return evidence
    held = [level for level in from_start if _high(level) >= target]
    if not held:
        return replace(_measured(from_start[-1], logged), reaches=False)
    if held[0] is not from_start[0]:
        return _measured(held[0], logged)
    lowest = start
    while lowest > 0 and _low(logged.levels[lowest - 1]) >= target:
        lowest -= 1
    found = _measured(logged.levels[lowest], logged)
    return found if lowest < start else replace(found, show_above=evidence.show_above)


def _measured(level: Level, logged: Logged) -> Threshold:
    assert level.right is not None
    return Threshold(level.show_above, "log", True, logged.n, level.shown, level.right.value)


def _low(level: Level) -> float:
    return -1.0 if level.right is None or level.right.low is None else level.right.low


def _high(level: Level) -> float:
    return 1.0 if level.right is None or level.right.high is None else level.right.high


@dataclass(frozen=True, slots=True)
class Together:
    """What a stop does with the suggestions of several calibrators.

    source: what is counted: held-out samples, or the log. share: of all suggestions that are shown. right: of these. None if not known.
    """

    source: Source
    reaches: bool
    share: float | None
    right: float | None


def together(thresholds: Sequence[Threshold]) -> Together | None:
    """The thresholds of one stop together, those by the log alone if there are any; None without any.

    Held-out samples are counted as they are, so the share is that of the study's places, not of a day's typing.
    """
    by_log = [one for one in thresholds if one.source == "log"]
    counted = by_log or thresholds
    if not counted:
        return None
    source: Source = "log" if by_log else "evidence" if all(one.source == "evidence" for one in counted) else "probability"
    reaches = all(one.reaches for one in counted)
    shown, n = _sum(one.shown for one in counted), sum(one.n for one in counted)
    right = _sum(None if one.shown is None or one.right is None else one.shown * one.right for one in counted)
    share = None if shown is None or not n else shown / n
    return Together(source, reaches, share, None if right is None or not shown else right / shown)


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if any(value is None for value in known) else float(sum(value for value in known if value is not None))


def words_of(found: Together, target: float) -> str:
    """What a stop does, for people: "shows 1 in 9 suggestions; 6 of 10 of them right"."""
    if found.share is None:
        return f"shows what is at least {target:.0%} likely, for the evidence is too thin to say more".replace("%", " %")
    said = f"shows {_of_all(found.share)}"
    if found.share and found.right is not None:
        said += f"; {_of_shown(found.right)} of them {'kept' if found.source == 'log' else 'right'}"
    falls_short = not found.reaches and (found.right is None or found.right < target)
    return f"{said} (no level reaches {round(100 * target)} %)" if falls_short else said


def _of_all(share: float) -> str:
    if share >= 0.95:
        return "all suggestions" if share == 1 else "nearly all suggestions"
    if share >= 0.5:
        return f"{round(10 * share)} of 10 suggestions"
    return f"1 in {round(1 / share):,} suggestions" if share else "no suggestions"


def _of_shown(right: float) -> str:
    if right >= 0.95:
        return "nearly all"
    if right >= 0.1:
        return f"{round(10 * right)} of 10"
    return f"1 in {round(1 / right):,}" if right else "none"
