"""The score of a change: what the model says of the new lines and of the old ones, in the same place and in the same way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from ...analysis.morphisms.text_edits import changed_span
from ...inference.model import Generation, Token
from .asking import Asking
from .candidate import Change, Lines, around, indent_of
from .surprise import total_logprob


@dataclass(frozen=True, slots=True)
class Score:
    """old_logprob: of the lines that stand there. new: the generation that wrote the new ones, of one line after the other."""

    old_logprob: float
    new: Generation

    @property
    def gain(self) -> float:
        """log p of the new lines minus that of the old ones."""
        return total_logprob(self.new) - self.old_logprob


@dataclass(slots=True)
class Scores:
    """Scores the changes of one file; remembers what the model said of the old lines."""

    asking: Asking
    lines: Lines
    _old: dict[tuple[int, int, int, bool], float | None] = field(default_factory=dict)

    def of(self, change: Change) -> Score | None:
        """The score of a change; None where the model can't say. Raises ModelError."""
        old = self.lines[change.first : change.end]
        column, _, _ = changed_span(indent_of(old[0]), indent_of(change.new[0]))
        # A line that a completion would have ended earlier has no end that counts, and then no other has.
        for ends in (True, False):
            before, new = self._of_old(change, column, ends), self._of(change.first, change.end, change.new, column, ends)
            if before is not None and new is not None and math.isfinite(total_logprob(new)):
                return Score(before, new)
        return None

    def _of_old(self, change: Change, column: int, ends: bool) -> float | None:
        key = (change.first, change.end, column, ends)
        if key not in self._old:
            said = self._of(change.first, change.end, self.lines[change.first : change.end], column, ends)
            self._old[key] = None if said is None else total_logprob(said)
        return self._old[key]

    def _of(self, first: int, end: int, new: Lines, column: int, ends: bool) -> Generation | None:
        """log p of lines, each given those before it, from a column of the first one on."""
        before, after = around(self.lines, first, end)
        tokens: list[Token] = []
        said = None
        for number, line in enumerate(new):
            start = 0 if number else column
            said = self.asking.given(before + line[:start], after, line[start:].rstrip(), ends=ends)
            if said is None:
                return None
            tokens += said.tokens
            before += line + "\n"
        return None if said is None else replace(said, text="\n".join(new)[column:], tokens=tuple(tokens))
