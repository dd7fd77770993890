"""The step locate: how much the lines that a bug's failing tests run surprise the model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from ....analysis.oracle.sources import source_of
from ....analysis.oracle.spectrum import Suspect
from ....analysis.python.lines import Gap
from ....inference.project_memory.memory import Memory
from ....suggestion.repair.asking import Asking
from ....suggestion.repair.localisation import surprises_of
from ...asked_line import OpenModel
from ...sets.suites import Items
from ...study import Step
from ...suggested import FileWithGap
from .proposing import Line


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
