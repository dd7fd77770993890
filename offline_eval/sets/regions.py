"""Regions of a project's code that its tests execute, drawn by a seed.

Regions (`analysis.python.regions`, the sampler of round-trip correctness) are drawn from the whole project in one seeded order, so that any
number of the first of them is a fair sample. At each the model is asked in up to four ways:

    line          a random line of the region; the cursor stands where its code begins
    line_rest     from a random place inside that line to its end
    line_middle   from a random place inside a bracket pair of it up to the closing bracket, which stays
    block         the whole region, where it is longer than a line
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...analysis.oracle.oracle import NotJudged, Oracle
from ...analysis.python.lines import Gap, Line, UnreadableSource, middle, rest, whole
from ...analysis.python.regions import Region, candidates, drawn, weights
from ...analysis.python.statements import parse_statements
from ...inference.completion.task import Task

TASKS: tuple[Task, ...] = ("line", "line_rest", "line_middle", "block")


@dataclass(frozen=True, slots=True)
class Place:
    """A region of a file and the line of it that is asked for.

    id: file, first line and length, the same in each run on the same code. tests: how many touch the region.
    """

    id: str
    file: str
    region: Region
    line: Line | None
    tests: int


def regions_of(oracle: Oracle, seed: int) -> list[tuple[str, Region]]:
    """Every region of the project that can be asked for, with its file, in the order in which they are asked for."""
    found: list[tuple[str, Region]] = []
    weighted: list[float] = []
    for file in oracle.files():
        try:
            source = oracle.source(file)
            # what runs at import is judged by the whole suite alone
            lines = oracle.covered(file).keys() - oracle.coverage().imported.get(file, frozenset())
            regions = candidates(source, eligible_lines=lines)
        except (UnreadableSource, NotJudged):
            continue  # code for another Python
        found += [(file, region) for region in regions]
        weighted += weights(source, regions)
    return [found[i] for i in drawn(weighted, f"{seed}", len(found))]


def places_of(oracle: Oracle, regions: Sequence[tuple[str, Region]], seed: int) -> Iterator[Place]:
    """The places of these regions, made as they are taken. Regions overlap: one whose line another has is left out."""
    asked: set[tuple[str, int]] = set()
    for file, region in regions:
        place = _place(file, oracle.source(file), region, oracle, seed)
        if place.line is None or (file, place.line.start) not in asked:
            if place.line is not None:
                asked.add((file, place.line.start))
            yield place


def _place(file: str, source: str, region: Region, oracle: Oracle, seed: int) -> Place:
    name = f"{file}:{region.first_line}+{region.end - region.start}"
    covered = oracle.covered(file)
    touching = frozenset().union(*(covered.get(line, frozenset()) for line in range(region.first_line, region.last_line + 1)))
    return Place(name, file, region, _line_of(source, region, f"{seed}:{name}"), len(touching))


def _line_of(source: str, region: Region, seed: str) -> Line | None:
    """One random line of a region that has code: no blank one, no comment, none inside a string that began above."""
    inside = parse_statements(source).continued
    lines, start = [], source.rfind("\n", 0, region.start) + 1
    for number in range(region.first_line, region.last_line + 1):
        end = source.find("\n", start)
        end = len(source) if end < 0 else end
        text = source[start:end].strip()
        if text and not text.startswith("#") and number not in inside:
            lines.append(Line(region.function, start, end))
        start = end + 1
    return random.Random(f"{seed}:line").choice(lines) if lines else None


def gaps_of(source: str, place: Place, tasks: Sequence[Task], seed: int) -> dict[Task, Gap]:
    """What is taken out for each task that can be asked at a place."""
    region, line = place.region, place.line
    found: dict[Task, Gap | None] = {}
    if line is not None:
        found = {"line": whole(source, line), "line_rest": rest(source, line, str(seed)), "line_middle": middle(source, line, str(seed))}
    if region.last_line > region.first_line:
        found["block"] = Gap(region.start, region.end)
    return {task: gap for task in tasks if (gap := found.get(task)) is not None}
