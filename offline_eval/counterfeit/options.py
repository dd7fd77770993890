"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Literal

from ..errors import UsageError

Sort = Literal["lines"]
_WORDS: Mapping[Sort, str] = {"lines": "--set lines"}
# The steps of each sort of run.
STEPS: Mapping[Sort, tuple[str, ...]] = {"lines": ("draw", "label", "judge", "repair")}
# What each option is for, by its name in the namespace; all others are for every run.
_FOR: Mapping[str, tuple[Sort, ...]] = {
    "projects": ("lines",),
    "per_project": ("lines",),
    "tasks": ("lines",),
    "cache": ("lines",),
    "python": ("lines",),
}


def sort_of(arguments: argparse.Namespace) -> Sort:
    """Which sort of run is asked for. Raises UsageError for a set that there is not."""
    if arguments.set == "lines":
        return "lines"
    raise UsageError(f"no such set: {arguments.set} (there is lines)")


def refuse_what_does_nothing(arguments: argparse.Namespace, sort: Sort) -> None:
    """Raises UsageError for an option, or a step, that would do nothing in this sort of run."""
    for option, sorts in _FOR.items():
        if getattr(arguments, option) and sort not in sorts:
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does nothing for {_WORDS[sort]}, but for {', '.join(_WORDS[each] for each in sorts)}: leave it out")
    if unknown := [step for step in arguments.steps if step not in STEPS[sort]]:
        raise UsageError(f"{_WORDS[sort]} has no step {', '.join(unknown)} (there are {', '.join(STEPS[sort])})")
