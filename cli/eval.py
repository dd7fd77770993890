"""`assay eval …`, and the way of every study to the command line: its options, and what its errors end with."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..offline_eval.command import Command
from ..offline_eval.registry import commands
from .options import add_json_option, add_model_option, command_parser, group_parser, model_choice, positive

if TYPE_CHECKING:
    from .options import Subparsers

DONE, FAILED, WRONG_USAGE = 0, 1, 2


def add_eval(groups: Subparsers) -> None:
    """`assay eval …`."""
    actions = group_parser(groups, "eval", "run a study, or report on a run")
    add_studies(actions, "eval")
    parser = command_parser(actions, "report", "write a run's samples files and its report again, without a model")
    parser.add_argument("folder", metavar="RUN", type=Path)
    add_json_option(parser)
    parser.set_defaults(run=lambda arguments: eval_report(arguments.folder, as_json=arguments.json))


def add_studies(actions: Subparsers, group: str) -> None:
    """The studies whose command is `assay GROUP …`."""
    for command in commands(group):
        _add_study(actions, command)


def _add_study(actions: Subparsers, command: Command) -> None:
    parser = command_parser(actions, command.name, command.summary, command.details)
    command.add_arguments(parser)
    parser.add_argument(
        "--workers", metavar="N", type=positive, help="processes, one thread each (default: 1; on a cluster one for each CPU but one)"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="work on a Ray cluster instead, host:port or auto (extra: ray)")
    add_model_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=lambda arguments: exit_code(lambda: command.run(arguments, model_choice(arguments))))


def eval_report(folder: Path, *, as_json: bool = False) -> int:
    """Write a run's samples files and report again, without a model."""

    def work() -> None:
        from ..offline_eval.registry import study_of
        from ..offline_eval.run import Run
        from ..offline_eval.study import finish

        run = Run.opened(folder)
        finish(study_of(run), run, as_json=as_json)

    return exit_code(work)


def exit_code(work: Callable[[], None]) -> int:
    """Do the work of a study: 0, or 1 where it failed, 2 where it can't be done as it was asked; then stderr says why."""
    from ..analysis.oracle.copying import NotCopied
    from ..analysis.oracle.environment import NoEnvironment
    from ..analysis.oracle.interpreter import UnusableInterpreter
    from ..analysis.sandbox.isolation.best_level import NoIsolation
    from ..calibration.report.plots import PlotError
    from ..calibration.samples import SampleError
    from ..offline_eval.errors import StudyError, UsageError
    from ..offline_eval.run import RunError

    try:
        work()
    except (UsageError, RunError, SampleError, NotCopied) as error:
        print(f"assay: {error}", file=sys.stderr)
        return WRONG_USAGE
    except (StudyError, NoIsolation, NoEnvironment, UnusableInterpreter, PlotError) as error:
        print(f"assay: {error}", file=sys.stderr)
        return FAILED
    except OSError as error:
        print(f"assay: {error.filename}: {error.strerror}" if error.filename else f"assay: {error}", file=sys.stderr)
        return FAILED
    return DONE
