"""What a run of a chain comes to: each item's scores, and columns of their means with intervals. Pure functions of the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from ...calibration.arrays import Floats
from ...calibration.fitting.folds import numbered
from ...calibration.metrics.groups import jackknife, mean_share
from ...calibration.report.cells import Cell, PaperValue, Row
from ...calibration.report.paper_claims import MAX_UNREADABLE
from ..progress import counted
from ..run import Run, Step
from ..shares import mean_cell, share
from ..study_page import lost_items
from .chain import ANSWERS, DESCRIPTIONS, Answer, AnyItem, Item, to_label

# The score that needs no label.
EXACT = "exact"
Quality = Literal["copies", "unreadable", "own words"]


@dataclass(frozen=True, slots=True)
class Answered:
    """One text that was asked for. copied: its description recites the code. scores: as of `Item.scores`."""

    copied: bool
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scored(Generic[AnyItem]):
    """An item with its answers by arm. A score is known of all of its answers or of none.

    descriptions: by arm, what each of them is. unreadable, asked: of all answers, descriptions and code.
    """

    item: AnyItem
    answers: Mapping[str, Sequence[Answered]]
    descriptions: Mapping[str, Sequence[Quality]]
    unreadable: int = 0
    asked: int = 0

    def _known(self, arm: str, score: str, *, copies: bool) -> list[float]:
        found = (each for each in self.answers.get(arm, ()) if copies or not each.copied)
        return [each.scores[score] for each in found if score in each.scores]

    def mean(self, arm: str, score: str, *, copies: bool = True) -> float | None:
        """The mean over the answers of an arm; without copies over those whose description is none. None where nothing is known."""
        known = self._known(arm, score, copies=copies)
        return fmean(known) if known else None

    def any_of(self, arm: str, score: str, *, copies: bool = True) -> float | None:
        """Whether any of the answers got all."""
        known = self._known(arm, score, copies=copies)
        return float(1 in known) if known else None

    def lift(self, arm: str, baseline: str, score: str, *, copies: bool = True) -> float | None:
        """How much more one arm got than another."""
        one, other = self.mean(arm, score, copies=copies), self.mean(baseline, score)
        return None if one is None or other is None else one - other

    def share_of(self, arm: str, quality: Quality) -> float | None:
        """The share of the descriptions of an arm that are so."""
        found = self.descriptions.get(arm)
        return found.count(quality) / len(found) if found else None


def scored_in(run: Run, items: Sequence[AnyItem], step: Step, *, times: int = 1) -> list[Scored[AnyItem]]:
    """The items of a run that have answers, with their scores. Raises RunError.

    step: of the labels. times: how often code is written from each description.
    """
    described, answers, labels = (run.records(step).read() for step in (DESCRIPTIONS, ANSWERS, step))
    return scored(items, described, answers, labels, times=times)


def scored(
    items: Sequence[AnyItem], described: Sequence[Any], answers: Sequence[Any], labels: Sequence[Any], *, times: int = 1
) -> list[Scored[AnyItem]]:
    """The same of records. Before anything is judged there is no score, not even of answers that need no label."""
    descriptions = {record["id"]: record["descriptions"] for record in described}
    written = {record["id"]: record["answers"] for record in answers}
    known = {label["id"]: label for label in labels}
    judged = bool(known) or next(to_label(items, answers, lambda *_: True), None) is None
    return [
        _scored(item, descriptions.get(item.id, []), written[item.id], known, times, judged=judged) for item in items if item.id in written
    ]


def _scored(
    item: AnyItem, described: Sequence[Any], written: Sequence[Answer], labels: Mapping[str, Any], times: int, *, judged: bool
) -> Scored[AnyItem]:
    descriptions: dict[str, list[Quality]] = {}
    for each in described:
        descriptions.setdefault(each["arm"], []).append(_quality(item, each["arm"], each["text"]))
    found = list[tuple[str, bool, Mapping[str, float]]]()
    for one in written:
        name = None if one["text"] is None else item.label_id(one["arm"], one["text"])
        of = descriptions.get(one["arm"], [])[one["of"] : one["of"] + 1]
        found.append((one["arm"], of == ["copies"], item.scores(one["text"], labels.get(name or "", {}))))
    for arm, qualities in descriptions.items():
        # from a description that can't be read nothing is written
        found += [(arm, False, item.scores(None, {}))] * (qualities.count("unreadable") * times)
    names = set.intersection(*(set(scores) for *_, scores in found)) if found else set()
    if not judged:
        names &= {EXACT}
    answers: dict[str, list[Answered]] = {}
    for arm, copied, scores in found:
        answers.setdefault(arm, []).append(Answered(copied, {name: scores[name] for name in names}))
    unreadable = sum(each["text"] is None for each in (*described, *written))
    return Scored(item, answers, descriptions, unreadable, len(described) + len(written))


def _quality(item: Item, arm: str, text: str | None) -> Quality:
    return "unreadable" if text is None else "copies" if item.is_recited_by(arm, text) else "own words"


Number = Callable[[Any], float | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of means. name: at the end of its cells' ids; "" where it is the only one. sign: a difference of shares."""

    name: str
    title: str
    number: Number
    sign: bool = False


