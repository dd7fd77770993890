"""The command-line program `assay`: the list of its commands, and the way from the arguments to one of them.

A command is a file here that has two functions: `register` adds it and its options to the command line, `run` does the work and
returns the exit code. What is heavy is imported in `run`, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .. import __version__
from . import complete, demo, doctor, eval, model, model_get, model_list, repair, serve, why
from .calibrate import drift, fit, report, show, trust, validate
from .exit_codes import run_to_exit_code
from .logs import evaluate, export, forget, path, prune, recalibrate, summary
from .options import group
from .terminal import escape_output

COMMANDS = (
    demo.register,
    complete.register,
    repair.register,
    why.register,
    serve.register,
    group(
        "calibrate",
        "fit calibrators, which turn measures into probabilities; check and list them",
        fit.register,
        eval.studies_of("calibrate"),
        report.register,
        show.register,
        trust.register,
        drift.register,
        validate.register,
    ),
    eval.register,
    group(
        "logs",
        "read, use or delete the log of your suggestions and what became of them",
        summary.register,
        evaluate.register,
        export.register,
        recalibrate.register,
        prune.register,
        forget.register,
        path.register,
    ),
    group(
        "model",
        "list the models of this machine, get another, describe one, or measure its speed",
        model_list.register,
        model_get.register,
        model.register,
    ),
    doctor.register,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (`exit_codes`). Raises SystemExit for wrong usage and after --help."""
    escape_output()
    arguments = build_parser().parse_args(argv)
    return run_to_exit_code(lambda: arguments.run(arguments))


def build_parser() -> argparse.ArgumentParser:
    """The whole command line. Each command sets `run`."""
    parser = argparse.ArgumentParser(prog="assay", description="Local code completion that says how likely each suggestion is to be right.")
    parser.add_argument("--version", action="version", version=f"assay {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for register in COMMANDS:
        register(commands)
    return parser
