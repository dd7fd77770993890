"""`assay logs path`: where the log is."""

from __future__ import annotations

import argparse

from ..exit_codes import DONE
from ..options import Subparsers, command_parser, set_run
from ..terminal import say, show_text


def register(actions: Subparsers) -> None:
    """Add `assay logs path`."""
    parser = command_parser(actions, "path", "print where the log is")
    set_run(parser, run, "log")


def run(arguments: argparse.Namespace) -> int:
    """Print the path."""
    from ...calibration.log.event_log import default_path

    path = arguments.log or default_path()
    show_text(str(path))
    if not path.exists():
        say("There is no log yet. The server makes it when an editor asks for its first suggestion.")
    return DONE
