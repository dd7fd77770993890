"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...suggestion.memory.scope import DEFAULT_SCOPE
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice

PROBLEMS = ("humaneval", "mbpp", "odex")
# Sets whose recorded programs are labelled here.
_DRAWN = ("humaneval", "mbpp")

Sort = Literal["lines", "problems", "file", "draws"]
_WORDS: Mapping[Sort, str] = {
    "lines": "--set lines",
    "problems": "a set of problems",
    "file": "a file of counterfeits, or cruxeval",
    "draws": "recorded programs",
}
# The steps of each sort of run.
STEPS: Mapping[Sort, tuple[str, ...]] = {
    "lines": ("draw", "label", "judge", "repair"),
    "problems": ("draw", "label", "judge", "execute", "repair"),
    "file": ("judge", "execute", "repair"),
    "draws": (),
}
_ASKED: tuple[Sort, ...] = ("problems", "file")
# What each option is for, by its name in the namespace; all others are for every run.
_FOR: Mapping[str, tuple[Sort, ...]] = {
    "projects": ("lines",),
    "per_project": ("lines",),
    "tasks": ("lines",),
    "cache": ("lines",),
    "python": ("lines",),
    "draws": ("lines", "problems"),
    "temperature": ("lines", "problems"),
    "data": ("problems", "file", "draws"),
    "recorded": ("file", "draws"),
    "votes": _ASKED,
    "repairs": _ASKED,
    "reasoning": _ASKED,
    "ask": _ASKED,
    "memory": ("lines",),
}


def sort_of(arguments: argparse.Namespace) -> Sort:
    """Which sort of run is asked for. Raises UsageError for a set that there is not, or that lacks its file."""
    name = arguments.set
    if name == "lines":
        return "lines"
    if name in PROBLEMS:
        if arguments.data is None:
            raise UsageError(_no_data(name))
        if not arguments.recorded:
            return "problems"
        if name not in _DRAWN:
            raise UsageError(f"recorded programs for {name} are not run: name another set ({', '.join(_DRAWN)})")
        return "draws"
    if name == "cruxeval":
        if arguments.data is None:
            raise UsageError(_no_data(name))
        return "file"
    if Path(name).exists():
        return "file"
    raise UsageError(f"no such set: {name} (there are lines, {', '.join(PROBLEMS)}, cruxeval, and files of counterfeits)")


def refuse_what_does_nothing(arguments: argparse.Namespace, choice: ModelChoice, sort: Sort) -> None:
    """Raises UsageError for an option, or a step, that would do nothing in this sort of run."""
    for option, sorts in _FOR.items():
        value = getattr(arguments, option)
        if value and sort not in sorts and not (option == "memory" and value == DEFAULT_SCOPE):
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does nothing for {_WORDS[sort]}, but for {', '.join(_WORDS[each] for each in sorts)}: leave it out")
    if arguments.repairs and sort == "file" and arguments.data is None:
        raise UsageError(
            "--repairs does nothing without --data: repairs are judged by the tests of the benchmark that the programs are for; name its "
            "file, or leave --repairs out"
        )
    if arguments.repairs and arguments.set == "cruxeval":
        raise UsageError("--repairs does nothing for cruxeval, whose functions are all right: leave it out")
    if unknown := [step for step in arguments.steps if step not in STEPS[sort]]:
        raise UsageError(f"{_WORDS[sort]} has no step {', '.join(unknown)} (there are {', '.join(STEPS[sort]) or 'none to choose from'})")
    if arguments.recorded and (choice.where is not None or choice.options):
        raise UsageError("with --recorded no model is asked: leave --model and its options out")


def _no_data(name: str) -> str:
    from ..sets.problems import SETS

    return f"--set {name} needs --data: {SETS[name].what}, of the project {SETS[name].whence}; Assay brings none with it"
