"""The tables of the study on pairs: by kind, class, rule, distance, data set and order. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....calibration.report.cells import Cell, CellTable, Row
from ...counterfeit.shares import difference_cell, mean_cell, share
from ..paper import of_kind, of_rules, of_two_kinds
from .judgements import KEYS, LOCAL, VOTE, Judgement, by_way, recall, two_classes, unreadable
from .pair import GLOBAL, KINDS, SAID

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
            rows.append(Row((way, name), two_classes(f"C/{KEYS[way]}/{_PLACES[name]}", of_it, printed)))
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
            rows.append(Row((way, data), two_classes(f"D/{KEYS[way]}/{data.replace(' ', '_')}", of_it)))
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
