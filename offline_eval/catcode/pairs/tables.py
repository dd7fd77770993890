"""What was said of pairs, read and counted: by kind, class, rule, distance, data set and order. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....calibration.report.cells import Cell, CellTable, PaperValue, Row
from ....inference.asking.asker import last_block
from ...asked_model import p_of_first
from ...counterfeit.problems.readings import voted
from ...shares import difference_cell, mean_cell, share, two_classes
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


# Classes whose rates are told, each with its name in the id of a cell and its kinds.
CLASSES: Mapping[str, tuple[str, tuple[Kind, ...]]] = {
    "one rewrite": ("local", LOCAL),
    "all rewrites": ("rewrites", tuple(kind for kind in KINDS if kind not in (*GLOBAL, "identity"))),
    "programs that were drawn": ("global", GLOBAL),
}


def _of(found: Sequence[Judgement], *kinds: str) -> list[Judgement]:
    return [each for each in found if each.pair.kind in kinds]


def _kinds(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    for kind in KINDS:
        yield Row((way, kind, SAID[kind]), (recall(f"K/{KEYS[way]}/{kind}", _of(found, kind), of_kind(kind), "no such pair"),))


def _classes(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    for name, (place, kinds) in CLASSES.items():
        printed = of_two_kinds(*kinds) if len(kinds) == 2 else {}
        yield Row((way, name), rates_of(f"C/{KEYS[way]}/{place}", _of(found, *kinds), printed))


def _average(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    """The mean of the five bars of figure 4, as the paper says that its average is."""
    bars = [recall("", _of(found, kind)).value for kind in ("1-eq", "2-eq", "1-neq", *GLOBAL)]
    known = [value for value in bars if value is not None]
    mean = sum(known) / len(known) if len(known) == len(bars) else None
    yield Row((way,), (Cell(f"A/{KEYS[way]}", mean, percent=True, paper=of_kind("average"), why="not all five bars"),))


def _data(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    rewritten = _of(found, *CLASSES["all rewrites"][1])
    for data in dict.fromkeys(each.pair.data for each in found):
        place = f"D/{KEYS[way]}/{data.replace(' ', '_')}"
        yield Row((way, data), rates_of(place, [each for each in rewritten if each.pair.data == data]))


def _rules(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    alone = _of(found, *LOCAL)
    for rule in sorted({each.pair.rules[0] for each in alone}):
        of_it = [each for each in alone if each.pair.rules == (rule,)]
        meaning = "equivalent" if of_it[0].pair.equivalent else "not equivalent"
        yield Row((way, rule, meaning), (recall(f"R/{KEYS[way]}/{rule}", of_it),))


def _worst(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    """Table 3 has rules and pairs of rules, in either order."""
    kept = [each for each in _of(found, *LOCAL, "2-eq") if each.pair.language == "java"]
    for (data, rules), printed in of_rules().items():
        of_it = [each for each in kept if each.pair.set == data and tuple(sorted(each.pair.rules)) == rules]
        place = f"T3/{KEYS[way]}/{data}/{'+'.join(rules)}"
        yield Row((way, data, ", ".join(rules)), (recall(place, of_it, printed, "no such pair"),))


def _distances(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    for distance, kind in (("1", "1-eq"), ("2", "2-eq-chain"), ("3", "3-eq-chain")):
        yield Row((way, distance), (recall(f"N/{KEYS[way]}/{distance}", _of(found, kind), why="no such pair"),))
    yield Row((way, "1 minus 3"), (_difference(f"N/{KEYS[way]}/fall", found, "1-eq", "3-eq-chain"),))


def _orders(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    """(A, B) against (B, A): A is the source, or the first variant."""
    swapped = {each.pair.id: each for each in found if each.order == "ba"}
    for kind in KINDS:
        both = [(each, swapped[each.pair.id]) for each in _of(found, kind) if each.order == "ab" and each.pair.id in swapped]
        problems, place = [first.pair.problem for first, _ in both], f"O/{KEYS[way]}/{kind}"
        same = [float(first.accepted == second.accepted) for first, second in both]
        cells = mean_cell(f"{place}/difference", [a.credit - b.credit for a, b in both], problems), share(f"{place}/same", same, problems)
        if both:
            yield Row((way, kind), cells)


def _unreadable(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    """Answers that are neither True nor False, a class of their own."""
    for kind in ("all", *(kind for kind in KINDS if _of(found, kind))) if way == VOTE else ():
        of_it = found if kind == "all" else _of(found, kind)
        problems = [each.pair.problem for each in of_it for _ in range(each.answers)]
        here = [float(n < each.unreadable) for each in of_it for n in range(each.answers)]
        theirs = [float(n < each.uncounted) for each in of_it for n in range(each.answers)]
        yield Row((kind,), (share(f"U/{kind}/here", here, problems), share(f"U/{kind}/paper", theirs, problems)))


def _leans(way: str, found: Sequence[Judgement]) -> Iterator[Row]:
    """What the claims are about: which class is seen better, and whether a second rewrite hides anything."""
    lean, second = _difference(f"L/{KEYS[way]}/lean", found, *LOCAL), _difference(f"L/{KEYS[way]}/second", found, "2-eq", "1-eq")
    yield Row((way,), (lean, second))


def _difference(place: str, found: Sequence[Judgement], first: Kind, second: Kind) -> Cell:
    both = _of(found, first, second)
    return difference_cell(
        place, [each.credit for each in both], [each.pair.kind == first for each in both], [each.pair.problem for each in both]
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """A table, as `CellTable` has it. rows: of the judgements of one way."""

    title: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: Callable[[str, Sequence[Judgement]], Iterator[Row]]
    notes: tuple[str, ...] = ()


_RATES = ("recall of equivalent pairs", "recall of the others", "balanced accuracy", "J")
# By their ids, in the order of the page.
LAYOUTS: Mapping[str, Layout] = {
    "K": Layout("Kinds of pairs (figure 4)", ("how", "pairs", "what they are"), ("recall",), _kinds, (
        "Recall of a class: of pairs that do the same the share that is answered True, of the others the share that is answered False. The "
        "paper calls it precision.",
        "Both orders of a pair count. A tie is half right, and where no answer can be read the answer is wrong.",
    )),
    "C": Layout("Equivalent or not", ("how", "pairs"), _RATES, _classes, (
        "Balanced accuracy is the mean of both recalls, of which half is chance; J is their sum less one. The paper has three equivalent "
        "pairs for one that is not, and an average over them.",
    )),
    "A": Layout("The mean of the five bars (figure 4, Avg.)", ("how",), ("mean",), _average),
    "L": Layout("Differences of recall", ("how",), ("1-eq minus 1-neq", "2-eq minus 1-eq"), _leans),
    "R": Layout("By rule, one rewrite", ("how", "rule", "pairs"), ("recall",), _rules),
    "T3": Layout("The paper's worst rules, Java (table 3)", ("how", "data", "rules"), ("recall",), _worst),
    "N": Layout("By distance, chains of equivalent rewrites", ("how", "rewrites"), ("recall",), _distances),
    "D": Layout("By data set, all rewrites", ("how", "data"), _RATES, _data),
    "O": Layout("Order swapped", ("how", "pairs"), ("recall of (A, B) minus (B, A)", "the same answer in both orders"), _orders),
    "U": Layout(
        "Answers that are neither True nor False", ("pairs",), ("can't be read", "not counted by the paper's code"), _unreadable,
        ("The paper counts an answer only where it is the bare word: `False.`, which its prompt asks for, would not count.",),
    ),
}  # fmt: skip


def table(id: str, judgements: Sequence[Judgement]) -> CellTable:
    """A table of the page, of each way that there are judgements of."""
    of = LAYOUTS[id]
    rows = tuple(row for way, found in by_way(judgements).items() for row in of.rows(way, found))
    return CellTable(id, of.title, of.heads, of.columns, rows, of.notes)
