"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ...suggestion.memory.scope import DEFAULT_SCOPE
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice

LINES = ("projects", "suites", "bugs", "packages")
DEFAULT_SET = "projects"
PROBLEMS = ("humaneval", "mbpp", "quixbugs", "defects4j")
RECORDED_ONLY = ("cruxeval", "answers")
# Sets whose recorded programs are labelled here.
_DRAWN = ("humaneval", "mbpp")

Sort = Literal["lines", "suites", "bugs", "packages", "code", "problems", "draws", "labelled"]
_WORDS: Mapping[Sort, str] = {
    "lines": "--set projects",
    "suites": "--set suites",
    "bugs": "--set bugs",
    "packages": "--set packages",
    "code": "--code",
    "problems": "a set of problems",
    "draws": "recorded programs",
    "labelled": "recorded answers with labels",
}
_OF_LINES: tuple[Sort, ...] = ("lines", "suites", "bugs", "packages", "code")
_OF_A_MODEL: tuple[Sort, ...] = (*_OF_LINES, "problems")
# What each option is for, by its name in the namespace; all others are for every run.
_FOR: Mapping[str, tuple[Sort, ...]] = {
    "projects": ("lines", "suites", "bugs", "packages"),
    "languages": ("packages", "code"),
    "per_project": _OF_LINES,
    "tasks": ("lines", "suites", "packages", "code"),
    "arms": _OF_LINES,
    "cache": ("lines", "suites", "bugs", "packages"),
    "python": ("suites", "bugs"),
    "reflective": _OF_A_MODEL,
    "alternatives": _OF_A_MODEL,
    "memory": _OF_A_MODEL,
    "steps": _OF_A_MODEL,
    "workers": (*_OF_A_MODEL, "draws"),
    "ray": (*_OF_A_MODEL, "draws"),
}


def sort_of(arguments: argparse.Namespace) -> Sort:
    """Which sort of run is asked for. Raises UsageError where set, data and recorded answers do not go together."""
    name, data, recorded = arguments.set, arguments.data, arguments.recorded
    if arguments.code:
        if name != DEFAULT_SET or data or recorded:
            raise UsageError("--code is of your own folders, instead of a set: leave --set, --data and --recorded out")
        return "code"
    if name in LINES:
        if data or recorded:
            raise UsageError(f"--{'data' if data else 'recorded'} is of a set of problems: name one with --set ({', '.join(PROBLEMS)}, …)")
        return "lines" if name == "projects" else name
    if recorded is None:
        if name in RECORDED_ONLY:
            raise UsageError(f"--set {name} is for recorded answers: name their files with --recorded")
        if data is None:
            raise UsageError(_no_data(name))
        return "problems"
    if data is None or name == "cruxeval":
        if data is None and name == "cruxeval":
            raise UsageError(f"{_no_data(name)}; a file of scores and labels is judged without it by --set answers")
        return "labelled"
    if name not in _DRAWN:
        raise UsageError(
            f"recorded answers to {name} are not run: leave --data out to judge the scores that the file tells, or name another set "
            f"({', '.join((*_DRAWN, 'cruxeval'))})"
        )
    return "draws"


def refuse_what_does_nothing(arguments: argparse.Namespace, choice: ModelChoice, sort: Sort) -> None:
    """Raises UsageError for an option that would do nothing in this sort of run."""
    for option, sorts in _FOR.items():
        value = getattr(arguments, option)
        if value and sort not in sorts and not (option == "memory" and value == DEFAULT_SCOPE):
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does nothing for {_WORDS[sort]}, but for {', '.join(_WORDS[each] for each in sorts)}: leave it out")
    if sort not in _OF_A_MODEL and (choice.where is not None or choice.options):
        raise UsageError("with --recorded no model is asked: leave --model and its options out")
    if sort in ("packages", "code") and "no_docstring" in (arguments.arms or ()):
        raise UsageError(f"the arm no_docstring takes the docstrings of Python away, and {_WORDS[sort]} has other languages: leave it out")
    if "labels" in arguments.steps and (sort in ("lines", "packages", "code") or arguments.set == "defects4j"):
        named = "--code" if sort == "code" else f"--set {arguments.set}"
        raise UsageError(f"{named} has no step labels: nothing is run there, and exact matches are known with the answers")


def _no_data(name: str) -> str:
    from ..sets.problems import SETS

    return f"--set {name} needs --data: {SETS[name].what}, of the project {SETS[name].whence}; Assay brings none with it"
