"""The tables of the page: shares repaired, verification, right lines, numbers that are held out, and where the bug is. Pure functions.

Lines that are alike in a ranking come in a random order: what is counted is how likely the bug's line is to be among the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...analysis.oracle.spectrum import Suspect
from ...calibration.evidence import Evidence, evidence_of
from ...calibration.fitting.checks import FitError
from ...calibration.fitting.fit import fit
from ...calibration.fitting.folds import MIN_GROUPS, numbered
from ...calibration.report.cells import Cell, CellTable, Row, with_interval
from ...calibration.samples import Event, Sample
from ...suggestion.repair.gathering import by_gain_and_size
from ...suggestion.repair.localisation import MAX_LINES, TASK, by_spectrum_and_surprise, measures_of_lines
from ..shares import share
from .candidates import MAX_S, Attempt, By, first_verified, is_verified, repaired_within, sample_id, seen_tests

# Only the interval of the calibration error takes resamples, and it is not printed.
_FEW = 20


@dataclass(frozen=True, slots=True)
class Numbers:
    """The held-out probabilities of an event, by the samples' ids. why: there are none, and why not."""

    event: Event
    evidence: Evidence | None
    probabilities: Mapping[str, float]
    by: str = ""
    why: str = ""


def numbers_of(samples: Sequence[Sample], event: Event, features: Sequence[str]) -> Numbers:
    """Fit to the samples of which the event is known."""
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    try:
        found = fit(known, event, features, resamples=_FEW)
    except FitError as error:
        return Numbers(event, None, {}, why=str(error))
    said = {sample.id: float(p) for sample, p in zip(found.samples, found.held_out, strict=True)}
    return Numbers(event, found.calibrator.evidence, said, found.calibrator.fitted_on.grouped_by)


def verified_samples(samples: Sequence[Sample], bugs: Sequence[Attempt], seed: int) -> list[Sample]:
    """The repairs that pass the tests that are seen: whether they pass all is what a ✔ is worth. Of bugs with a test that is held back."""
    ids = {
        sample_id(each.id, one)
        for each in bugs
        if len(each.failing) >= 2
        for seen in [seen_tests(each, seed)]
        for one in each.ranked("both")
        if is_verified(each, one, seen)
    }
    return [sample for sample in samples if sample.id in ids]


def of_source(numbers: Numbers, samples: Sequence[Sample], source: str) -> Numbers:
    """The same probabilities, judged on the bugs of one source alone. samples: their ids are PLACE:SOURCE:RANK."""
    part = [each for each in samples if each.id in numbers.probabilities and each.id.rsplit(":", 2)[1] == source]
    groups = numbered([each.project for each in part])
    if len(set(groups.tolist())) < MIN_GROUPS:
        return replace(numbers, evidence=None, probabilities={}, why=f"fewer than {MIN_GROUPS} projects")
    p = np.array([numbers.probabilities[each.id] for each in part], dtype=np.float64)
    y = np.array([bool(each.labels[numbers.event]) for each in part], dtype=np.bool_)
    return replace(numbers, evidence=evidence_of(p, y, groups, _FEW, 0))


def numbers_table(numbers: Mapping[str, Numbers]) -> CellTable:
    """Skill, AUC and smooth calibration error, by what the numbers are of."""
    rows = []
    for name, each in numbers.items():
        place, found = f"N/{name.replace(' ', '_')}", each.evidence
        if found is None:
            rows.append(Row((name,), tuple(Cell(f"{place}/{part}", why=each.why) for part in ("rate", "skill", "auc", "smooth"))))
            continue
        counts = {"n": found.n, "groups": found.groups, "grouped_by": each.by}
        cells = (
            Cell(f"{place}/rate", found.base_rate, percent=True, **counts),  # type: ignore[arg-type]
            with_interval(f"{place}/skill", found.skill, found.n, found.groups, each.by),
            with_interval(f"{place}/auc", found.auc, found.n, found.groups, each.by),
            Cell(f"{place}/smooth", found.smooth_ece.value, noise_floor=found.smooth_ece.noise_floor, **counts),  # type: ignore[arg-type]
        )
        rows.append(Row((name,), cells))
    columns = ("base rate", "skill", "AUC", "smooth calibration error")
    notes = (
        "Of repairs: of each among the first 8 of a bug that has a score; with a ✔: that passes the tests that are seen. Of lines: of each "
        "suspect of a failure.",
        "Each project is judged by a map that was fitted without it.",
    )
    return CellTable("N", "Numbers, held out", ("of",), columns, tuple(rows), notes)