def mean_of(
    place: str,
    values: Sequence[float],
    groups: Sequence[str],
    by: str,
    *,
    sign: bool = False,
    paper: tuple[PaperValue, ...] = (),
    places: Sequence[str] = (),
) -> Cell:
    """The mean of shares, or with `sign` of differences of shares, at most 1 either way, with groups alone independent.

    places: of each value; then it is the mean over places of the mean in each: every data set counts alike, as in a paper's averages.
    """
    if places:
        cell = _mean_over_places(place, values, groups, by, places, sign=sign)
    elif sign:
        cell = mean_cell(place, values, groups, "no label", by=by)
    else:
        return share(place, values, groups, paper, "no label", by=by)
    low, high = (None if end is None else min(1.0, max(-1.0 if sign else 0.0, end)) for end in (cell.low, cell.high))
    return replace(cell, low=low, high=high, paper=paper)


def _mean_over_places(place: str, values: Sequence[float], groups: Sequence[str], by: str, places: Sequence[str], *, sign: bool) -> Cell:
    of_place, of_group = numbered(places), numbered(groups)
    width, count = int(of_place.max()) + 1, int(of_group.max()) + 1
    at = of_place * count + of_group
    sums = np.concatenate([np.bincount(at, weights, width * count).reshape(width, count) for weights in (np.ones(len(values)), values)])

    def statistic(of: Floats) -> Floats:
        return np.asarray((of[width:] / of[:width]).mean(axis=0))

    found = jackknife(sums.astype(np.float64), statistic)
    if found is not None and found.low == found.high and not sign:
        # nothing varies, which says less of other problems than an interval without width would
        found = mean_share(values, of_group)
    value = float(statistic(sums.sum(axis=1)[:, None])[0])
    low, high = (None, None) if found is None else (found.low, found.high)
    return Cell(place, value, low, high, len(values), count, by, percent=True, sign=sign)


def cells_of_row(
    place: str,
    items: Sequence[Scored[Any]],
    columns: Iterable[Column],
    by: str,
    *,
    paper: Callable[[str], tuple[PaperValue, ...]] = lambda _: (),
    by_place: bool = False,
) -> tuple[Cell, ...]:
    """The columns' means of some items. by: what is independent, their group, or with "item" each. paper: what is printed in a column."""
    cells = []
    for column in columns:
        known = [(each.item, value) for each in items if (value := column.number(each)) is not None]
        groups = [item.id if by == "item" else item.group for item, _ in known]
        name = f"{place}/{column.name}" if column.name else place
        places = [item.place for item, _ in known] if by_place else ()
        cells.append(mean_of(name, [value for _, value in known], groups, by, sign=column.sign, paper=paper(column.name), places=places))
    return tuple(cells)


def row_of(names: tuple[str, ...], place: str, items: Sequence[Scored[Any]], columns: Iterable[Column], by: str, **more: Any) -> Row:
    """A row of means. more: as of `cells_of_row`."""
    return Row(names, cells_of_row(place, items, columns, by, **more))


AnyScored = TypeVar("AnyScored")


def apart(items: Sequence[AnyScored], key: Callable[[AnyScored], str]) -> dict[str, list[AnyScored]]:
    """Items by what a key says of them, in their order."""
    found: dict[str, list[AnyScored]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


UNREADABLE = Column("unreadable", "unreadable answers", lambda each: each.unreadable / each.asked if each.asked else None)


def told_of_unreadable(items: Sequence[Scored[Any]], by: str) -> str:
    """A sentence, with a space behind it, where so many answers can't be read that this is to be told first; else nothing."""
    (cell,) = cells_of_row("", items, (UNREADABLE,), by)
    return f"{percent(cell)} of the answers can't be read, and count as failures. " if (cell.value or 0.0) > MAX_UNREADABLE else ""


def percent(cell: Cell) -> str:
    """A share in a sentence."""
    ends = "" if cell.low is None or cell.high is None else f" ({cell.low:.1%} to {cell.high:.1%})"
    return f"{cell.value or 0.0:.1%}{ends}"


def left_out(run: Run, items: Sequence[Scored[Any]], score: str, arm: str, steps: Sequence[Step]) -> Iterator[str]:
    """What is in no number: what was lost, in the chain or in further steps, and items without a score. Raises RunError."""
    yield from lost_items(sum(len(run.lost(step)) for step in (DESCRIPTIONS, ANSWERS, *steps)), "answer", "or labels lost")
    if unlabelled := sum(each.mean(arm, score) is None for each in items):
        yield f"{counted(unlabelled, 'item')} of which a text has no label."
