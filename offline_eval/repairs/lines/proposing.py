"""The steps propose and label: repairs at each bug, and, as a control, at the right line; and the texts that tests judge of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ....analysis.oracle.changes import changed_lines
from ....analysis.python.lines import Gap
from ....inference.project_memory.memory import Memory
from ....suggestion.repair.asking import Asking
from ....suggestion.repair.request import request_for
from ...asked_line import OpenModel
from ...sets.lines import Place
from ...sets.suites import Items, Judged
from ...study import Step
from ...suggested import FileWithGap
from ..candidates import Proposed, distinct, proposed, repaired
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
