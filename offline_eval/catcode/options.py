"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Literal

from ...suggestion.memory.scope import DEFAULT_SCOPE
from ..errors import UsageError

# What is rewritten: the line of the project, and what a model suggests in its place.
CODES = ("truth", "suggestion")
LINES_STEPS = ("answers", "rewrite", "score", "regenerate", "label")

Sort = Literal["lines"]
SETS: tuple[Sort, ...] = ("lines",)
_WORDS: Mapping[Sort, str] = {"lines": "--set lines"}
# What each option is for, by its name in the namespace; all others are for every run.
_FOR: Mapping[str, tuple[Sort, ...]] = {
    "of": ("lines",),
    "projects": ("lines",),
    "per_project": ("lines",),
    "cache": ("lines",),
    "python": ("lines",),
    "memory": ("lines",),
    "steps": ("lines",),
}


def sort_of(arguments: argparse.Namespace) -> Sort:
    """Which sort of run is asked for."""
    name: Sort = arguments.set or "lines"
    return name


def refuse_what_does_nothing(arguments: argparse.Namespace, sort: Sort) -> None:
    """Raises UsageError for an option that would do nothing in this sort of run."""
    for option, sorts in _FOR.items():
        value = getattr(arguments, option)
        if value and sort not in sorts and not (option == "memory" and value == DEFAULT_SCOPE):
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does nothing for {_WORDS[sort]}, but for {', '.join(_WORDS[each] for each in sorts)}: leave it out")
