"""What the editor would suggest at a place of a file, the file as it is once that is accepted, and the memory that is read beside it.

The same functions as in the language server: what a study judges is what a user would have got. The memory is of the project's files as
they are, but for what was taken out of the open one; near copies of that file are left out of each request's memory by the memory itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..analysis.python.lines import Gap
from ..calibration.measures.agreement import SINGLE_DRAW, Drawn, distinct
from ..calibration.measures.registry import measures_of
from ..inference.completion.prompt import prompt_at
from ..inference.completion.settings import GREEDY, Sampling, Settings
from ..inference.completion.task import Task, kind_of
from ..inference.model import Generation, Model, Prompt
from ..inference.project_memory.memory import Memory
from ..inference.project_memory.project import Project, ProjectTooLarge, project_of
from ..suggestion.complete import complete_several
from ..suggestion.cursor import Cursor, window
from ..suggestion.cut.steps import text_to_show
from ..suggestion.memory.memories import Memories
from ..suggestion.memory.scope import Scope
from .errors import StudyError


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


# Path and text of each file of a project, by the project's name.
Files = Callable[[str], Iterable[tuple[str, str]]]


class StudyMemory:
    """Makes the memories of a worker's requests. It keeps the index of the project that was asked about last."""

    def __init__(self, model: Model, scope: Scope, files: Files) -> None:
        self._memories, self._scope, self._files = Memories(model), scope, files
        self._last: tuple[str, Project] | None = None

    def forget(self) -> None:
        """Drop what is kept of the open files, so that an item's memory depends on none before it."""
        self._memories.forget()

    def at(self, gap: FileWithGap, project: str = "", path: str = "") -> Memory | None:
        """The memory at a gap in a file of a project, or of none; None for the scope "off".

        Raises StudyError, and what reading the files raises.
        """
        before, after = gap.text[: gap.gap.start], gap.text[gap.gap.end :]
        return self._memories.at(before, after, path, self._scope, self._project(project) if self._scope == "project" else None)

    def _project(self, name: str) -> Project:
        if self._last is None or self._last[0] != name:
            try:
                self._last = (name, project_of(self._files(name)))
            except ProjectTooLarge as error:
                raise StudyError(f"{name} is too large for a project memory ({error}): leave it out, or ask with --memory file") from error
        return self._last[1]
