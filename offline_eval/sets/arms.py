"""Arms: other ways to show the model the same gap, so that what they change can be measured place by place.

docstring      the file as it is, as the editor shows it
no_docstring   without any docstring of the file
no_suffix      without what stands after the gap: the setting of Spiess et al. (arXiv 2402.02047), whose prompt is what precedes the line
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, get_args

from ...analysis.python.docstrings import Undocumented, without_docstrings
from ...analysis.python.lines import Gap, Line, UnreadableSource
from ...inference.completion.settings import Settings
from ...inference.completion.task import Task
from ..suggested import FileWithGap

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
