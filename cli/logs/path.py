"""`assay logs path`: where the log is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..exit_codes import DONE
from ..options import add_log_option, command_parser
from ..terminal import say, show_text

if TYPE_CHECKING:
    import argparse

    from ..options import Subparsers


def register(actions: Subparsers) -> None:
    """Add `assay logs path`."""
    parser = command_parser(actions, "path", "print where the log is")
    add_log_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the path."""
    from ...calibration.log.event_log import default_path

    path = arguments.log or default_path()
    show_text(str(path))
    if not path.exists():
        say("There is no log yet. The server makes it when an editor asks for its first suggestion.")
    return DONE
