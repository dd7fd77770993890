"""Lines taken out of real functions, drawn by a seed, and the arms in which a model is shown them.

Of each project, from files that are not tests, a random set of functions; of each function one random line (`analysis.lines.draw`):

    line          the whole line; the cursor stands where its code begins
    line_rest     from a random place inside the line to its end
    line_middle   from a random place inside a bracket pair up to the closing bracket, which stays

An arm is another way to show the same gap, so that what it changes can be measured place by place:

    docstring      the file as it is, as the editor shows it
    no_docstring   without any docstring of the file
    no_suffix      without what stands after the gap: the setting of Spiess et al. (arXiv 2402.02047)
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from ...analysis.lines.draw import gap_of, sample_lines
from ...analysis.python.docstrings import Undocumented, without_docstrings
from ...analysis.python.lines import Gap, Line, UnreadableSource
from ...inference.completion.settings import Settings
from ...inference.completion.task import Task
from ...suggestion.languages import language_of
from ..suggested import FileWithGap
from .projects import Project, SourceFile, is_test, path_in_project, sources

TASKS: tuple[Task, ...] = ("line", "line_rest", "line_middle")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, with the gap to fill for each task.

    line is its number, from 1; text is the whole file. judged: the lines, from first to last, whose tests judge what is put there.
    bug: where one is to be repaired its kind, and the wrong line; text has the right one, and neither is shown.
    """

    project: str
    path: str
    text: str
    function: str
    line: int
    gaps: tuple[tuple[Task, Gap], ...]
    judged: tuple[int, int] | None = None
    bug: tuple[str, str] | None = None

    @property
    def language(self) -> str:
        """Of the file."""
        return language_of(self.path)

    @property
    def id(self) -> str:
        """PROJECT:FILE:LINE."""
        return f"{self.project}:{self.path}:{self.line}"

    @property
    def file(self) -> str:
        """The path in the project, without the folder that a distribution has around it."""
        return path_in_project(self.path)

    @property
    def about(self) -> dict[str, Any]:
        """What a record says of it besides its id."""
        return {"project": self.project, "file": self.path, "function": self.function, "line": self.line}

    def gap(self, task: str) -> Gap:
        """What is to be filled for a task. Raises KeyError."""
        return dict[str, Gap](self.gaps)[task]

    def with_text(self, gap: Gap, text: str) -> str:
        """The file with a text in a gap."""
        return self.text[: gap.start] + text + self.text[gap.end :]

    @property
    def record(self) -> dict[str, Any]:
        """Its line of items.jsonl, from which and the project's files it can be made again."""
        bug = dict(zip(("bug", "wrong"), self.bug, strict=True)) if self.bug else {}
        judged = {"judged": list(self.judged)} if self.judged else {}
        return {
            "id": self.id,
            **self.about,
            "gaps": {task: [gap.start, gap.end] for task, gap in self.gaps},
            "sha256": hashlib.sha256(self.text.encode(errors="surrogatepass")).hexdigest(),
            **judged,
            **bug,
        }


def places_of(project: Project, cache: Path, per_project: int, seed: int, tasks: Sequence[Task] = TASKS) -> list[Place]:
    """The places of one project: at most `per_project` functions, the same for the same seed. Raises ProjectError."""
    return places_in(project.name, sources(project, cache), per_project, seed, tasks)


def places_in(
    project: str,
    files: Iterable[SourceFile],
    per_project: int,
    seed: int,
    tasks: Sequence[Task] = TASKS,
    *,
    documented: bool = True,
) -> list[Place]:
    """The places of files of one project, as `places_of`. documented: as in `sample_lines`."""
    found: list[tuple[SourceFile, Line]] = []
    for file in files:
        if is_test(file.path):
            continue
        try:
            lines = sample_lines(file.text, language_of(file.path), f"{seed}:{file.path}", documented=documented)
            found += [(file, line) for line in lines]
        except UnreadableSource:
            continue  # a template, or code for another Python
    rng = random.Random(f"{seed}:{project}")
    drawn = sorted(rng.sample(found, min(per_project, len(found))), key=lambda pair: (pair[0].path, pair[1].start))
    places = (_place(project, file, line, seed, tasks) for file, line in drawn)
    return [place for place in places if place.gaps]


def _place(project: str, file: SourceFile, line: Line, seed: int, tasks: Sequence[Task]) -> Place:
    number, language = file.text.count("\n", 0, line.start) + 1, language_of(file.path)
    gaps = ((task, gap_of(file.text, language, line, task, str(seed))) for task in tasks)
    return Place(project, file.path, file.text, line.function, number, tuple((task, gap) for task, gap in gaps if gap is not None))


Arm = Literal["docstring", "no_docstring", "no_suffix"]
ARMS: tuple[Arm, ...] = get_args(Arm)
PLAIN: Arm = "docstring"


def in_arm(arm: Arm, text: str, gap: Gap, task: Task, settings: Settings, language: str = "python") -> FileWithGap | None:
    """The gap as an arm shows it. None where the arm can't: no docstring is in the file, one stands on the line, or what follows on the
    line is part of the task.
    """
    if arm == "docstring":
        return FileWithGap(text, gap, task, settings, language)
    if arm == "no_suffix":
        return None if task == "line_middle" else FileWithGap(text[: gap.end], gap, task, settings, language)
    undocumented = _undocumented(text)
    if undocumented is None or not undocumented.cuts:
        return None
    start, end = text.rfind("\n", 0, gap.start) + 1, text.find("\n", gap.end)
    line = undocumented.line(Line("", start, len(text) if end < 0 else end))
    if line is None:
        return None
    moved = line.start - start
    return FileWithGap(undocumented.text, Gap(gap.start + moved, gap.end + moved), task, settings)


# A worker gets the places of a file one after another, and parsing a large file takes longer than completing a line.
@lru_cache(maxsize=2)
def _undocumented(text: str) -> Undocumented | None:
    try:
        return without_docstrings(text)
    except UnreadableSource:
        return None
