"""What was said of pairs: each question's vote and p(True), and rates of being right. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....calibration.report.cells import Cell, PaperValue
from ...counterfeit.problems.readings import voted
from ...counterfeit.shares import of_two_classes, share
from .pair import CodePair, Kind, Order
from .readings import answer_in, counts_in_paper, p_true

# How a pair was judged, as people are told.
VOTE, PROBABILITY = "vote", "p(True)"
WAYS = (VOTE, PROBABILITY)
KEYS: Mapping[str, str] = {VOTE: "vote", PROBABILITY: "probability"}
# Distance 1, as in the paper's figure 4: the two classes of local edits that a balanced accuracy is of.
LOCAL: tuple[Kind, ...] = ("1-eq", "1-neq")

Paper = tuple[PaperValue, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is said of a pair, asked in one order and read in one way.

    accepted: 1 True, 0 False, ½ a tie, None where no answer can be read. answers, unreadable, uncounted: how many were asked for, how many
    can't be read, and how many the paper's own code would not count.
    """

    pair: CodePair
    order: Order
    way: str
    accepted: float | None
    answers: int
    unreadable: int
    uncounted: int

    @property
    def credit(self) -> float:
        """1 where it is right, ½ at a tie, 0 where it is wrong or says nothing."""
        if self.accepted is None:
            return 0.0
        return self.accepted if self.pair.equivalent else 1 - self.accepted


def judgements_of(pairs: Sequence[CodePair], records: Iterable[Mapping[str, Any]]) -> list[Judgement]:
    """The judgements in both ways."""
    asked = {f"{pair.id}:{order}": (pair, order) for pair in pairs for order in pair.orders}
    found = []
    for record in records:
        if record["id"] not in asked:
            continue
        pair, order = asked[record["id"]]
        texts = [given["text"] for given in record["given"]]
        read = [answer_in(text) for text in texts]
        uncounted = sum(not counts_in_paper(text) for text in texts)
        found.append(Judgement(pair, order, VOTE, voted(read), len(read), read.count(None), uncounted))
        if "top" in record:
            p = p_true(record["top"])
            accepted = None if p is None else 0.5 if p == 0.5 else float(p > 0.5)
            found.append(Judgement(pair, order, PROBABILITY, accepted, 1, int(p is None), int(p is None)))
    return found


def by_way(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """The judgements of each way that there are some of."""
    found = {way: [each for each in judgements if each.way == way] for way in WAYS}
    return {way: of_it for way, of_it in found.items() if of_it}


def recall(place: str, found: Sequence[Judgement], paper: Paper = (), why: str = "none") -> Cell:
    """The share that is judged right, of pairs of one class: the paper calls it precision."""
    return share(place, [each.credit for each in found], [each.pair.problem for each in found], paper, why)


def two_classes(place: str, found: Sequence[Judgement], paper: Mapping[str, Paper] | None = None) -> tuple[Cell, ...]:
    """Recall of equivalent pairs, of others, balanced accuracy and J. paper: by the names `eq`, `neq`, `balanced` and `youden`."""
    printed = paper or {}
    right = [each.pair.equivalent for each in found]
    credit, problems = [each.credit for each in found], [each.pair.problem for each in found]
    return (
        recall(f"{place}/eq", [each for each in found if each.pair.equivalent], printed.get("eq", ())),
        recall(f"{place}/neq", [each for each in found if not each.pair.equivalent], printed.get("neq", ())),
        of_two_classes(f"{place}/balanced", right, credit, problems, 0.5, 0.0, printed.get("balanced", ())),
        of_two_classes(f"{place}/youden", right, credit, problems, 1.0, -1.0, printed.get("youden", ())),
    )


def unreadable(place: str, found: Sequence[Judgement], *, by_paper: bool = False) -> Cell:
    """The share of answers that can't be read. by_paper: that its own code would not count."""
    values = [(each.uncounted if by_paper else each.unreadable, each) for each in found]
    flat = [(float(n < bad), each.pair.problem) for bad, each in values for n in range(each.answers)]
    return share(place, [value for value, _ in flat], [problem for _, problem in flat])
