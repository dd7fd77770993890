"""`assay logs prune`: delete old events, and give the space back to the disk."""

from __future__ import annotations

import argparse

from ..exit_codes import DONE
from ..options import Subparsers, command_parser, positive, set_run
from ..terminal import say
from .log import count, mib, opened


def register(actions: Subparsers) -> None:
    """Add `assay logs prune`."""
    parser = command_parser(
        actions, "prune", "delete old events, and give the space back to the disk", "Servers do this when they start, and every hour."
    )
    parser.add_argument("--days", metavar="N", type=positive, default=180, help="delete what is older (default: %(default)s)")
    parser.add_argument(
        "--megabytes", metavar="N", type=positive, default=256, help="delete the oldest beyond this size (default: %(default)s)"
    )
    set_run(parser, run, "log")


def run(arguments: argparse.Namespace) -> int:
    """Prune the log. Raises EventLogError."""
    with opened(arguments.log) as log:
        before = log.size
        deleted = sum(log.prune(arguments.days, arguments.megabytes))
        say(f"{count(deleted, 'event')} deleted, {mib(before)} before, {mib(log.size)} now: {log.path}")
    return DONE
