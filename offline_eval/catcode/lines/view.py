"""A text with a line taken out, and the part around it that the model is shown; and both in a rewrite of the text.

The part is fixed by its text, not by its tokens: a rewrite that makes the code longer moves nothing out of what the model is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....analysis.morphisms.morphism import Rewrite
from ....analysis.python.lines import Gap
from ....inference.completion.prompt import context_at, count_tokens
from ....inference.completion.settings import Settings
from ....inference.model import Model
from ...suggested import FileWithGap


@dataclass(frozen=True, slots=True)
class View:
    """A text, the gap where a line's code is, and the part of the text that is shown: text[start:end]."""

    text: str
    gap: Gap
    start: int
    end: int

    @property
    def line(self) -> str:
        """The code in the gap."""
        return self.text[self.gap.start : self.gap.end]

    def with_line(self, text: str) -> View:
        """The same with another line in the gap."""
        longer = len(text) - len(self.line)
        whole = self.text[: self.gap.start] + text + self.text[self.gap.end :]
        return View(whole, Gap(self.gap.start, self.gap.start + len(text)), self.start, self.end + longer)

    def after(self, step: Rewrite) -> View | None:
        """The view of the rewritten text. None where it is not certain which line of that is the one in the gap, or what is shown of it."""
        text = step.of(self.text)
        same_lines = text.count("\n") == self.text.count("\n")
        start, end = (self._moved(at, step, text, same_lines=same_lines) for at in (self.start, self.end))
        gap = self._moved_gap(step, text, same_lines=same_lines)
        if start is None or end is None or gap is None or not start <= gap.start < gap.end <= end:
            return None
        return View(text, gap, start, end)

    def _moved(self, at: int, step: Rewrite, text: str, *, same_lines: bool) -> int | None:
        if at <= step.start:
            return at
        if at >= step.end:
            return at + len(step.text) - (step.end - step.start)
        if same_lines and self.text[at - 1] == "\n":
            return _start_of_line(text, self.text.count("\n", 0, at))
        return None

    def _moved_gap(self, step: Rewrite, text: str, *, same_lines: bool) -> Gap | None:
        """Where the line's code is: of the same line where the rewrite keeps their number, else where it was, with the text before it."""
        if step.end <= self.gap.start or step.start >= self.gap.end:
            longer = len(step.text) - (step.end - step.start) if step.end <= self.gap.start else 0
            gap = Gap(self.gap.start + longer, self.gap.end + longer)
            alone = not text[text.rfind("\n", 0, gap.start) + 1 : gap.start].strip() and text[gap.end : gap.end + 1] in (
                "",
                "\n",
                " ",
                "\t",
            )
            return gap if alone and text[gap.start : gap.end] == self.line else None
        if not same_lines:
            return None
        start = _start_of_line(text, self.text.count("\n", 0, self.gap.start))
        line = text[start:].split("\n", 1)[0]
        return Gap(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))


def _start_of_line(text: str, number: int) -> int:
    at = 0
    for _ in range(number):
        at = text.index("\n", at) + 1
    return at


def shown_around(model: Model, file: FileWithGap) -> tuple[int, int]:
    """Where the part of a file begins and ends that a model is shown around a gap."""
    at = file.cursor
    found = context_at(model, at.prefix, at.suffix, kind=at.kind, settings=file.settings).document
    return file.gap.start - len(found.prefix), file.gap.end + len(found.suffix)


def as_shown(model: Model, view: View, settings: Settings) -> FileWithGap | None:
    """What is shown of a view, with budgets that hold all of it. None where the model has no room for it."""
    before, behind = view.text[view.start : view.gap.start], view.text[view.gap.end : view.end]
    wide = replace(
        settings,
        prefix_tokens=max(settings.prefix_tokens, count_tokens(model, before)),
        suffix_tokens=max(settings.suffix_tokens, count_tokens(model, behind)),
    )
    part = view.text[view.start : view.end]
    shown = FileWithGap(part, Gap(len(before), len(part) - len(behind)), "line", wide)
    return shown if shown_around(model, shown) == (0, len(part)) else None
