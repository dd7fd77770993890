"""A cursor in a text, as the steps that cut a suggestion see it."""

from __future__ import annotations

from dataclasses import dataclass

from ..inference.completion.task import Kind, Task, rest_of_line, task_of


@dataclass(frozen=True, slots=True)
class Cursor:
    """The text before and behind a cursor, as far as it is known, the kind of text that is wanted there, and the language around it."""

    prefix: str
    suffix: str
    kind: Kind = "line"
    language: str = "plaintext"

    @property
    def task(self) -> Task:
        """What is asked of the model here."""
        return task_of(self.prefix, self.suffix, self.kind)

    @property
    def rest_of_line(self) -> str:
        """What stands behind the cursor on its line."""
        return rest_of_line(self.suffix)
