"""Lines taken out of real functions, drawn by a seed, the arms in which a model is shown them, and what the editor would suggest there.

Of each project, from files that are not tests, a random set of functions; of each function one random line (`analysis.lines.draw`):

    line          the whole line; the cursor stands where its code begins
    line_rest     from a random place inside the line to its end
    line_middle   from a random place inside a bracket pair up to the closing bracket, which stays

An arm is another way to show the same gap, so that what it changes can be measured place by place:

    docstring      the file as it is, as the editor shows it
    no_docstring   without any docstring of the file
    no_suffix      without what stands after the gap: the setting of Spiess et al. (arXiv 2402.02047)

What is suggested comes from the functions of the language server: what a study judges is what a user would have got.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from ...analysis.lines.draw import gap_of, sample_lines
from ...analysis.python.docstrings import Undocumented, without_docstrings
from ...analysis.python.lines import Gap, Line, UnreadableSource
from ...calibration.measures.agreement import SINGLE_DRAW, Drawn, distinct
from ...calibration.measures.registry import measures_of
from ...inference.completion.prompt import prompt_at
from ...inference.completion.settings import GREEDY, Sampling, Settings
from ...inference.completion.task import Task, kind_of
from ...inference.model import Generation, Model, Prompt
from ...inference.project_memory.memory import Memory
from ...suggestion.complete import complete_several
from ...suggestion.cursor import Cursor, window
from ...suggestion.cut.steps import text_to_show
from ...suggestion.languages import language_of
from .projects import Project, SourceFile, is_test, path_in_project, sources


@dataclass(frozen=True, slots=True)
class Suggested:
    """One generation at a place. inserted: what the editor would insert of it, None where it would hide it."""

    generation: Generation
    drawn: Drawn
    inserted: str | None

    @property
    def record(self) -> dict[str, Any]:
        """Its part of a line of answers.jsonl."""
        made = self.generation
        return {
            "text": made.text,
            "inserted": self.inserted,
            "measures": measures_of(made) | self.drawn.measures,
            "stopped_by": made.stopped_by.value,
        }


@dataclass(frozen=True, slots=True)
class FileWithGap:
    """A file from which a gap was taken out, with the cursor where the gap was."""

    text: str
    gap: Gap
    task: Task
    settings: Settings
    language: str = "python"

    @property
    def cursor(self) -> Cursor:
        """What the editor sees around the cursor."""
        reach, kind = window(self.settings), kind_of(self.task)
        before, after = self.text[: self.gap.start], self.text[self.gap.end :]
        return Cursor(before[reach.start(len(before)) :], after[: reach.after], kind, self.language)

    @property
    def truth(self) -> str:
        """What was taken out."""
        return self.text[self.gap.start : self.gap.end]

    def suggestions(self, model: Model, count: int = 1, memory: Memory | None = None) -> Iterator[Suggested]:
        """What a model generates there, the first choice first; of alternatives that the editor can't tell apart the first alone.

        Only the first choice is given where it has no text: the editor then shows no alternative either. Raises ModelError.
        """
        made = self._generated(model, count, GREEDY, memory)
        drawn = distinct(made, count) if made[0].text.strip() else distinct(made[:1], 1)
        inserted = set[str]()
        for generation, rank in drawn:
            text = text_to_show(generation.text, self.cursor)
            if text is not None and text in inserted:
                continue
            if text is not None:
                inserted.add(text)
            yield Suggested(generation, rank, text)

    def draws(self, model: Model, count: int, sampling: Sampling, memory: Memory | None = None) -> Iterator[Suggested]:
        """`count` texts that a model draws there, as they come: several may be one text. Raises ModelError."""
        for generation in self._generated(model, count, sampling, memory):
            yield Suggested(generation, SINGLE_DRAW, text_to_show(generation.text, self.cursor))

    def _generated(self, model: Model, count: int, sampling: Sampling, memory: Memory | None) -> tuple[Generation, ...]:
        at = self.cursor
        return complete_several(
            model,
            at.prefix,
            at.suffix,
            kind=at.kind,
            language=at.language,
            settings=self.settings,
            memory=memory,
            count=count,
            sampling=sampling,
        )

    def prompt(self, model: Model) -> Prompt:
        """What the model was asked."""
        cursor = self.cursor
        return prompt_at(model, cursor.prefix, cursor.suffix, kind=cursor.kind, settings=self.settings)

    def accepted(self, inserted: str) -> str:
        """The file once a suggestion is accepted."""
        return self.text[: self.gap.start] + inserted + self.text[self.gap.end :]

    def is_exact(self, inserted: str | None) -> bool:
        """Whether accepting gives the file back, white space at the ends of lines aside."""
        return inserted is not None and without_trailing_space(self.accepted(inserted)) == without_trailing_space(self.text)


def without_trailing_space(text: str) -> list[str]:
    """The lines of a text, without white space at their ends."""
    return [line.rstrip() for line in text.split("\n")]


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
    known: Collection[str] = (),
) -> list[Place]:
    """The places of files of one project, as `places_of`. documented: as in `sample_lines`. known: lines that are not drawn."""
    found: list[tuple[SourceFile, Line]] = []
    for file in files:
        if is_test(file.path):
            continue
        try:
            lines = sample_lines(file.text, language_of(file.path), f"{seed}:{file.path}", documented=documented)
            found += [(file, line) for line in lines if file.text[line.start : line.end].strip() not in known]
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
