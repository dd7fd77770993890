"""The tables of the page: shares repaired, verification, and right lines. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...calibration.report.cells import Cell, CellTable, Row
from ...calibration.samples import Event
from ...suggestion.repair.gathering import by_gain_and_size
from ..counterfeit.shares import mean_cell, share
from .attempts import Attempt, Order, first_verified, is_verified, repaired_within, seen_tests
from .candidates import By

RANKS = (1, 3, 8)
EVENTS: Mapping[Event, str] = {"tests_pass": "passes", "exact_match": "exact"}
WHO: Mapping[By, str] = {"both": "both", "model": "the model alone", "rules": "rules alone"}
BUGS = {"all": "all", "rule": "by a rule", "model": "counterfeits", "quixbugs": "QuixBugs", "defects4j": "Defects4J"}
LOOP = "mutation and test"


def bugs_by_source(attempts: Sequence[Attempt]) -> Iterator[tuple[str, list[Attempt]]]:
    """The bugs of each source, and all of them where there are several."""
    sources = dict.fromkeys(attempt.source for attempt in attempts)
    if len(sources) > 1:
        yield "all", list(attempts)
    for source in sources:
        yield source, [attempt for attempt in attempts if attempt.source == source]


def repaired_table(attempts: Sequence[Attempt], by: str, order: Order | None = None) -> CellTable:
    """The share of bugs repaired within so many candidates. by: what is independent. order: by probability, where there is one."""
    rows = []
    for source, found in bugs_by_source(attempts):
        for who, name in WHO.items():
            rows.append(Row((BUGS[source], name), tuple(_repaired(f"A/{source}/{who}", found, who, by))))
        if order is not None:
            rows.append(Row((BUGS[source], "both, by probability"), tuple(_repaired(f"A/{source}/ordered", found, "both", by, order))))
        if loops := [attempt for attempt in found if attempt.loop is not None]:
            rows.append(Row((BUGS[source], LOOP), tuple(_looped(f"A/{source}/loop", loops, by))))
    columns = tuple(f"{said} at {rank}" for said in EVENTS.values() for rank in RANKS)
    notes = (
        "passes at k: one of the first k candidates passes every test that touches it; exact: one is the text before the bug.",
        f"{LOOP}: the rules' candidates in the order of the document, each tested until one passes; so it has seen all tests, and its one "
        "answer stands under 8.",
        "both, by probability: ordered by a calibrator that was fitted without the bug's project.",
    )
    return CellTable("A", "Bugs repaired within so many candidates", ("bugs", "by"), columns, tuple(rows), notes)


def _repaired(place: str, attempts: Sequence[Attempt], who: By, by: str, order: Order | None = None) -> Iterator[Cell]:
    for event, said in EVENTS.items():
        for rank in RANKS:
            told = [
                (repaired_within(each, ranked, event, rank), each.group)
                for each in attempts
                if event == "exact_match" or each.labels is not None
                for ranked in [each.ranked(who, order)]
                # else bugs with an unknown candidate would count where another one is right, and not where none is
                if all(each.is_right(one, event) is not None for one in ranked)
            ]
            known = [(float(hit), group) for hit, group in told if hit is not None]
            yield share(f"{place}/{said}/{rank}", [hit for hit, _ in known], [group for _, group in known], by=by)


def _looped(place: str, attempts: Sequence[Attempt], by: str) -> Iterator[Cell]:
    groups = [each.group for each in attempts]
    for said, name in (("passes", "passed"), ("exact", "exact")):
        for rank in RANKS:
            values = [float(each.loop[name]) for each in attempts if each.loop is not None]
            yield share(f"{place}/{said}/{rank}", values, groups, by=by) if rank == RANKS[-1] else Cell(f"{place}/{said}/{rank}", why="–")


def verified_table(attempts: Sequence[Attempt], by: str, seed: int) -> CellTable:
    """What verification by a part of the tests is worth, where two tests or more fail for the bug, so that one of them is held back."""
    rows = []
    several = [attempt for attempt in attempts if len(attempt.failing) >= 2]
    for source, found in bugs_by_source(several):
        for who, name in WHO.items():
            rows.append(Row((BUGS[source], name), tuple(_verified(f"V/{source}/{who}", found, who, by, seed))))
    columns = ("first candidate passes", "has a ✔", "first ✔ passes", "first ✔ is exact", "false ✔", "false ✔ of the first candidate")
    notes = (
        "✔: passes the tests that are seen: half of those that fail for the bug, one at least, and about half of the others that touch it.",
        "first ✔: the best candidate of 8 that has one; passes: the tests that were held back as well. Of bugs.",
        "false ✔: of first ones, those that fail a test that was held back.",
    )
    return CellTable("V", "Verified by a part of the tests", ("bugs", "by"), columns, tuple(rows), notes)


def _verified(place: str, attempts: Sequence[Attempt], who: By, by: str, seed: int) -> Iterator[Cell]:
    first, has, passing, exact, false, first_false = ([] for _ in range(6))
    for each in attempts:
        ranked, seen = each.ranked(who), seen_tests(each, seed)
        if any(each.is_right(one, "tests_pass") is None or is_verified(each, one, seen) is None for one in ranked):
            continue
        at = first_verified(each, ranked, seen)
        chosen = None if at is None else ranked[at]
        is_right = chosen is not None and bool(each.is_right(chosen, "tests_pass"))
        first.append((float(bool(ranked) and bool(each.is_right(ranked[0], "tests_pass"))), each.group))
        has.append((float(chosen is not None), each.group))
        passing.append((float(is_right), each.group))
        exact.append((float(chosen is not None and chosen["exact"]), each.group))
        if chosen is not None:
            false.append((float(not is_right), each.group))
        if at == 0:
            first_false.append((float(not is_right), each.group))
    parts = {"first": first, "has": has, "passes": passing, "exact": exact, "false": false, "first_false": first_false}
    for name, told in parts.items():
        yield share(f"{place}/{name}", [value for value, _ in told], [group for _, group in told], by=by)


def effort_table(attempts: Sequence[Attempt], by: str) -> CellTable:
    """How many candidates are tested until one passes, beside the loop without a model, at bugs that both repair."""
    rows = []
    for source, found in bugs_by_source([attempt for attempt in attempts if attempt.loop is not None]):
        pairs = [(_tried(each), each.loop, each.group) for each in found if each.loop is not None]
        both = [(tried, loop["tried"], loop["tests"], group) for tried, loop, group in pairs if tried is not None and loop["passed"]]
        groups = [group for *_, group in both]
        cells = (
            _count(f"E/{source}/ours", [tried for tried, *_ in both], groups, by),
            _count(f"E/{source}/loop", [tried for _, tried, *_ in both], groups, by),
            _count(f"E/{source}/tests", [loop["tests"] for _, loop, _ in pairs], [group for *_, group in pairs], by),
        )
        rows.append(Row((BUGS[source],), cells))
    columns = ("candidates tested, best first", f"candidates tested, {LOOP}", f"tests run by {LOOP}, all bugs")
    return CellTable("E", "Candidates tested until one passes, at bugs that both repair", ("bugs",), columns, tuple(rows))


def _tried(attempt: Attempt) -> int | None:
    ranked = attempt.ranked("both")
    return next((number for number, each in enumerate(ranked, 1) if attempt.is_right(each, "tests_pass")), None)


def _count(place: str, values: Sequence[float], groups: Sequence[str], by: str) -> Cell:
    found = mean_cell(place, values, groups, by=by)
    return Cell(place, found.value, found.low, found.high, found.n, found.groups, by, why=found.why)


def controls_table(controls: Sequence[Attempt], by: str) -> CellTable:
    """At right lines: how often the first repair breaks tests; all that are proposed, and those with a positive score."""
    rows = []
    for name, wanted in (("all", False), ("gain and size above 0", True)):
        told = []
        for each in controls:
            first = each.candidates[0] if each.candidates else None
            is_offered = first is not None and (not wanted or by_gain_and_size(first["measures"]) > 0)
            label = each.is_right(first, "tests_pass") if first is not None and is_offered else None
            told.append((is_offered, label, each.group))
        known = [(float(not label), group) for offered, label, group in told if offered and label is not None]
        cells = (
            share(f"C/{name}/offered", [float(offered) for offered, *_ in told], [group for *_, group in told], by=by),
            share(f"C/{name}/breaks", [broken for broken, _ in known], [group for _, group in known], by=by),
        )
        rows.append(Row((name,), cells))
    notes = ("A repair is proposed wherever it is asked for. The line is right, so none is needed: one that passes does the same.",)
    return CellTable("C", "The first repair at right lines", ("repairs",), ("lines with one", "it breaks tests"), tuple(rows), notes)
