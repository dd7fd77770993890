"""What the answers of a run come to, beside the paper's cells: how each ended, means with intervals, and what descriptions are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Literal, Protocol, TypeVar

import numpy as np

from ....analysis.corpora.benchmarks import Language
from ....calibration.arrays import Floats
from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import jackknife, mean_share
from ....calibration.metrics.intervals import Interval
from ....calibration.report.cells import Cell, CellTable, Row
from ...rtc.scores import JAVA, PYTHON, Grouped, Mean, is_copy, mean_of
from ...rtc.tables import cell_of
from ..paper import paper
from .items import ARMS, Answers, Arm, Described, Item, Kind, Told, told_of
from .items import Description as SaidInWords
from .labelling import ENDINGS, Ending, Label, label_id
from .placing.registry import NAMES

# Words of a program that are no names, for what is a copy of it.
_KEYWORDS: Mapping[Language, frozenset[str]] = {"python": PYTHON, "java": JAVA}


Description = Literal["copies", "unreadable", "own words"]


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer. ending: None where it is not known. copied: it was written from a description that recites the code."""

    ending: Ending | None
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Scored:
    """An item with its answers, by how they were asked for. descriptions: what those of each kind are.
    judged: whether the run has labels at all; without, no share is told, not even of answers that need none.
    """

    id: str
    group: str
    set: str
    source: Language | None
    target: Language
    answers: Mapping[Arm, tuple[Answered, ...]]
    descriptions: Mapping[Arm, Sequence[Description]]
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

    def lift(self, arm: Arm, baseline: Arm) -> float | None:
        """How much more passes of one arm than of the other."""
        one, other = self.pass_at_1(arm), self.pass_at_1(baseline)
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


def _scored(item: Item, described: Sequence[SaidInWords], written: Answers, labels: Mapping[str, Ending | None], *, judged: bool) -> Scored:
    descriptions: dict[Arm, list[Description]] = {
        told: [_is(item, told, each["text"]) for each in described if each["told"] == told] for told in told_of(item.kind)
    }
    found = dict[Arm, list[Answered]]()
    for one in written["answers"]:
        ending: Ending | None = "unreadable"
        if one["text"] is not None:
            ending = labels.get(label_id(item, item.program(one["arm"], one["text"])))
        of = descriptions.get(one["arm"], [])
        found.setdefault(one["arm"], []).append(Answered(ending, of[one["of"] : one["of"] + 1] == ["copies"]))
    for arm, those in descriptions.items():
        # from a description that can't be read nothing is written
        if lost := those.count("unreadable"):
            found.setdefault(arm, []).extend([Answered("unreadable")] * lost)
    return Scored(
        id=item.id,
        group=item.group,
        set=item.set,
        source=item.source,
        target=item.target,
        answers={arm: tuple(each) for arm, each in found.items()},
        descriptions=descriptions,
        judged=judged,
    )


def _is(item: Item, told: Told, text: str | None) -> Description:
    if text is None:
        return "unreadable"
    return "copies" if is_copy(text, item.described_body(told), _KEYWORDS.get(item.target, JAVA)) else "own words"


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


BY = "problem"
ENDING_WORDS: Mapping[Ending, str] = {
    "passes": "passes",
    "wrong": "wrong",
    "crash": "crash",
    "time": "time",
    "does_not_compile": "does not compile",
    "unreadable": "no code in the answer",
}
ARM_WORDS: Mapping[Arm, str] = {
    "translation": "translated",
    "named": "described with names",
    "unnamed": "described without names",
    "header": "header alone",
    "completion": "completed",
}
SET_WORDS: Mapping[str, str] = {"humaneval": "HumanEval", "mbxp": "MBXP", "mathqa": "MathQA"}
_READ_OFF = (
    "The paper's numbers of this table are bars of Figure 5, read off to half a point. It has one answer to each problem, and no intervals."
)
_LEAK = (
    "With names, a description gives the name of the function, its arguments and types, as in the paper, and no header is shown. Without, "
    "the function has a neutral name in the code that is described and in the header that is shown, and in Python no types. The header "
    "alone, with its own name, tells how much the name gives away; the lift is what a description adds to that."
)
_COPIES = "Without copies: answers from descriptions that recite the code, which tell how well a model copies, are left out."
_ENDINGS = (
    "Crash: an exception, or the process ended. Wrong: a test's comparison failed. Time: more than the sandbox allows. The paper's Tables "
    "5 and 7 are pictures of error types without numbers."
)


def set_word(name: str) -> str:
    """A data set for people."""
    return SET_WORDS.get(name, name)


def names_of(item: Scored) -> tuple[str, str]:
    """Its data set and languages, for people."""
    languages = NAMES[item.target] if item.source in (None, item.target) else f"{NAMES[item.source]} to {NAMES[item.target]}"
    return set_word(item.set), languages


