"""What was said of pairs, read and counted: by kind, class, rule, distance, data set and order. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....calibration.report.cells import Cell, CellTable, PaperValue, Row
from ....inference.asking.asker import last_block
from ...counterfeit.problems.readings import p_of_first, voted
from ...counterfeit.shares import difference_cell, mean_cell, share, two_classes
from ..paper import of_kind, of_rules, of_two_kinds
from .pair import GLOBAL, KINDS, SAID, CodePair, Kind, Order

# One word, perhaps with marks around it, or with a reason behind a full stop or on a line of its own.
_WORD = re.compile(r"[\s*`'\"(]*(true|false)[*`'\")]*(?:\s*|\s*[.,:;!\n].*)", re.IGNORECASE | re.DOTALL)


def answer_in(text: str) -> float | None:
    """1 for True and 0 for False, in the last complete answer tag, or of the whole text where no tag is opened."""
    found = _WORD.fullmatch(_answer(text) or "")
    return None if found is None else float(found[1].casefold() == "true")


def counts_in_paper(text: str) -> bool:
    """Whether the paper's own code counts the answer: it is nothing but the word, so that `False.`, which its prompt asks for, is not."""
    return (_answer(text) or "").strip().casefold() in ("true", "false")


def p_true(top: Sequence[tuple[str, float]]) -> float | None:
    """P(True) over P(True) + P(False), from the likeliest first tokens (text, log p) of the answer."""
    return p_of_first(top, ("true", "false"))


def _answer(text: str) -> str | None:
    block = last_block(text, "ANSWER")
    return text if block is None and "[ANSWER]" not in text else block


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


def rates_of(place: str, found: Sequence[Judgement], paper: Mapping[str, Paper] | None = None) -> tuple[Cell, ...]:
    """Recall of equivalent pairs, of others, balanced accuracy and J. paper: by the names `eq`, `neq`, `balanced` and `youden`."""
    equivalent, credit = [each.pair.equivalent for each in found], [each.credit for each in found]
    problems = [each.pair.problem for each in found]
    return tuple(two_classes(place, equivalent, credit, problems, paper, names=("eq", "neq", "balanced", "youden")))


def unreadable(place: str, found: Sequence[Judgement], *, by_paper: bool = False) -> Cell:
    """The share of answers that can't be read. by_paper: that its own code would not count."""
    values = [(each.uncounted if by_paper else each.unreadable, each) for each in found]
    flat = [(float(n < bad), each.pair.problem) for bad, each in values for n in range(each.answers)]
    return share(place, [value for value, _ in flat], [problem for _, problem in flat])


_RATES = ("recall of equivalent pairs", "recall of the others", "balanced accuracy", "J")
# Classes whose rates are told, each with its kinds.
CLASSES = {
    "one rewrite": LOCAL,
    "all rewrites": tuple(kind for kind in KINDS if kind not in (*GLOBAL, "identity")),
    "programs that were drawn": GLOBAL,
}
_PLACES = {"one rewrite": "local", "all rewrites": "rewrites", "programs that were drawn": "global"}


def kinds_table(judgements: Sequence[Judgement]) -> CellTable:
    """Figure 4: the share of each kind of pair that is judged right."""
    rows = []
    for way, found in by_way(judgements).items():
        for kind in KINDS:
            of_it = [each for each in found if each.pair.kind == kind]
            cells = (recall(f"K/{KEYS[way]}/{kind}", of_it, of_kind(kind), "no such pair"),)
            rows.append(Row((way, kind, SAID[kind]), cells))
    notes = (
        "Recall of a class: of pairs that do the same the share that is answered True, of the others the share that is answered False. The "
        "paper calls it precision.",
        "Both orders of a pair count. A tie is half right, and where no answer can be read the answer is wrong.",
    )
    return CellTable("K", "Kinds of pairs (figure 4)", ("how", "pairs", "what they are"), ("recall",), tuple(rows), notes)


