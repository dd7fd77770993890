"""`assay serve`: run the language server."""

from __future__ import annotations

import argparse

from .exit_codes import FAILED
from .options import Subparsers, command_parser, model_choice, port, set_run
from .terminal import say


def register(commands: Subparsers) -> None:
    """Add `assay serve`."""
    parser = command_parser(
        commands,
        "serve",
        "run the language server; editors start it",
        "Serves one editor on stdin and stdout, or on a port, and ends with it.",
    )
    parser.add_argument("--tcp", metavar="PORT", type=port, help="listen on this port of 127.0.0.1 instead (0: any free port)")
    set_run(parser, run, "model")


def run(arguments: argparse.Namespace) -> int:
    """Serve one client until it leaves."""
    from ..server.serve import serve

    try:
        return serve(model_choice(arguments), tcp_port=arguments.tcp)
    except OSError as error:
        where = "" if arguments.tcp is None else f" on port {arguments.tcp}"
        say(f"assay: can't listen{where}: {error.strerror or error}")
        return FAILED
