"""What the answers of a run come to: how each ended, and means with intervals. Pure functions of the records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol, TypeVar

import numpy as np

from ....analysis.corpora.benchmarks import Language
from ....calibration.arrays import Floats
from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import jackknife, mean_share
from ....calibration.metrics.intervals import Interval
from ...rtc.copies import JAVA, PYTHON, is_copy
from ...rtc.problems.scores import Grouped, Mean
from .asking import Answers, Described, Description
from .items import Arm, Item, Told, told_of
from .labelling import Ending, Label, label_id

# Words of a program that are no names, for what is a copy of it.
_KEYWORDS: Mapping[Language, frozenset[str]] = {"python": PYTHON, "java": JAVA}


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer. ending: None where it is not known. copied: it was written from a description that recites the code."""

    ending: Ending | None
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Scored:
    """An item with its answers, by how they were asked for. descriptions, copies, unreadable: counts of descriptions, by their kind.
    judged: whether the run has labels at all; without, no share is told, not even of answers that need none.
    """

    id: str
    group: str
    set: str
    source: Language | None
    target: Language
    answers: Mapping[Arm, tuple[Answered, ...]]
    descriptions: Mapping[Told, int]
    copies: Mapping[Told, int]
    unreadable: Mapping[Told, int]
    judged: bool = True

    @property
    def place(self) -> str:
        """Its set and its languages, as in the id of a cell."""
        return f"{self.set}/{self.target}" if self.source in (None, self.target) else f"{self.set}/{self.source}-{self.target}"

    def share(self, arm: Arm, ending: Ending, *, copies: bool = True) -> float | None:
        """The share of answers that ended so; without copies of those that are none. None where one is not known, or none is there."""
        found = [each for each in self.answers.get(arm, ()) if copies or not each.copied]
        if not found or not self.judged or any(each.ending is None for each in found):
            return None
        return fmean(each.ending == ending for each in found)

    def pass_at_1(self, arm: Arm, *, copies: bool = True) -> float | None:
        """The share that passes."""
        return self.share(arm, "passes", copies=copies)

    def lift(self, arm: Arm, baseline: Arm, *, copies: bool = True) -> float | None:
        """How much more passes of one arm than of the other."""
        one, other = self.pass_at_1(arm, copies=copies), self.pass_at_1(baseline)
        return None if one is None or other is None else one - other


Number = Callable[[Scored], float | None]


def ended_as(arm: Arm, ending: Ending = "passes") -> Number:
    """The share of an item's answers that ended so, as a function of the item."""
    return lambda item: item.share(arm, ending)


def scored(items: Sequence[Item], described: Sequence[Described], answers: Sequence[Answers], labels: Sequence[Label]) -> list[Scored]:
    """Each item that has answers."""
    told = {record["id"]: record["descriptions"] for record in described}
    written = {record["id"]: record for record in answers}
    known = {label["id"]: label["ending"] for label in labels}
    judged = bool(labels) or all(one["text"] is None for record in answers for one in record["answers"])
    return [_scored(item, told.get(item.id, []), written[item.id], known, judged=judged) for item in items if item.id in written]


def _scored(item: Item, described: Sequence[Description], written: Answers, labels: Mapping[str, Ending | None], *, judged: bool) -> Scored:
    by_told = {told: [each["text"] for each in described if each["told"] == told] for told in told_of(item.kind)}
    copied = {told: [text is not None and _recites(item, told, text) for text in texts] for told, texts in by_told.items()}
    found = dict[Arm, list[Answered]]()
    for one in written["answers"]:
        ending: Ending | None = "unreadable"
        if one["text"] is not None:
            ending = labels.get(label_id(item, item.program(one["arm"], one["text"])))
        of_copies = copied.get(one["arm"], []) if one["arm"] in ("named", "unnamed") else []
        found.setdefault(one["arm"], []).append(Answered(ending, one["of"] < len(of_copies) and of_copies[one["of"]]))
    for told, texts in by_told.items():
        # from a description that can't be read nothing is written
        if lost := texts.count(None):
            found.setdefault(told, []).extend([Answered("unreadable")] * lost)
    return Scored(
        id=item.id,
        group=item.group,
        set=item.set,
        source=item.source,
        target=item.target,
        answers={arm: tuple(each) for arm, each in found.items()},
        descriptions={told: len(texts) for told, texts in by_told.items()},
        copies={told: sum(each) for told, each in copied.items()},
        unreadable={told: texts.count(None) for told, texts in by_told.items()},
        judged=judged,
    )


def _recites(item: Item, told: Told, text: str) -> bool:
    return is_copy(text, item.described_body(told), _KEYWORDS.get(item.target, JAVA))


class Placed(Grouped, Protocol):
    """What a mean over places is taken of."""

    @property
    def place(self) -> str:
        """Its data set and languages."""
        ...


AnyPlaced = TypeVar("AnyPlaced", bound=Placed)


def by_place(items: Sequence[AnyPlaced]) -> dict[str, list[AnyPlaced]]:
    """The items of each set and pair of languages, in the order of the items."""
    found: dict[str, list[AnyPlaced]] = {}
    for item in items:
        found.setdefault(item.place, []).append(item)
    return found


def mean_of_places(items: Sequence[AnyPlaced], number: Callable[[AnyPlaced], float | None]) -> Mean:
    """The mean over places of the mean over the items of each: every data set counts alike, as in the paper's averages."""
    known = [(item, value) for item in items if (value := number(item)) is not None]
    if not known:
        return Mean(None, None, 0, 0)
    values = np.array([value for _, value in known])
    places, groups = numbered([item.place for item, _ in known]), numbered([item.group for item, _ in known])
    width, count = int(places.max()) + 1, int(groups.max()) + 1
    cell = places * count + groups
    sums = np.concatenate([np.bincount(cell, weights, width * count).reshape(width, count) for weights in (np.ones(len(values)), values)])

    def statistic(of: Floats) -> Floats:
        return np.asarray((of[width:] / of[:width]).mean(axis=0))

    found = jackknife(sums.astype(np.float64), statistic)
    value = float(statistic(sums.sum(axis=1)[:, None])[0])
    lowest = 0.0 if (values >= 0).all() else -1.0
    if found is not None and found.low == found.high and lowest == 0:
        # nothing varies, which says less of other problems than an interval without width would
        found = mean_share(values, groups)
    clipped = None if found is None else Interval(found.value, max(lowest, found.low), min(1.0, found.high))
    return Mean(value, clipped, len(values), count)
