"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ...suggestion.memory.scope import DEFAULT_SCOPE
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice

LINES = ("lines",)
PROBLEMS = ("humaneval", "regions", "edits")
# What goes around: the line of the project, and what a model suggests in its place.
CODES = ("truth", "suggestion")
LINES_STEPS = ("answers", "describe", "rebuild", "labels")
PROBLEMS_STEPS = ("describe", "rebuild", "labels")

Sort = Literal["lines", "humaneval", "regions", "edits", "recorded"]
_WORDS: Mapping[Sort, str] = {
    "lines": "--set lines",
    "humaneval": "--set humaneval",
    "regions": "--set regions",
    "edits": "--set edits",
    "recorded": "recorded round trips",
}
_OF_A_MODEL: tuple[Sort, ...] = ("lines", "humaneval", "regions", "edits")
_IN_WORDS: tuple[Sort, ...] = ("humaneval", "regions", "edits")
_OF_PROJECTS: tuple[Sort, ...] = ("lines", "regions")
# What each option is for, by its name in the namespace; all others are for every run.
_FOR: Mapping[str, tuple[Sort, ...]] = {
    "of": ("lines",),
    "alternatives": ("lines",),
    "ask": _IN_WORDS,
    "memory": ("lines",),
    "data": ("humaneval", "edits"),
    "forward": _OF_A_MODEL,
    "backward": _OF_A_MODEL,
    "projects": _OF_PROJECTS,
    "per_project": (*_OF_PROJECTS, "edits"),
    "cache": _OF_PROJECTS,
    "python": _OF_PROJECTS,
    "steps": _OF_A_MODEL,
    "workers": _OF_A_MODEL,
    "ray": _OF_A_MODEL,
}


def sort_of(arguments: argparse.Namespace) -> Sort:
    """Which sort of run is asked for. Raises UsageError where set and recorded answers do not go together."""
    if arguments.recorded is None:
        name: Sort = arguments.set or "lines"
        return name
    if arguments.set is not None:
        raise UsageError("recorded round trips are a set of their own: leave --set out")
    return "recorded"


def refuse_what_does_nothing(arguments: argparse.Namespace, choice: ModelChoice, sort: Sort) -> None:
    """Raises UsageError for an option that would do nothing in this sort of run."""
    for option, sorts in _FOR.items():
        value = getattr(arguments, option)
        if value and sort not in sorts and not (option == "memory" and value == DEFAULT_SCOPE):
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does nothing for {_WORDS[sort]}, but for {', '.join(_WORDS[each] for each in sorts)}: leave it out")
    if sort == "recorded" and (choice.where is not None or choice.options):
        raise UsageError("with --recorded no model is asked: leave --model and its options out")
    if sort not in ("lines", "recorded") and "answers" in arguments.steps:
        raise UsageError(f"{_WORDS[sort]} has no step answers; there are {', '.join(PROBLEMS_STEPS)}")