def classes_table(judgements: Sequence[Judgement]) -> CellTable:
    """Both classes together, which the paper's average does not weigh alike."""
    rows = []
    for way, found in by_way(judgements).items():
        for name, kinds in CLASSES.items():
            of_it = [each for each in found if each.pair.kind in kinds]
            printed = of_two_kinds(*kinds) if len(kinds) == 2 else {}
            rows.append(Row((way, name), rates_of(f"C/{KEYS[way]}/{_PLACES[name]}", of_it, printed)))
    notes = (
        "Balanced accuracy is the mean of both recalls, of which half is chance; J is their sum less one. The paper has three equivalent "
        "pairs for one that is not, and an average over them.",
    )
    return CellTable("C", "Equivalent or not", ("how", "pairs"), _RATES, tuple(rows), notes)


def average_table(judgements: Sequence[Judgement]) -> CellTable:
    """The mean of the five bars of figure 4, as the paper says that its average is."""
    five = ("1-eq", "2-eq", "1-neq", *GLOBAL)
    rows = []
    for way, found in by_way(judgements).items():
        bars = [recall("", [each for each in found if each.pair.kind == kind]).value for kind in five]
        known = [value for value in bars if value is not None]
        mean = sum(known) / len(known) if len(known) == len(five) else None
        rows.append(Row((way,), (Cell(f"A/{KEYS[way]}", mean, percent=True, paper=of_kind("average"), why="not all five bars"),)))
    return CellTable("A", "The mean of the five bars (figure 4, Avg.)", ("how",), ("mean",), tuple(rows))


def data_table(judgements: Sequence[Judgement]) -> CellTable:
    """By data set: pairs that one rewrite made."""
    rows = []
    for way, found in by_way(judgements).items():
        for data in dict.fromkeys(each.pair.data for each in found):
            of_it = [each for each in found if each.pair.data == data and each.pair.kind in CLASSES["all rewrites"]]
            rows.append(Row((way, data), rates_of(f"D/{KEYS[way]}/{data.replace(' ', '_')}", of_it)))
    return CellTable("D", "By data set, all rewrites", ("how", "data"), _RATES, tuple(rows))


def rules_table(judgements: Sequence[Judgement]) -> CellTable:
    """Each rule alone: pairs of a program and its variant by that rule."""
    rows = []
    for way, found in by_way(judgements).items():
        alone = [each for each in found if each.pair.kind in LOCAL]
        for rule in sorted({each.pair.rules[0] for each in alone}):
            of_it = [each for each in alone if each.pair.rules == (rule,)]
            meaning = "equivalent" if of_it[0].pair.equivalent else "not equivalent"
            rows.append(Row((way, rule, meaning), (recall(f"R/{KEYS[way]}/{rule}", of_it),)))
    return CellTable("R", "By rule, one rewrite", ("how", "rule", "pairs"), ("recall",), tuple(rows))


def worst_table(judgements: Sequence[Judgement]) -> CellTable:
    """Table 3: the paper's worst rules and pairs of rules, with ours beside."""
    rows = []
    for way, found in by_way(judgements).items():
        kept = [each for each in found if each.pair.kind in (*LOCAL, "2-eq") and each.pair.language == "java"]
        for (data, rules), printed in of_rules().items():
            of_it = [each for each in kept if each.pair.set == data and tuple(sorted(each.pair.rules)) == rules]
            place = f"T3/{KEYS[way]}/{data}/{'+'.join(rules)}"
            rows.append(Row((way, data, ", ".join(rules)), (recall(place, of_it, printed, "no such pair"),)))
    return CellTable("T3", "The paper's worst rules, Java (table 3)", ("how", "data", "rules"), ("recall",), tuple(rows))


