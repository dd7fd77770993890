"""The places that are asked about, in an order in which any beginning can be fitted to; and the worker's function.

The user's code and public code take turns, because what suggestions are worth elsewhere can be judged only with several projects. The lines
are drawn, shown and judged by the functions of `assay eval calibration`.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NotRequired

from ...inference.completion.task import Task
from ...suggestion.languages import language_of
from ..answers import AnsweredItem, Generated
from ..asked_line import OpenModel
from ..calibration.draw import Gaps, answer_at
from ..sets.lines import TASKS, Place, places_in
from ..sets.projects import SourceFile, path_in_project
from ..study import Step
from .files import Author, Authorship, Folder, source_file
from .public import public_code

# Of one file, so that a long one does not speak for a project.
MAX_PER_FILE = 12
# How many places a turn has: a project's memory is read anew in each.
_OWN_TURN, _PUBLIC_TURN = 6, 3
_MAX_PUBLIC = 150


class OwnAnswer(AnsweredItem):
    """The record of a place. author: who wrote the file, "public" for the shipped code."""

    language: str
    author: NotRequired[str]
    generations: list[Generated]


def _has_gap(answer: Any) -> bool:
    return bool(answer["generations"])


ANSWERS = Step("answers", "place", OwnAnswer, _has_gap)


@dataclass(frozen=True, slots=True)
class OwnPlace:
    """A place, and who wrote its file."""

    place: Place
    author: Author | str

    @property
    def id(self) -> str:
        """The place's."""
        return self.place.id


def own_places(folder: Folder, authors: Authorship, seed: int, tasks: Sequence[Task] = TASKS) -> Iterator[OwnPlace]:
    """The places of a folder's files, in the order of these. Files are read on the way."""
    for path, author in authors.in_order:
        file = source_file(folder, path)
        for place in places_in(folder.name, [file] if file else [], MAX_PER_FILE, seed, tasks, documented=False):
            yield OwnPlace(place, author)


def public_places(seed: int, tasks: Sequence[Task] = TASKS) -> Iterator[OwnPlace]:
    """Places of the shipped code, some of each project in turn. Raises StudyError."""

    def of(name: str, files: Iterable[SourceFile]) -> Iterator[OwnPlace]:
        places = places_in(name, files, _MAX_PUBLIC, seed, tasks)
        random.Random(f"{seed}:{name}").shuffle(places)
        yield from (OwnPlace(place, "public") for place in places)

    yield from turns([(of(name, files), _PUBLIC_TURN) for name, files in public_code().items()])


def in_turn(own: Sequence[Iterator[OwnPlace]], public: Iterator[OwnPlace] | None) -> Iterator[OwnPlace]:
    """The places of the first folder, those of the user's others in turn, and those of public code.

    So a language of several folders is soon known of more than one project.
    """
    first, others = own[:1], turns([(each, _OWN_TURN) for each in own[1:]])
    return turns([*((each, _OWN_TURN) for each in first), (others, _OWN_TURN), *([(public, _PUBLIC_TURN)] if public else [])])


def turns(sources: Sequence[tuple[Iterator[OwnPlace], int]]) -> Iterator[OwnPlace]:
    """So many of each in turn, until all are at their end."""
    waiting = deque(sources)
    while waiting:
        source, count = waiting.popleft()
        taken = list(islice(source, count))
        yield from taken
        if len(taken) == count:
            waiting.append((source, count))


@dataclass(frozen=True, slots=True)
class OwnCode:
    """Path and text of the files of a project: of a folder, by its name, or of the shipped code."""

    folders: Mapping[str, Path]

    def __call__(self, name: str) -> Iterable[tuple[str, str]]:
        """Raises ProjectTooLarge and StudyError."""
        if name in self.folders:
            return Folder(self.folders[name]).code()
        return ((path_in_project(file.path), file.text) for file in _public()[name])


@cache
def _public() -> dict[str, list[SourceFile]]:
    return public_code()


def answer_own(asked: OpenModel[Gaps], own: OwnPlace) -> dict[str, Any]:
    """The answer of one place, as of `assay eval calibration`. Raises what `Model.generate` raises."""
    return {**answer_at(asked, own.place), "language": language_of(own.place.path), "author": own.author}
