"""How much of a text around the cursor is looked at."""

from __future__ import annotations

from dataclasses import dataclass

from ..inference.completion.context import cut_step
from ..inference.completion.settings import Settings

# Characters behind the cursor that decide whether and what to suggest, whatever of them the model is shown.
_MIN_AFTER = 4_096


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a text around the cursor is looked at, in characters.

    before: at least so many, where there are; the start moves by `step` at once, so that it stays in place while text is typed and a model
    that saw it before need not read it again. after: at most so many.
    """

    before: int
    after: int
    step: int

    def start(self, offset: int) -> int:
        """Where the text before an offset begins to be shown."""
        return max(0, offset - self.before) // self.step * self.step


def window(settings: Settings) -> Window:
    """What can matter to `complete`: it looks at no more than 16 characters per token of its budgets.

    The start moves as its cuts do, so that it cuts the same text in the same place, whether it is given the whole document or this.
    """
    return Window(
        before=settings.prefix_tokens * 32, after=max(settings.suffix_tokens * 32, _MIN_AFTER), step=cut_step(settings.prefix_tokens)
    )
