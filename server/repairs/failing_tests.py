"""All failing tests of one file: a repair for each that can be mended, proven by the tests alone and together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...suggestion.positions import Position, Range
from ...suggestion.repair.project_tests import Fault
from ...suggestion.repair.request import Repair
from ...suggestion.repair.verified import Verification, with_lines
from ..documents.documents import Document
from ..model.scheduler import Superseded
from .lines import MAX_LINES, Lines, lines_at
from .repairing import NoRepairs
from .work import CHANGED, RepairWork

# Whoever has a file repaired waits longer than for one line, and sees how far it is.
_MAX_MS = 60_000.0
_NONE = "Nothing that was found mends one."


@dataclass(frozen=True, slots=True)
class Mended:
    """Repairs of different lines, which together mend tests. lines: the first that are repaired."""

    repairs: tuple[Repair, ...]
    said: Verification
    lines: Lines

    @property
    def title(self) -> str:
        """For people."""
        count = len(self.said.mends)
        return f"{count} failing test{'s' if count > 1 else ''} mended: {self.said.title}"


async def mended(work: RepairWork, document: Document, tell: Callable[[str], None]) -> Mended:
    """The repairs of a document that mend its failing tests, one for each place. Raises NoRepairs: with the reason where there is none."""
    faults = await _faults(work, document)
    text, version = document.text, document.version
    chosen, tests, lines, said, why = list[Repair](), set[str](), None, Verification(None, 0, 0.0), ""
    for number, fault in enumerate(faults, 1):
        if fault.test in tests:
            continue
        tell(f"{number} of {len(faults)} failing tests: {fault.test.rpartition('::')[2]}")
        place = lines_at(document, Range(Position(fault.first - 1, 0), Position(fault.last, 0)), f"{fault.test}: {fault.why}")
        if place is None:
            continue
        try:
            repair = await _repair(work, place, fault.test, tell)
        except NoRepairs as error:
            repair, why = None, str(error)
        if document.version != version:
            raise NoRepairs(CHANGED)
        if repair is None:
            continue
        # one that mends more takes the place of those at its lines
        together = [*(other for other in chosen if not _overlap(repair, other)), repair]
        judged = await work.verifications.judge(document.uri, text, with_all(text, together))
        if judged.passed and tests < set(judged.mends):
            chosen, said, tests, lines = together, judged, set(judged.mends), lines or place
    if lines is None:
        failing = "1 test fails, and nothing that was found mends it." if len(faults) == 1 else f"{len(faults)} tests fail. {_NONE}"
        raise NoRepairs(why or failing)
    return Mended(tuple(chosen), said, lines)


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


async def _repair(work: RepairWork, place: Lines, test: str, tell: Callable[[str], None]) -> Repair | None:
    """The best repair that mends a test and breaks none: the first that mends all that touch its lines, if there is one in time.

    Raises NoRepairs.
    """

    def more(said: Sequence[Verification]) -> bool:
        return not any(each.passed and test in each.mends and not each.failing for each in said)

    try:
        found = await work.found_for(place, tell, more=more, max_ms=max(_MAX_MS, work.session.settings.repair_max_ms))
    except Superseded:
        raise NoRepairs("Another repair was asked for.") from None
    known = {name for name, said in found.verifications.items() if said.passed and test in said.mends}
    return next((repair for repair in found.repairs.found if repair.suggestion.id in known), None)


def _overlap(one: Repair, other: Repair) -> bool:
    a, b = one.suggestion.range, other.suggestion.range
    return a.start.line <= b.end.line and b.start.line <= a.end.line


def with_all(text: str, repairs: Sequence[Repair]) -> str:
    """The text with repairs of different lines made."""
    for repair in sorted(repairs, key=lambda each: -each.suggestion.range.start.line):
        text = with_lines(text, repair.suggestion)
    return text
