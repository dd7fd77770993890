"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

from ...suggestion.memory.scope import DEFAULT_SCOPE
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice

# What is rewritten: the line of the project, and what a model suggests in its place.
CODES = ("truth", "suggestion")

Sort = Literal["lines", "pairs", "translate", "explain"]
SETS: tuple[Sort, ...] = get_args(Sort)
_WORDS: Mapping[Sort, str] = {name: f"--set {name}" for name in SETS}
# The steps of each sort of run.
STEPS: Mapping[Sort, tuple[str, ...]] = {
    "lines": ("answers", "rewrite", "score", "regenerate", "label"),
    "pairs": ("pairs", "answers"),
    "translate": ("sources", "write", "labels"),
    "explain": ("sources", "describe", "write", "labels"),
}
# Of programs.
LANGUAGES = ("python", "java", "javascript")
# The kinds of pairs (`pairs.pair` says what each is).
PAIR_KINDS = ("1-eq", "2-eq", "2-eq-chain", "3-eq-chain", "1-neq", "identity", "global-eq", "global-neq")
# What each option is for, by its name in the namespace; all others are for every run.
_FOR: Mapping[str, tuple[Sort, ...]] = {
    "of": ("lines",),
    "projects": ("lines",),
    "per_project": ("lines",),
    "cache": ("lines",),
    "python": ("lines",),
    "memory": ("lines",),
    "data": ("pairs", "translate", "explain"),
    "recorded": ("pairs", "translate", "explain"),
    "ask": ("pairs", "translate", "explain"),
    "kinds": ("pairs",),
    "votes": ("pairs",),
    "language": ("translate", "explain"),
    "draws": ("translate", "explain"),
    "to": ("translate",),
}


def sort_of(arguments: argparse.Namespace) -> Sort:
    """Which sort of run is asked for. Raises UsageError where its data are not named."""
    name: Sort = arguments.set or "lines"
    if name != "lines" and not arguments.data:
        from ..sets.programs import HOW

        raise UsageError(f"{_WORDS[name]} needs programs with tests: {HOW}. Assay brings none with it")
    return name


def refuse_what_does_nothing(arguments: argparse.Namespace, choice: ModelChoice, sort: Sort) -> None:
    """Raises UsageError for an option, or a step, that would do nothing in this sort of run."""
    if unknown := [step for step in arguments.steps if step not in STEPS[sort]]:
        raise UsageError(f"{_WORDS[sort]} has no step {', '.join(unknown)} (there are {', '.join(STEPS[sort])})")
    if sort == "pairs" and arguments.steps == ["pairs"]:
        asked = {"--model": choice.where is not None or choice.options, "--recorded": arguments.recorded, "--ask": arguments.ask}
        if useless := next((flag for flag, value in (asked | {"--votes": arguments.votes}).items() if value), None):
            raise UsageError(f"the step pairs asks no model: leave {useless} out, or name the step answers, too")
    if arguments.recorded and (choice.where is not None or choice.options):
        raise UsageError("with --recorded no model is asked: leave --model and its options out")
    if arguments.recorded and (arguments.draws or arguments.ask):
        raise UsageError("with --recorded no model is asked: leave --draws and --ask out")
    for option, sorts in _FOR.items():
        value = getattr(arguments, option)
        if value and sort not in sorts and not (option == "memory" and value == DEFAULT_SCOPE):
            flag = f"--{option.replace('_', '-')}"
            raise UsageError(f"{flag} does nothing for {_WORDS[sort]}, but for {', '.join(_WORDS[each] for each in sorts)}: leave it out")