RANKS = (1, 3, 8)
EVENTS: Mapping[Event, str] = {"tests_pass": "passes", "exact_match": "exact"}
WHO: Mapping[By, str] = {"both": "both", "model": "the model alone", "rules": "rules alone"}
BUGS = {
    "all": "all",
    "rule": "by a rule",
    "model": "counterfeits",
    "commit": "of commits",
    "quixbugs": "QuixBugs",
    "defects4j": "Defects4J",
}
SEARCH, LOOP = "both, tested in turn", "mutation and test"


def bugs_by_source(attempts: Sequence[Attempt]) -> Iterator[tuple[str, list[Attempt]]]:
    """The bugs of each source, and all of them where there are several."""
    sources = dict.fromkeys(attempt.source for attempt in attempts)
    if len(sources) > 1:
        yield "all", list(attempts)
    for source in sources:
        yield source, [attempt for attempt in attempts if attempt.source == source]


def repaired_table(attempts: Sequence[Attempt], by: str) -> CellTable:
    """The share of bugs repaired within so many candidates. by: what is independent."""
    rows = []
    for source, found in bugs_by_source(attempts):
        for who, name in WHO.items():
            rows.append(Row((BUGS[source], name), tuple(_repaired(f"A/{source}/{who}", found, who, by))))
        for part, name, records in (("search", SEARCH, [each.search for each in found]), ("loop", LOOP, [each.loop for each in found])):
            tested = [(record, each.group) for record, each in zip(records, found, strict=True) if record is not None]
            if tested:
                rows.append(Row((BUGS[source], name), tuple(_tested(f"A/{source}/{part}", tested, by))))
    columns = tuple(f"{said} at {rank}" for said in EVENTS.values() for rank in RANKS)
    notes = (
        "passes at k: one of the first k candidates passes every test that touches it; exact: one is the text before the bug.",
        f"{SEARCH}: all that is proposed, in its order, tested until one passes; {LOOP}: the rules' candidates in the order of the "
        f"document, likewise. Each has {MAX_S:.0f} s and sees all tests. Tests run while the model proposes, as if each had a core.",
    )
    return CellTable("A", "Bugs repaired within so many candidates", ("bugs", "by"), columns, tuple(rows), notes)


def _repaired(place: str, attempts: Sequence[Attempt], who: By, by: str) -> Iterator[Cell]:
    for event, said in EVENTS.items():
        for rank in RANKS:
            told = [
                (repaired_within(each, ranked, event, rank), each.group)
                for each in attempts
                if event == "exact_match" or each.labels is not None
                for ranked in [each.ranked(who)]
                # else bugs with an unknown candidate would count where another one is right, and not where none is
                if all(each.is_right(one, event) is not None for one in ranked)
            ]
            known = [(float(hit), group) for hit, group in told if hit is not None]
            yield share(f"{place}/{said}/{rank}", [hit for hit, _ in known], [group for _, group in known], by=by)


def _tested(place: str, tested: Sequence[tuple[Mapping[str, Any], str]], by: str) -> Iterator[Cell]:
    groups = [group for _, group in tested]
    for said, name in (("passes", "passed"), ("exact", "exact")):
        values = [float(record[name]) for record, _ in tested]
        for rank in RANKS:
            yield share(f"{place}/{said}/{rank}", values, groups, by=by) if rank == RANKS[0] else Cell(f"{place}/{said}/{rank}", why="–")


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


TOPS = (1, 3, 5)
_COLUMNS = tuple(f"top {k}" for k in TOPS)


@dataclass(frozen=True, slots=True)
class Fault:
    """The failure of a bug.

    suspects: the first lines by spectrum, and measures, theirs. wrong: for each whether it is of the bug's statement. above, alike, of: of
    all lines, not these alone: more suspicious ones, those alike, and how many of these are of the statement.
    """

    id: str
    group: str
    source: str
    suspects: Sequence[Suspect]
    measures: Sequence[Mapping[str, float]]
    wrong: Sequence[bool]
    above: int
    alike: int
    of: int

    def sample(self, number: int) -> str:
        """The id of a suspect's sample."""
        return f"{self.id}:{TASK}:{number}"


