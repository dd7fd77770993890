"""Which lines the tests run that fail for a bug, and where its own line is among them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import TypedDict

from ....analysis.oracle.changes import with_statements
from ....analysis.oracle.oracle import Oracle
from ....analysis.oracle.spectrum import suspects
from ....suggestion.repair.localisation import MAX_LINES
from ...sets.lines import Place

Lines = Mapping[str, Mapping[int, Collection[str]]]


class Spectrum(TypedDict):
    """The lines that a test which fails for a bug runs.

    suspects: the first `MAX_LINES`, each file, line, failing and passing tests and Ochiai's coefficient. lines: how many there are.
    wrong: the numbers of the lines of the bug's statement. above, alike: how many lines are more suspicious than that statement, and how
    many as much, itself included; both 0 where no test was seen to run it.
    """

    suspects: list[tuple[str, int, int, int, float]]
    lines: int
    wrong: list[int]
    above: int
    alike: int


def spectrum_at(oracle: Oracle, place: Place, text: str, failing: Collection[str], known: Collection[str]) -> Spectrum:
    """The spectrum of one of the tests that fail for a bug at a place, as `assay why` is asked about one.

    The lines of that test are those that it runs with the bug; it may fail early. Those of the tests that pass are known of the project
    without it.

    text: the file with the bug, line by line that of the place. known: the tests of which it is known whether they fail. The others that
    run the line, and the others that fail, count neither way.
    """
    one = min(failing, key=lambda test: hashlib.sha256(test.encode()).digest())
    file, region = place.file, with_statements(place.text, range(place.line, place.line + 1))
    coverage = oracle.coverage()
    others = (coverage.touching(file, region) - frozenset(known)) | frozenset(failing)
    found = suspects(with_lines_of(one, coverage.tests, oracle.coverage_with(one, file, text).tests), [one], without=others)
    own = max((each.ochiai for each in found if each.file == file and each.line in region), default=None)
    return {
        "suspects": [(each.file, each.line, each.failing, each.passing, each.ochiai) for each in found[:MAX_LINES]],
        "lines": len(found),
        "wrong": [each.line for each in found if each.file == file and each.line in region],
        "above": 0 if own is None else sum(each.ochiai > own for each in found),
        "alike": 0 if own is None else sum(each.ochiai == own for each in found),
    }


def with_lines_of(test: str, tests: Lines, own: Lines) -> dict[str, dict[int, frozenset[str]]]:
    """The tests that run each line, by file, with the lines of one test as `own` has them; as they were where it has none of that test."""
    if not own:
        return {file: {line: frozenset(running) for line, running in by_line.items()} for file, by_line in tests.items()}
    without = {file: {line: frozenset(running) - {test} for line, running in by_line.items()} for file, by_line in tests.items()}
    for file, by_line in own.items():
        lines = without.setdefault(file, {})
        for line in by_line:
            lines[line] = lines.get(line, frozenset()) | {test}
    return without
