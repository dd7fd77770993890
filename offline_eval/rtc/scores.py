"""What the round trips of a run come to: each item's scores, and their means with intervals. Pure functions of the records."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Protocol, TypeVar

import numpy as np

from ...calibration.fitting.folds import numbered
from ...calibration.metrics.groups import difference, mean, mean_share
from ...calibration.metrics.intervals import Interval
from ..answers import text_id
from .asking import Arm, Described, Item, Rebuilding, Rebuilt
from .labelling import Label

SHARE = 0.8

_STRING = r"""(?i:\b[rbuft]{1,2})?(?:'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")"""
_TOKEN = re.compile(rf"(?P<comment>\#[^\n]*)|(?P<string>{_STRING})|(?P<word>\w+(?:\.\d+)?)|(?P<sign>\S)", re.DOTALL)
_WORD = re.compile(r"\w+|[^\w\s]")
_QUOTES = re.compile(r"^(?i:[rbuft]{0,2})('''|\"\"\"|'|\")(.*)\1$", re.DOTALL)
# What is a keyword to Python's grammar, and a literal to whoever reads it.
_VALUES = frozenset(("True", "False", "None"))

PYTHON = frozenset(keyword.kwlist) - _VALUES
_OF_JAVA = (
    "abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for "
    "goto if implements import instanceof int interface long native new package private protected public return short static strictfp "
    "super switch synchronized this throw throws transient try void volatile while"
)
JAVA = frozenset(_OF_JAVA.split())

Words = tuple[str, ...]


def is_copy(description: str, code: str, keywords: Collection[str] = PYTHON) -> bool:
    """Whether a description recites the code. Of an empty code there is no copy. keywords: words of the code that are no names."""
    told = _WORD.findall(description)
    named = list(_names_and_literals(code, keywords))
    if named:
        return _in_order(named, told) >= SHARE * len(named)
    tokens = [text for _, text in _tokens(code)]
    return bool(tokens) and tokens == [text for _, text in _tokens(description)]


def _tokens(code: str) -> Iterator[tuple[str, str]]:
    for found in _TOKEN.finditer(code):
        if found.lastgroup and found.lastgroup != "comment":
            yield found.lastgroup, found.group()


def _names_and_literals(code: str, keywords: Collection[str]) -> Iterator[Words]:
    """Each as the words that it is written with; a string without its quotes."""
    for kind, text in _tokens(code):
        if kind == "string":
            quoted = _QUOTES.match(text)
            words = tuple(_WORD.findall(quoted[2] if quoted else text))
            if words:
                yield words
        elif kind == "word" and text not in keywords:
            yield tuple(_WORD.findall(text))


def _in_order(wanted: Sequence[Words], told: Sequence[str]) -> int:
    """How many of these stand in a text, in this order: their longest common subsequence, where one may take several words."""
    before = [0] * (len(told) + 1)
    for words in wanted:
        size, row = len(words), [0] * (len(told) + 1)
        for end in range(1, len(told) + 1):
            row[end] = max(row[end - 1], before[end])
            if end >= size and tuple(told[end - size : end]) == words:
                row[end] = max(row[end], before[end - size] + 1)
        before = row
    return before[-1]


SIMS = ("tests_pass", "exact", "bleu", "rouge")


@dataclass(frozen=True, slots=True)
class Answered:
    """One text that was asked for. copied: its description recites the code.

    sims: by name, how much of the code came back, from 0 to 1; nothing of what is unreadable. A name that is not known is not there.
    """

    copied: bool
    sims: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """An item. A similarity is known of all of its texts or of none: those that are the code itself need no label.

    trips: what was rebuilt from each description. baseline: from none. direct: from the docstring. characters: of the code.
    descriptions, copies: how many there are, and of these how many recite the code. answers, unreadable: of all steps.
    """

    id: str
    group: str
    characters: int
    trips: tuple[Answered, ...]
    baseline: tuple[Answered, ...]
    direct: tuple[Answered, ...]
    descriptions: int
    copies: int
    answers: int
    unreadable: int

    def rtc(self, sim: str, *, copies: bool = True) -> float | None:
        """The mean over its round trips; without copies over those whose description is none. None where nothing is known."""
        return _mean([trip for trip in self.trips if copies or not trip.copied], sim)

    def any_of(self, sim: str, *, copies: bool = True) -> float | None:
        """Whether any of its round trips got all."""
        found = [trip.sims[sim] == 1 for trip in self.trips if sim in trip.sims and (copies or not trip.copied)]
        return float(any(found)) if found else None

    def without(self, sim: str) -> float | None:
        """The mean over what was rebuilt without a description."""
        return _mean(self.baseline, sim)

    def lift(self, sim: str, *, copies: bool = True) -> float | None:
        """What the description adds."""
        rtc, without = self.rtc(sim, copies=copies), self.without(sim)
        return None if rtc is None or without is None else rtc - without

    def pass_at_1(self, sim: str) -> float | None:
        """The mean over what was written from the docstring."""
        return _mean(self.direct, sim)


def scored(
    items: Sequence[Item], described: Sequence[Described], rebuilt: Sequence[Rebuilt], labels: Sequence[Label], backward: int
) -> list[Scored]:
    """Each item that has been described and rebuilt."""
    told = {record["id"]: record["descriptions"] for record in described}
    made = {record["id"]: record["rebuilt"] for record in rebuilt}
    known = {label["id"]: label for label in labels}
    return [
        _scored(item, [each["text"] for each in told[item.id]], made[item.id], known, backward)
        for item in items
        if item.id in told and item.id in made
    ]


def _scored(item: Item, texts: Sequence[str | None], made: Sequence[Rebuilding], labels: Mapping[str, Label], backward: int) -> Scored:
    copied = [text is not None and is_copy(text, item.described) for text in texts]
    found: list[Mapping[str, Any]] = [
        labels.get(text_id(item.id, one["text"]), {}) for one in made if one["text"] is not None and not one["exact"]
    ]
    known = [sim for sim in SIMS if sim == "exact" or all(label.get(sim) is not None for label in found)]

    def of(arm: Arm) -> Iterator[Answered]:
        for one in made:
            if one["arm"] == arm:
                yield Answered(arm == "description" and copied[one["of"]], _sims(item, one, labels, known))

    lost = Answered(copied=False, sims=dict.fromkeys(known, 0.0))
    return Scored(
        id=item.id,
        group=item.group,
        characters=len(item.described),
        trips=(*of("description"), *(lost,) * (texts.count(None) * backward)),
        baseline=tuple(of("baseline")),
        direct=tuple(of("direct")),
        descriptions=len(texts),
        copies=sum(copied),
        answers=len(texts) + len(made),
        unreadable=texts.count(None) + sum(one["text"] is None for one in made),
    )


def _sims(item: Item, one: Rebuilding, labels: Mapping[str, Label], known: Sequence[str]) -> dict[str, float]:
    if one["text"] is None or one["exact"]:
        return dict.fromkeys(known, float(one["exact"]))
    label: Mapping[str, Any] = labels.get(text_id(item.id, one["text"]), {})
    return {sim: 0.0 if sim == "exact" else float(label[sim]) for sim in known}


def _mean(answers: Sequence[Answered], sim: str) -> float | None:
    known = [answer.sims[sim] for answer in answers if sim in answer.sims]
    return fmean(known) if known else None


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over items. found: None where no interval is defined. groups: what is independent."""

    value: float | None
    found: Interval | None
    n: int
    groups: int


class Grouped(Protocol):
    """What a mean is taken over. group: what alone is independent."""

    @property
    def id(self) -> str:
        """Its name."""
        ...

    @property
    def group(self) -> str:
        """Its group's name."""
        ...


AnyGrouped = TypeVar("AnyGrouped", bound=Grouped)


def mean_of(
    items: Sequence[AnyGrouped], number: Callable[[AnyGrouped], float | None], *, share: bool = True, by_item: bool = False
) -> Mean:
    """The mean of a number of each item that has one, with its interval by group, or by item.

    share: it is from 0 to 1, and so is the interval.
    """
    known = [(item, value) for item in items if (value := number(item)) is not None]
    if not known:
        return Mean(None, None, 0, 0)
    values = np.array([value for _, value in known])
    groups = numbered([item.id if by_item else item.group for item, _ in known])
    count = int(groups.max()) + 1
    found = (mean_share if share else mean)(values, groups) if count > 1 else None
    return Mean(float(values.mean()), found, len(values), count)


def longer_by(items: Sequence[Scored], sim: str, *, copies: bool = True) -> tuple[Mean, Mean, Mean]:
    """The mean characters of code that came back at least once, of other code, and the second minus the first."""
    known = [(item, any_of) for item in items if (any_of := item.any_of(sim, copies=copies)) is not None]
    sides = tuple(
        mean_of([item for item, any_of in known if bool(any_of) is came], lambda item: float(item.characters), share=False)
        for came in (True, False)
    )
    back, not_back = sides
    if back.value is None or not_back.value is None:
        return back, not_back, Mean(None, None, 0, 0)
    groups = numbered([item.group for item, _ in known])
    came, size = np.array([bool(any_of) for _, any_of in known]), np.array([float(item.characters) for item, _ in known])
    return back, not_back, Mean(not_back.value - back.value, difference(size, ~came, groups), len(known), int(groups.max()) + 1)


def unreadable_of(items: Sequence[Scored]) -> Mean:
    """The share of answers, descriptions and code, from which nothing could be read."""
    return mean_of(items, lambda item: item.unreadable / item.answers if item.answers else None)


def by_group(items: Sequence[Scored]) -> dict[str, list[Scored]]:
    """The items of each group, by name."""
    found: dict[str, list[Scored]] = {}
    for item in sorted(items, key=lambda item: item.group):
        found.setdefault(item.group, []).append(item)
    return found
