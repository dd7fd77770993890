"""Which run the options ask for, and which of them do something there. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from ..errors import UsageError

SETS = ("lines", "quixbugs")
# The steps of each set.
STEPS: Mapping[str, tuple[str, ...]] = {
    "lines": ("draw", "bug", "propose", "label", "locate", "loop"),
    "quixbugs": ("propose", "label", "loop"),
}
# Options for one set alone.
_FOR = {"data": "quixbugs", "projects": "lines", "per_project": "lines", "cache": "lines", "python": "lines"}


def refuse_what_does_nothing(arguments: argparse.Namespace) -> None:
    """Raise UsageError for an option or a step that does nothing for the set, and where the data are not named."""
    for option, of in _FOR.items():
        if getattr(arguments, option) and arguments.set != of:
            raise UsageError(f"--{option.replace('_', '-')} does nothing for --set {arguments.set}, but for {of}: leave it out")
    if unknown := [step for step in arguments.steps if step not in STEPS[arguments.set]]:
        raise UsageError(f"--set {arguments.set} has no step {', '.join(unknown)} (there are {', '.join(STEPS[arguments.set])})")
    if arguments.set == "quixbugs" and arguments.data is None:
        raise UsageError("--set quixbugs needs --data: a copy of the project github.com/jkoppel/QuixBugs; Assay brings none with it")
