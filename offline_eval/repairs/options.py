"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from ..errors import UsageError

SETS = ("lines", "quixbugs", "defects4j")
# Of published bugs, and what there is to name.
PROGRAMS: Mapping[str, str] = {
    "quixbugs": "a copy of the project github.com/jkoppel/QuixBugs",
    "defects4j": "a copy of the project github.com/rjust/defects4j, or an archive of its folder framework/",
}
# The steps of each set.
STEPS: Mapping[str, tuple[str, ...]] = {
    "lines": ("draw", "bug", "propose", "label", "locate", "loop"),
    "quixbugs": ("propose", "label", "loop"),
    "defects4j": ("propose",),
}
# Options for some sets alone.
_FOR = {"data": tuple(PROGRAMS), **dict.fromkeys(("projects", "per_project", "cache", "python"), ("lines",))}


def refuse_what_does_nothing(arguments: argparse.Namespace) -> None:
    """Raise UsageError for an option or a step that does nothing for the set, and where the data are not named."""
    for option, of in _FOR.items():
        if getattr(arguments, option) and arguments.set not in of:
            raise UsageError(
                f"--{option.replace('_', '-')} does nothing for --set {arguments.set}, but for {' and '.join(of)}: leave it out"
            )
    if unknown := [step for step in arguments.steps if step not in STEPS[arguments.set]]:
        raise UsageError(f"--set {arguments.set} has no step {', '.join(unknown)} (there are {', '.join(STEPS[arguments.set])})")
    if arguments.set in PROGRAMS and arguments.data is None:
        raise UsageError(f"--set {arguments.set} needs --data: {PROGRAMS[arguments.set]}; Assay brings none with it")
