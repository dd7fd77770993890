"""The steps propose, label, locate and loop at lines of projects.

Repairs at each bug and, as a control, at the right line; how much the lines that failing tests run surprise the model; and mutants.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from ....analysis.oracle.changes import changed_lines
from ....analysis.oracle.sources import source_of
from ....analysis.oracle.spectrum import Suspect
from ....analysis.python.lines import Gap
from ....inference.project_memory.memory import Memory
from ....suggestion.repair.asking import Asking
from ....suggestion.repair.localisation import surprises_of
from ....suggestion.repair.request import request_for
from ...asked_line import OpenModel
from ...run import Step
from ...sets.lines import FileWithGap, Place
from ...sets.suites import Items, Judge, Judged, Suite, verdict_of
from ..candidates import SLOW_S, Proposed, distinct, looped, mutants, proposed, repaired
from .bugs import Bug, with_code

PROPOSED = Step("proposed", "line", Proposed)
CONTROL = "control"
# At right lines only the first ones are judged.
MAX_CONTROLS = 3


def line_id(place: str, bug: Bug | None) -> str:
    """PLACE:SOURCE, of the bug; PLACE:control."""
    return f"{place}:{bug['source'] if bug else CONTROL}"


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a place that is to be repaired. bug: None at a right one, the control."""

    place: Place
    bug: Bug | None = None

    @property
    def id(self) -> str:
        """That of `line_id`."""
        return line_id(self.place.id, self.bug)

    @property
    def text(self) -> str:
        """The file as it is shown."""
        return with_code(self.place, self.bug["code"]) if self.bug else self.place.text


def lines_of(items: Items, bugs: Mapping[str, Any]) -> Iterator[Line]:
    """The bugs of each place, and its right line. bugs: the records of the step, by place."""
    for place in items.places:
        if place.id in bugs:
            yield from (Line(place, bug) for bug in bugs[place.id]["bugs"])
            yield Line(place)


def propose_at(asked: OpenModel[int], line: Line) -> dict[str, Any]:
    """The record of a line. Raises ModelError."""
    place, settings = line.place, asked.settings

    def remember(before: str, after: str) -> Memory | None:
        return asked.memory_at(FileWithGap(before + after, Gap(len(before), len(before)), "line", settings), place)

    request = request_for(Asking(asked.model, settings, remember=remember), line.text, place.line - 1, place.line, language="python")
    return proposed(request, line.text, place.text, place.id)


def texts_of(lines: Iterator[Line], made: Mapping[str, Any], items: Items) -> Iterator[Judged]:
    """Each distinct text that tests are to judge."""
    known = set[str]()
    for line in lines:
        found = made[line.id]["candidates"] if line.id in made else []
        for each in distinct(found if line.bug else found[:MAX_CONTROLS]):
            if each["text_id"] not in known:
                known.add(each["text_id"])
                place, text = line.place, repaired(line.text, each)
                region = changed_lines(place.text, text)
                yield Judged(each["text_id"], items.suites[place.project], place.file, text, (region.start, region.stop - 1))


class Located(TypedDict):
    """The surprise of each suspect of a bug, in their order; null where the model can't say."""

    id: str
    surprises: list[float | None]


LOCATED = Step("located", "bug", Located)


@dataclass(frozen=True, slots=True)
class Failing:
    """A line with a bug, and where its project is."""

    line: Line
    folder: Path
    suspects: tuple[Suspect, ...]

    @property
    def id(self) -> str:
        """The line's."""
        return self.line.id


def failing_of(items: Items, bugs: Mapping[str, Any], seed: int) -> Iterator[Failing]:
    """One bug of each place, drawn by the seed: the lines that its tests run are almost the same for the other."""
    places = {place.id: place for place in items.places}
    for name, record in bugs.items():
        if record["bugs"] and name in places:
            line = Line(places[name], random.Random(f"{seed}:{name}:locate").choice(record["bugs"]))
            suspected = tuple(Suspect(*each) for each in line.bug["spectrum"]["suspects"]) if line.bug else ()
            yield Failing(line, items.suites[line.place.project].folder, suspected)


def locate(asked: OpenModel[int], failing: Failing) -> dict[str, Any]:
    """The record of a bug but for its id. Raises ModelError."""
    place, settings = failing.line.place, asked.settings

    @cache
    def lines_of_file(file: str) -> tuple[str, ...]:
        return tuple((failing.line.text if file == place.file else source_of(failing.folder, file)).split("\n"))

    def asking_of(file: str) -> Asking:
        def remember(before: str, after: str) -> Memory | None:
            shown = FileWithGap(before + after, Gap(len(before), len(before)), "line", settings)
            return asked.memory.at(shown, place.project, file)

        return Asking(asked.model, settings, remember=remember)

    told = surprises_of(failing.suspects, lines_of_file, asking_of)
    return {"surprises": [told.get((each.file, each.line)) for each in failing.suspects]}


@dataclass(frozen=True, slots=True)
class Buggy:
    """A line with a bug, and the tests of its project."""

    line: Line
    suite: Suite

    @property
    def id(self) -> str:
        """The line's."""
        return self.line.id


def loop(judge: Judge, buggy: Buggy) -> dict[str, Any]:
    """The record of a bug. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
    place = buggy.line.place
    oracle = judge.oracle(buggy.suite)

    def test(text: str) -> tuple[bool | None, int]:
        if text == place.text:  # needs no run: its tests are those of the line
            return True, len(oracle.covered(place.file).get(place.line, ()))
        verdict = verdict_of(oracle, place.file, text, changed_lines(place.text, text))
        return verdict.label, verdict.tests

    baseline = oracle.baseline()
    slow_s = SLOW_S + 2 * (baseline.start_wall_s + sum(baseline.wall_s.values()))
    return {"id": buggy.id, **looped(mutants(buggy.line.text, place.line), place.text, test, slow_s=slow_s)}
