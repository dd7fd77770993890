"""`assay eval`: the studies, each with the options that all of them have, and a run's report."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..offline_eval.command import Command, commands
from .exit_codes import DONE, UsageError
from .options import Register, Subparsers, command_parser, group_parser, model_choice, positive, set_run
from .terminal import say


def register(commands: Subparsers) -> None:
    """Add `assay eval`."""
    actions = group_parser(commands, "eval", "run a study, or report on a run")
    studies_of("eval")(actions)
    parser = command_parser(
        actions,
        "report",
        "write a run's samples and report again, without a model; or compare runs",
        "One run: its samples files and its folder report/. Two runs of the same items: their differences place by place, with "
        "intervals, in the folder compared/ of the first. Any number of runs of counterfeit programs: a table of generators and "
        "evaluators. Any number of runs of round trips on problems, each of another model: a row for each, and correlations over them.",
    )
    parser.add_argument("folder", metavar="RUN", type=Path, help="folder of the run")
    parser.add_argument("others", metavar="RUN2", type=Path, nargs="*", help="folder of a run of another model on the same items")
    parser.add_argument("--out", metavar="DIR", type=Path, help="with RUN2: the folder for report/ (default: RUN/compared/NAME-OF-RUN2)")
    set_run(parser, report, "json")


def studies_of(group: str) -> Register:
    """A function that adds the studies whose command is `assay GROUP …`."""

    def register(actions: Subparsers) -> None:
        for command in commands(group):
            _add_study(actions, command)

    return register


def report(arguments: argparse.Namespace) -> int:
    """Write a run's samples files and report again, or compare it with another run.

    Raises RunError, SampleError, StudyError and OSError.
    """
    if arguments.others:
        from ..offline_eval.pairing import compare

        out = arguments.out or arguments.folder / "compared" / "-".join(other.resolve().name for other in arguments.others)
        compare([arguments.folder, *arguments.others], out, as_json=arguments.json)
        return DONE
    if arguments.out is not None:
        raise UsageError("--out is for the comparison of two runs: name a second one, or leave --out out")
    from ..offline_eval.command import study_of
    from ..offline_eval.run import Run
    from ..offline_eval.study import finish, how_far

    run = Run.opened(arguments.folder)
    study = study_of(run)
    finish(study, run, as_json=arguments.json)
    say(how_far(study, run))
    return DONE


def _add_study(actions: Subparsers, command: Command) -> None:
    def run(arguments: argparse.Namespace) -> int:
        command.run(arguments, model_choice(arguments))
        return DONE

    parser = command_parser(actions, command.name, command.summary, command.details)
    command.add_arguments(parser)
    parser.add_argument(
        "--workers",
        metavar="N",
        type=positive,
        help="processes of one thread each (default: 1; on a cluster: one for each CPU but one); with a server: calls at the same time "
        "(default: 4)",
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="work on a Ray cluster instead: host:port, or auto (needs the extra ray)")
    set_run(parser, run, "model", "json")
