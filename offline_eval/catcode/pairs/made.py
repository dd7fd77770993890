"""What was made: pairs by data set, by kind and by rule, and why a rule gave none. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....calibration.report.blocks import Block, Bullets, Table
from ..paper import counts_of, marks_of
from .pair import KINDS, CodePair

# Reasons that are told of each rule, and the rest together.
MAX_REASONS = 4


def size_table(pairs: Sequence[CodePair], records: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Table 2: programs kept, equivalent pairs and others of each data set, and the paper's beside them.

    As in the paper the equivalent pairs are those of one rewrite and of two variants.
    """
    rows, notes = [], dict[str, None]()
    for data, (name, language) in _data_sets(pairs, records).items():
        of_it = [pair for pair in pairs if pair.data == data]
        programs = [record for record in records if (record["set"], record["language"]) == (name, language) and record["outcome"]]
        kept = sum(record["outcome"] == "passed" for record in programs)
        counts = (sum(pair.kind in ("1-eq", "2-eq") for pair in of_it), sum(pair.kind == "1-neq" for pair in of_it))
        printed = counts_of(name) if language == "java" else None
        theirs = ["–"] * 3
        if printed is not None:
            marks = [mark for column in ("eq", "neq") for mark in marks_of(f"T2/{name}/{column}")]
            theirs = [f"{printed[0]:,} of {printed[1]:,}", f"{printed[2]:,}", f"{printed[3]:,}{' *' if marks else ''}"]
            notes |= {f"* {name}: {mark.note}": None for mark in marks}
        kept_here = f"{kept:,} of {len(programs):,}" if programs else f"{len({pair.problem for pair in of_it}):,}"
        rows.append((data, kept_here, theirs[0], f"{counts[0]:,}", theirs[1], f"{counts[1]:,}", theirs[2], f"{len(of_it):,}"))
    columns = ("data", "programs kept", "paper", "equivalent: 1-eq and 2-eq", "paper", "not: 1-neq", "paper", "all pairs")
    table = Table("Programs and pairs (table 2)", columns, "lrrrrrrr", tuple(rows))
    told = (
        "Ours are confirmed by running: a program is kept where it passes its own test, an equivalent variant passes it, too, and one that "
        "is not equivalent compiles and fails it. The paper kept what compiles, and ran no pair.",
        *notes,
    )
    return [table, Bullets(told)]


def kinds_made(pairs: Sequence[CodePair]) -> Table:
    """How many pairs there are of each kind, by data set."""
    count = Counter((pair.data, pair.kind) for pair in pairs)
    sets = list(dict.fromkeys(pair.data for pair in pairs))
    rows = tuple((kind, *(f"{count[data, kind]:,}" for data in sets)) for kind in KINDS if any(count[data, kind] for data in sets))
    return Table("Pairs of each kind", ("kind", *sets), "l" + "r" * len(sets), rows)


def rules_made(pairs: Sequence[CodePair]) -> Table:
    """How many pairs of one rewrite there are by each rule, by data set."""
    alone = [pair for pair in pairs if pair.kind in ("1-eq", "1-neq")]
    count = Counter((pair.data, pair.rules[0]) for pair in alone)
    sets = list(dict.fromkeys(pair.data for pair in pairs))
    meanings = {pair.rules[0]: pair.equivalent for pair in alone}
    rows = tuple(
        (rule, "equivalent" if meanings[rule] else "not equivalent", *(f"{count[data, rule]:,}" for data in sets))
        for rule in sorted(meanings, key=lambda rule: (not meanings[rule], rule))
    )
    return Table("Pairs of one rewrite by rule", ("rule", "pairs", *sets), "ll" + "r" * len(sets), rows)


def refusals_table(records: Sequence[Mapping[str, Any]]) -> Table:
    """Why programs, and rules at programs, gave no pair, the commonest reasons first."""
    count = Counter((each["rule"] or "the program", each["reason"], _data(record)) for record in records for each in record["refusals"])
    rows, sets = list[tuple[str, ...]](), list(dict.fromkeys(map(_data, records)))
    for rule in sorted({rule for rule, _, _ in count}, key=lambda name: (name != "the program", name)):
        reasons = Counter[str]()
        for (which, reason, _), number in count.items():
            if which == rule:
                reasons[reason] += number
        common = [reason for reason, _ in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))]
        rows += [(rule, reason, *(f"{count[rule, reason, data]:,}" for data in sets)) for reason in common[:MAX_REASONS]]
        if rest := common[MAX_REASONS:]:
            numbers = (f"{sum(count[rule, reason, data] for reason in rest):,}" for data in sets)
            rows.append((rule, f"{len(rest)} other reasons", *numbers))
    return Table("Why a rule gave no pair", ("rule", "reason", *sets), "ll" + "r" * len(sets), tuple(rows))


def false_equivalents(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where the tests contradict a rule that keeps what a program does, for people."""
    return [
        f"{record['id']}: {each['rule']}: {each['reason']}"
        for record in records
        for each in record["refusals"]
        if each["rule"] and (each["reason"].startswith("the tests see a difference") or each["reason"] == "it does not compile")
    ]


def _data(record: Mapping[str, Any]) -> str:
    return f"{record['set']} {record['language']}"


def _data_sets(pairs: Sequence[CodePair], records: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    def names() -> Iterator[tuple[str, str]]:
        yield from ((record["set"], record["language"]) for record in records)
        yield from ((pair.set, pair.language) for pair in pairs)

    return {f"{name} {language}": (name, language) for name, language in names()}