def fault_of(name: str, group: str, file: str, bug: Mapping[str, Any], surprises: Sequence[float | None]) -> Fault:
    """The failure of a bug, from its records. file: as the oracle names it."""
    spectrum = bug["spectrum"]
    found = [Suspect(*each) for each in spectrum["suspects"]]
    told = {(each.file, each.line): said for each, said in zip(found, surprises, strict=True) if said is not None}
    lines = set(spectrum["wrong"])
    wrong = [each.file == file and each.line in lines for each in found]
    measures = measures_of_lines(found, told)
    top = max((each.ochiai for each, is_wrong in zip(found, wrong, strict=True) if is_wrong), default=None)
    alike = sum(is_wrong and each.ochiai == top for each, is_wrong in zip(found, wrong, strict=True)) or len(lines)
    of = max(1, min(alike, spectrum["alike"]))
    return Fault(name, group, bug["source"], found, measures, wrong, spectrum["above"], spectrum["alike"], of)


def generations_of(fault: Fault) -> Iterator[dict[str, Any]]:
    """A sample of each suspect: `exact_match` says that it is the line of the bug."""
    for number, (suspect, measures, wrong) in enumerate(zip(fault.suspects, fault.measures, fault.wrong, strict=True), 1):
        place = f"{suspect.file}:{suspect.line}"
        labels = {"exact_match": wrong, "tests_pass": None}
        yield {"id": fault.sample(number), "task": TASK, "text": place, "inserted": place, "measures": measures, "labels": labels}


def chance_within(above: int, alike: int, of: int, most: int) -> float:
    """How likely one of `of` lines is among the first `most`, where `above` lines come before the `alike` that they are of."""
    left = min(most - above, alike)
    if left <= 0 or not of or not alike:
        return 0.0
    return 1 - math.comb(alike - of, left) / math.comb(alike, left) if alike - of >= left else 1.0


def chance_by(scores: Sequence[float], wrong: Sequence[bool], most: int) -> float:
    """The same by scores, the highest first."""
    own = max((score for score, is_wrong in zip(scores, wrong, strict=True) if is_wrong), default=None)
    if own is None:
        return 0.0
    alike = [is_wrong for score, is_wrong in zip(scores, wrong, strict=True) if score == own]
    return chance_within(sum(score > own for score in scores), len(alike), sum(alike), most)


def faults_table(faults: Sequence[Fault], by: str, numbers: Numbers) -> CellTable:
    """How often the line of the bug is among the first. numbers: the held-out probabilities of the suspects."""
    rows = []
    sources = dict.fromkeys(fault.source for fault in faults)
    for source in ("all", *sources) if len(sources) > 1 else sources:
        found = [fault for fault in faults if source in ("all", fault.source)]
        groups = [fault.group for fault in found]
        for name, said in (("spectrum", "spectrum alone (Ochiai)"), ("model", "surprise alone"), ("both", "spectrum and surprise"),
                           *((("number", "by probability, held out"),) if numbers.probabilities else ())):  # fmt: skip
            cells = [
                share(f"F/{source}/{name}/{most}", [_chance(fault, name, most, numbers) for fault in found], groups, by=by) for most in TOPS
            ]
            rows.append(Row((BUGS[source], said), tuple(cells)))
    notes = (
        f"Of the lines that the failing tests run; the model is asked about the {MAX_LINES} most suspicious by spectrum alone.",
        "What the failing test runs is known with the bug, what passing tests run without it. Lines alike come in a random order.",
    )
    return CellTable("F", "The bug's line among the first", ("bugs", "lines ranked by"), _COLUMNS, tuple(rows), notes)


def _chance(fault: Fault, name: str, most: int, numbers: Numbers) -> float:
    match name:
        case "spectrum":
            return chance_within(fault.above, fault.alike, fault.of, most)
        case "model":
            scores = [measures["line_surprise"] for measures in fault.measures]
        case "both":
            scores = [by_spectrum_and_surprise(measures) for measures in fault.measures]
        case _:
            scores = [numbers.probabilities.get(fault.sample(number), 0.0) for number in range(1, len(fault.suspects) + 1)]
    return chance_by(scores, fault.wrong, most)