def translation_table(items: Sequence[Scored]) -> CellTable:
    """Table 4: pass@1 of each data set and pair of languages, and their mean."""
    rows = []
    for place, found in by_place(items).items():
        printed = paper().values(f"T4/{found[0].set}/*/{found[0].target}") if found[0].source == "java" else ()
        mean = mean_of(found, ended_as("translation"))
        rows.append(Row(names_of(found[0]), (cell_of(f"T4/{place}", mean, BY, paper_values=printed),)))
    mean = mean_of_places(items, ended_as("translation"))
    rows.append(Row(("mean", "of the rows above"), (cell_of("T4/mean", mean, BY, paper_values=paper().values("T4/mean/*/all")),)))
    return CellTable("T4", "Translation", ("data", "languages"), ("pass@1",), tuple(rows), (_READ_OFF,))


def reproduction_table(items: Sequence[Scored]) -> CellTable:
    """Table 6: pass@1 of what is written again from a description, with and without names and copies, and of the header alone."""
    rows = [
        Row(names_of(found[0]), _reproduced(f"T6/{place}", found, found[0].set, found[0].target))
        for place, found in by_place(items).items()
    ]
    for language in dict.fromkeys(item.target for item in items):
        of_language = [item for item in items if item.target == language]
        rows.append(Row(("mean of the sets", NAMES[language]), _reproduced(f"T6/mean/{language}", of_language, "mean", language)))
    columns = ("with names", "without copies", "without names", "without copies ", "header alone", "lift with names", "names minus none")
    return CellTable("T6", "Explained and reproduced", ("data", "language"), columns, tuple(rows), (_LEAK, _COPIES, _READ_OFF))


def _reproduced(place: str, items: Sequence[Scored], name: str, language: str) -> tuple[Cell, ...]:
    wanted: dict[str, tuple[Number, bool]] = {
        "named": (ended_as("named"), False),
        "named_without_copies": (lambda item: item.pass_at_1("named", copies=False), False),
        "unnamed": (ended_as("unnamed"), False),
        "unnamed_without_copies": (lambda item: item.pass_at_1("unnamed", copies=False), False),
        "header": (ended_as("header"), False),
        "lift": (lambda item: item.lift("named", "header"), True),
        "names": (lambda item: item.lift("named", "unnamed"), True),
    }
    cells = []
    for column, (number, sign) in wanted.items():
        mean = mean_of_places(items, number) if name == "mean" else mean_of(items, number, share=not sign)
        printed = paper().values(f"T6/{name}/*/{language}") if column == "named" else ()
        cells.append(cell_of(f"{place}/{column}", mean, BY, sign=sign, paper_values=printed))
    return tuple(cells)


def completion_table(items: Sequence[Scored]) -> CellTable:
    """pass@1 of recorded completions."""
    rows = [
        Row(names_of(found[0]), (cell_of(f"D/{place}", mean_of(found, ended_as("completion")), BY),))
        for place, found in by_place(items).items()
    ]
    return CellTable("D", "Completions", ("data", "language"), ("pass@1",), tuple(rows))


def ending_table(items: Sequence[Scored], kind: Kind) -> CellTable:
    """What Tables 5 and 7 show: the share of each ending."""
    rows = []
    for place, found in by_place(items).items():
        for arm in ARMS[kind]:
            if any(item.answers.get(arm) for item in found):
                cells = tuple(cell_of(f"E/{place}/{arm}/{ending}", mean_of(found, ended_as(arm, ending)), BY) for ending in ENDINGS)
                rows.append(Row((*names_of(found[0]), ARM_WORDS[arm]), cells))
    columns = tuple(ENDING_WORDS[ending] for ending in ENDINGS)
    return CellTable("E", "How answers end", ("data", "languages", "code"), columns, tuple(rows), (_ENDINGS,))


def description_table(items: Sequence[Scored]) -> CellTable:
    """What the descriptions are."""

    def share(what: Description, told: Told, item: Scored) -> float | None:
        found = item.descriptions.get(told)
        return found.count(what) / len(found) if found else None

    kinds: tuple[Description, ...] = ("copies", "unreadable")
    rows = [
        Row((ARM_WORDS[told],), tuple(cell_of(f"N/{told}/{kind}", mean_of(items, partial(share, kind, told)), BY) for kind in kinds))
        for told in told_of("explain")
    ]
    return CellTable("N", "The descriptions", ("programs",), ("recite the code", "can't be read"), tuple(rows))


def unreadable_of(items: Sequence[Scored]) -> Mean:
    """The share of answers without code in them."""

    def share(item: Scored) -> float | None:
        found = [each.ending == "unreadable" for answers in item.answers.values() for each in answers]
        return fmean(found) if found else None

    return mean_of(items, share)
