"""How a model is asked at places of one file: as it is for completions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...inference.completion.prompt import Surroundings
from ...inference.completion.settings import GREEDY, Sampling, Settings
from ...inference.completion.task import Kind
from ...inference.errors import ContextTooLong, NotReplayable, Unavailable
from ...inference.model import Cancel, Generation, Model, StopReason
from ...inference.project_memory.memory import Memory
from ..complete import complete_several
from ..cursor import Cursor, window
from ..given_text import generation_of

# The memory at a cursor, from the text before and behind it.
Remember = Callable[[str, str], Memory | None]
# Nothing is asked about a longer line: it is data, or code that a program wrote.
MAX_CHARACTERS = 1_000


def never() -> bool:
    """Whether something is over that nothing ends."""
    return False


@dataclass(frozen=True, slots=True)
class Asking:
    """A model, and what it is shown of a file besides the text around a cursor. is_over: whether what is asked is no longer wanted."""

    model: Model
    settings: Settings = field(default_factory=Settings)
    surroundings: Surroundings | None = None
    remember: Remember | None = None
    is_over: Cancel = never

    def cursor(self, prefix: str, suffix: str, kind: Kind = "line") -> Cursor:
        """A cursor as the editor sees it: with no more of the text around it than counts."""
        reach = window(self.settings)
        return Cursor(prefix[reach.start(len(prefix)) :], suffix[: reach.after], kind)

    def written(self, prefix: str, suffix: str, *, kind: Kind = "line", count: int = 1, sampling: Sampling = GREEDY) -> list[Generation]:
        """What the model writes at a cursor, as `complete_several`; without what was ended because it is no longer wanted.

        Of a server that can't tell so many first tokens it is the first choice alone.
        """
        if self.is_over():
            return []
        cursor = self.cursor(prefix, suffix, kind)
        try:
            made = complete_several(
                self.model, cursor.prefix, cursor.suffix, kind=kind, settings=self.settings, surroundings=self.surroundings,
                memory=self._memory(prefix, suffix), cancel=self.is_over, count=count, sampling=sampling,
            )  # fmt: skip
        except ContextTooLong:
            return []
        except Unavailable:
            return self.written(prefix, suffix, kind=kind, sampling=sampling) if count > 1 else []
        return [generation for generation in made if generation.stopped_by is not StopReason.CANCELLED]

    def given(self, prefix: str, suffix: str, line: str, *, ends: bool = True) -> Generation | None:
        """What the model says of a line at a cursor, as `generation_of`; None where it can't say.

        ends: whether it counts that the line ends there. A line that a completion would have ended earlier, as a loop, has no such end.
        """
        if len(line) > MAX_CHARACTERS or not self.model.capabilities.replay:
            return None
        cursor = self.cursor(prefix, suffix)
        try:
            return generation_of(
                self.model, cursor.prefix, cursor.suffix, line, settings=self.settings, surroundings=self.surroundings,
                memory=self._memory(prefix, suffix), cut_off=not ends,
            )  # fmt: skip
        except (ContextTooLong, NotReplayable, Unavailable):
            return None

    def _memory(self, prefix: str, suffix: str) -> Memory | None:
        return None if self.remember is None else self.remember(prefix, suffix)
