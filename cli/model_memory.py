"""`assay model memory`: fits the weights of the project memory's mixture to a model."""

from __future__ import annotations

import argparse
from pathlib import Path

from .exit_codes import DONE
from .options import Subparsers, command_parser, model_choice, positive, set_run
from .terminal import print_json, say, show


def register(actions: Subparsers) -> None:
    """Add `assay model memory`."""
    parser = command_parser(
        actions,
        "memory",
        "fit how much a project memory counts beside the model",
        "The embedded model has such weights. Another model uses nine tenths of them until they are fitted to it: lines of Python "
        "functions are hidden, and the weights are fitted so that model and memory together make these likely. Without a PROJECT, pip "
        "downloads projects of others once, as wheels; no code of them runs.",
    )
    parser.add_argument("projects", metavar="PROJECT", nargs="*", type=Path, help="folders of Python code (default: projects of others)")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="the file for the weights (default: in your own data folder, and used from then on)"
    )
    parser.add_argument(
        "--places", metavar="N", type=positive, default=20, help="at most N functions of each project (default: %(default)s)"
    )
    set_run(parser, run, "model", "json")


def run(arguments: argparse.Namespace) -> int:
    """Fit weights, write them, and print what they are worth. Raises UsageError, StudyError, ModelError and OSError."""
    from ..offline_eval.memory_weights.fit import fit_to, table

    found, path = fit_to(model_choice(arguments), arguments.projects, arguments.places, arguments.out)
    if arguments.json:
        print_json({"file": str(path), "model": found.weights.model, "version": found.weights.version, **found.weights.fitted_on})
        return DONE
    show(*table(found).split("\n"))
    say(f"Written to {path}.")
    if arguments.out is None:
        say("This model uses it from now on, wherever it is opened. Calibrators that were fitted with other weights no longer apply.")
    return DONE
