"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice

SETS = ("regions", "humaneval", "edits")
DEFAULT_SET: Final = "regions"
STEPS = ("describe", "rebuild", "labels")

Sort = Literal["humaneval", "regions", "edits", "recorded"]
_WORDS: Mapping[Sort, str] = {
    "humaneval": "--set humaneval",
    "regions": "--set regions",
    "edits": "--set edits",
    "recorded": "recorded round trips",
}
_OF_A_MODEL: tuple[Sort, ...] = ("humaneval", "regions", "edits")
# What each option is for, by its name in the namespace; all others are for every run.
_FOR: Mapping[str, tuple[Sort, ...]] = {
    "ask": _OF_A_MODEL,
    "data": ("humaneval", "edits"),
    "forward": _OF_A_MODEL,
    "backward": _OF_A_MODEL,
    "projects": ("regions",),
    "per_project": ("regions", "edits"),
    "cache": ("regions",),
    "python": ("regions",),
    "steps": _OF_A_MODEL,
    "workers": _OF_A_MODEL,
    "ray": _OF_A_MODEL,
}


def sort_of(arguments: argparse.Namespace) -> Sort:
    """Which sort of run is asked for. Raises UsageError where set and recorded answers do not go together."""
    if arguments.recorded is None:
        name: Sort = arguments.set or DEFAULT_SET
        return name
    if arguments.set is not None:
        raise UsageError("recorded round trips are a set of their own: leave --set out")
    return "recorded"


def refuse_what_does_nothing(arguments: argparse.Namespace, choice: ModelChoice, sort: Sort) -> None:
    """Raises UsageError for an option that would do nothing in this sort of run."""
    for option, sorts in _FOR.items():
        if getattr(arguments, option) and sort not in sorts:
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does nothing for {_WORDS[sort]}, but for {', '.join(_WORDS[each] for each in sorts)}: leave it out")
    if sort == "recorded" and (choice.where is not None or choice.options):
        raise UsageError("with --recorded no model is asked: leave --model and its options out")
