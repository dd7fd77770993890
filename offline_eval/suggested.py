"""What the editor would suggest at a place of a file, and the file as it is once that is accepted.

The same functions as in the language server: what a study judges is what a user would have got.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..analysis.python.lines import Gap
from ..calibration.measures.agreement import SINGLE_DRAW, Drawn, distinct
from ..calibration.measures.registry import measures_of
from ..inference.completion.prompt import prompt_at
from ..inference.completion.sampling import GREEDY, Sampling
from ..inference.completion.settings import Settings
from ..inference.completion.task import Task, kind_of
from ..inference.model import Generation, Model, Prompt
from ..inference.project_memory.memory import Memory
from ..suggestion.complete import complete_several
from ..suggestion.cursor import Cursor
from ..suggestion.cut.steps import text_to_show
from ..suggestion.window import window


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
