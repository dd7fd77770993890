"""All failing tests of one file: a repair for each that can be mended, proven by the tests alone and together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ...suggestion.positions import Position, Range
from ...suggestion.repair.project_tests import Fault
from ...suggestion.repair.request import Repair
from ...suggestion.repair.verified import Verification, with_lines
from ..documents.documents import Document
from ..model.scheduler import Superseded
from .lines import MAX_LINES, Lines, lines_at
from .repairing import NoRepairs
from .work import RepairWork


@dataclass(frozen=True, slots=True)
class Mended:
    """Repairs of different lines, which together mend tests. failing: how many tests fail. lines: the first that are repaired."""

    repairs: tuple[Repair, ...]
    said: Verification
    failing: int
    lines: Lines

    @property
    def title(self) -> str:
        """For people."""
        return f"{len(self.said.mends)} of {self.failing} failing tests mended: {self.said.title}"


async def mended(work: RepairWork, document: Document, tell: Callable[[str], None]) -> Mended:
    """The repairs of a document that mend its failing tests, one for each place. Raises NoRepairs: with the reason where there is none."""
    faults = await _faults(work, document)
    text, chosen, tests = document.text, list[Repair](), set[str]()
    lines, said = None, Verification(None, 0, 0.0)
    for number, fault in enumerate(faults, 1):
        if fault.test in tests:
            continue
        tell(f"{number} of {len(faults)} failing tests: {fault.test.rpartition('::')[2]}")
        place = lines_at(document, Range(Position(fault.first - 1, 0), Position(fault.last, 0)), fault.why)
        repair = None if place is None else await _repair(work, place, tests, tell)
        if repair is None or any(_overlap(repair, other) for other in chosen):
            continue
        together = [*chosen, repair]
        judged = await work.verifications.judge(document.uri, text, with_all(text, together))
        if judged.passed and tests < set(judged.mends):
            chosen, said, tests, lines = together, judged, set(judged.mends), lines or place
    if lines is None:
        raise NoRepairs(f"{len(faults)} {'test fails' if len(faults) == 1 else 'tests fail'}, and nothing that was found mends one.")
    return Mended(tuple(chosen), said, len(faults), lines)


async def _faults(work: RepairWork, document: Document) -> Sequence[Fault]:
    """The failing tests. Raises NoRepairs where there are none, or it is not known."""
    if why := work.why_none(document):
        raise NoRepairs(why)
    if not work.session.settings.repair_verify:
        raise NoRepairs("Tests are not run (assay.repair.verify).")
    found = await work.verifications.faults(document.uri, document.text, MAX_LINES)
    if isinstance(found, str):
        raise NoRepairs(f"{found}.")
    if not found:
        raise NoRepairs("No test that runs this file fails.")
    return found


async def _repair(work: RepairWork, place: Lines, mended: Collection[str], tell: Callable[[str], None]) -> Repair | None:
    """The first repair that mends one more test and breaks none."""
    try:
        found = await work.found_for(place, tell, passing=1)
    except (NoRepairs, Superseded):
        return None
    known = {name for name, said in found.verifications.items() if said.passed and not set(said.mends) <= set(mended)}
    return next((repair for repair in found.repairs.found if repair.suggestion.id in known), None)


def _overlap(one: Repair, other: Repair) -> bool:
    a, b = one.suggestion.range, other.suggestion.range
    return a.start.line <= b.end.line and b.start.line <= a.end.line


def with_all(text: str, repairs: Sequence[Repair]) -> str:
    """The text with repairs of different lines made."""
    for repair in sorted(repairs, key=lambda each: -each.suggestion.range.start.line):
        text = with_lines(text, repair.suggestion)
    return text
