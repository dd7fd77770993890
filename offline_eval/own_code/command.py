"""`assay calibrate model`."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_memory_option, listed, minutes, options_from, seed

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice


def background() -> None:
    """Take the lowest priority, and end this process, as Ctrl-C does, when the one that holds its standard input ends."""
    with suppress(OSError, AttributeError):
        os.nice(19)
    threading.Thread(target=_end_with_input, name="assay-input", daemon=True).start()


def _end_with_input() -> None:
    # Not by `sys.stdin`, whose lock would be held when the process ends by itself.
    with suppress(OSError):
        while os.read(0, 1024):
            pass
    os.kill(os.getpid(), signal.SIGINT)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help="folders with code of yours, besides the current project")
    parser.add_argument("--minutes", metavar="N", type=minutes, default=5.0, help="stop asking after N minutes (default: %(default)g)")
    parser.add_argument(
        "--project", action="store_true",
        help="fit for one project alone, the current one or FOLDER, to its own code, toward what is known of all projects",
    )  # fmt: skip
    parser.add_argument(
        "--tasks",
        type=listed("task", ".sets.lines:TASKS"),
        default="line,line_rest,line_middle",
        help="what the model is asked for at each line (default: %(default)s)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed of the draw of lines and cursors (default: 0)")
    parser.add_argument(
        "--out", metavar="RUN", type=Path, help="folder of the run (default: one in your cache folder, for the same model and scope)"
    )
    parser.add_argument(
        "--background", action="store_true", help="for editors: take the lowest priority, and end when the standard input is closed"
    )
    add_memory_option(parser)


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Ask about places of code on this machine, and fit calibrators; ends with their paths."""
    from ..pool.pool import Pool
    from .study import Options, folders_of, run_study

    if arguments.background:
        background()
    folders = folders_of(arguments.folders, only_current=arguments.project)
    pool = Pool(arguments.workers, arguments.ray)
    run_study(
        options_from(Options, arguments, choice=choice, folders=folders, project=folders[0] if arguments.project else None, pool=pool)
    )


COMMAND = Command(
    group="calibrate",
    name="model",
    summary="fit calibrators to a model in minutes, from code on this machine",
    details="Lines are taken out of code and completed as in the editor, and compared with what stood there: your own code first (by git's "
    "author, newest first), in turn with a small set of public code that comes with Assay. Nothing is downloaded and no code is run. It "
    "ends early when the skill is known well enough. What was asked is kept: the same command goes on. A running server uses the result at "
    "once. Without --workers half of the processors work, for a GGUF file that is run on them.",
    add_arguments=add_arguments,
    run=run,
)