def distance_table(judgements: Sequence[Judgement]) -> CellTable:
    """Equivalent chains of one to three rewrites."""
    chains = {"1": ("1-eq",), "2": ("2-eq-chain",), "3": ("3-eq-chain",)}
    rows = []
    for way, found in by_way(judgements).items():
        for distance, kinds in chains.items():
            of_it = [each for each in found if each.pair.kind in kinds]
            rows.append(Row((way, distance), (recall(f"N/{KEYS[way]}/{distance}", of_it, why="no such pair"),)))
        near = [each.pair.kind == "1-eq" for each in found if each.pair.kind in ("1-eq", "3-eq-chain")]
        both = [each for each in found if each.pair.kind in ("1-eq", "3-eq-chain")]
        fall = difference_cell(f"N/{KEYS[way]}/fall", [each.credit for each in both], near, [each.pair.problem for each in both])
        rows.append(Row((way, "1 minus 3"), (fall,)))
    return CellTable("N", "By distance, chains of equivalent rewrites", ("how", "rewrites"), ("recall",), tuple(rows))


def order_table(judgements: Sequence[Judgement]) -> CellTable:
    """(A, B) against (B, A): A is the source, or the first variant."""
    rows = []
    for way, found in by_way(judgements).items():
        for kind in KINDS:
            both = list(_both_orders([each for each in found if each.pair.kind == kind]))
            problems = [first.pair.problem for first, _ in both]
            place = f"O/{KEYS[way]}/{kind}"
            same = [float(first.accepted == second.accepted) for first, second in both]
            cells = (
                mean_cell(f"{place}/difference", [a.credit - b.credit for a, b in both], problems),
                share(f"{place}/same", same, problems),
            )
            if both:
                rows.append(Row((way, kind), cells))
    columns = ("recall of (A, B) minus (B, A)", "the same answer in both orders")
    return CellTable("O", "Order swapped", ("how", "pairs"), columns, tuple(rows))


def unreadable_table(judgements: Sequence[Judgement]) -> CellTable:
    """Answers that are neither True nor False, a class of their own."""
    found, rows = by_way(judgements).get(VOTE, []), []
    for kind in ("all", *(kind for kind in KINDS if any(each.pair.kind == kind for each in found))):
        of_it = [each for each in found if kind in ("all", each.pair.kind)]
        rows.append(Row((kind,), (unreadable(f"U/{kind}/here", of_it), unreadable(f"U/{kind}/paper", of_it, by_paper=True))))
    notes = ("The paper counts an answer only where it is the bare word: `False.`, which its prompt asks for, would not count.",)
    columns = ("can't be read", "not counted by the paper's code")
    return CellTable("U", "Answers that are neither True nor False", ("pairs",), columns, tuple(rows), notes)


def lean_table(judgements: Sequence[Judgement]) -> CellTable:
    """What the claims are about: which class is seen better, and whether a second rewrite hides anything."""
    rows = []
    for way, found in by_way(judgements).items():
        local = [each for each in found if each.pair.kind in LOCAL]
        two = [each for each in found if each.pair.kind in ("1-eq", "2-eq")]
        cells = (
            _difference(f"L/{KEYS[way]}/lean", local, [each.pair.equivalent for each in local]),
            _difference(f"L/{KEYS[way]}/second", two, [each.pair.kind == "2-eq" for each in two]),
        )
        rows.append(Row((way,), cells))
    columns = ("1-eq minus 1-neq", "2-eq minus 1-eq")
    return CellTable("L", "Differences of recall", ("how",), columns, tuple(rows))


def _difference(place: str, found: Sequence[Judgement], first: Sequence[bool]) -> Cell:
    return difference_cell(place, [each.credit for each in found], first, [each.pair.problem for each in found])


def _both_orders(found: Sequence[Judgement]) -> Iterator[tuple[Judgement, Judgement]]:
    swapped = {each.pair.id: each for each in found if each.order == "ba"}
    for each in found:
        if each.order == "ab" and each.pair.id in swapped:
            yield each, swapped[each.pair.id]
