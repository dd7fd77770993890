"""Where a bug is, by the tests that fail for it: how often its line is among the first few, by spectrum, by surprise, and by both.

Lines that are alike in a ranking come in a random order: what is counted is how likely the bug's line is to be among the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...analysis.oracle.spectrum import Suspect
from ...calibration.report.cells import CellTable, Row
from ...suggestion.repair.localisation import MAX_LINES, TASK, by_spectrum_and_surprise, measures_of_lines
from ..counterfeit.shares import share
from .numbers import Numbers
from .tables import BUGS

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
