"""A cursor in a text, as the steps that cut a suggestion see it, and how much of the text around it is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from ..inference.completion.context import cut_step
from ..inference.completion.settings import Settings
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


# Whether and what to suggest depends on so many characters behind the cursor, however few of them the model is shown.
_MIN_AFTER = 4_096


@dataclass(frozen=True, slots=True)
class Window:
    """How many characters around the cursor are looked at.

    before: at least so many, if the text has them. step: the start moves by so many at once, so that it stays in place while text is typed,
    and the model need not read again what it has read. after: at most so many.
    """

    before: int
    after: int
    step: int

    def start(self, offset: int) -> int:
        """Where the window of an offset begins."""
        return max(0, offset - self.before) // self.step * self.step


def window(settings: Settings) -> Window:
    """The window that `complete` needs: it looks at no more than 16 characters per token of its budgets.

    The start moves in the same steps as the cuts of `complete`, which therefore sees the same in the window as in the whole document.
    """
    return Window(
        before=settings.prefix_tokens * 32, after=max(settings.suffix_tokens * 32, _MIN_AFTER), step=cut_step(settings.prefix_tokens)
    )
