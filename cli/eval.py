"""`assay eval`: the studies, each with the options that all of them have, and a run's report."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..offline_eval.calibration.recorded import command as recorded_files
from ..offline_eval.command import Command, add_pool_options, commands
from .exit_codes import DONE, UsageError
from .options import Register, Subparsers, command_parser, group_parser, model_choice, set_run
from .terminal import say


def register(commands: Subparsers) -> None:
    """Add `assay eval`."""
    actions = group_parser(commands, "eval", "run a study, or report on a run")
    studies_of("eval")(actions)
    parser = command_parser(
        actions,
        "report",
        "report on recorded answers, make a run's report again, or compare runs",
        "FILE: outputs of EvalPlus, lm-evaluation-harness (--log_samples), inspect_ai, bigcode's harness, batches of OpenAI or vLLM, "
        "published sets, or your own (assay/answers/1). No model is asked: measures come from the file's log-probabilities, labels from "
        "the benchmark's tests or the file, and the page says how well the first tell the second, as they are and scaled. One run: its "
        "samples files and its folder report/; RUN.tar.xz is a packed one. Two runs of the same items: their differences place by place, "
        "with intervals, in the folder compared/ of the first. Any number of runs of counterfeit programs: a table of generators and "
        "evaluators. Any number of runs of round trips on problems, each of another model: a row for each, and correlations over them.",
    )
    parser.add_argument("runs", metavar="RUN|FILE", type=Path, nargs="+", help="folders of runs on the same items, or files of answers")
    parser.add_argument(
        "--out", metavar="DIR", type=Path,
        help="folder of the comparison (default: RUN/compared/NAME-OF-RUN2), or of the run about FILE (default: NAME-OF-FILE-report), "
        "or for a packed run (default: its name)",
    )  # fmt: skip
    parser.add_argument("--pack", metavar="RUN.tar.xz", type=Path, help="also pack the run, to publish or send it")
    recorded_files.add_arguments(parser)
    set_run(parser, report, "json")


def studies_of(group: str) -> Register:
    """A function that adds the studies whose command is `assay GROUP …`."""

    def register(actions: Subparsers) -> None:
        for command in commands(group):
            _add_study(actions, command)

    return register


def report(arguments: argparse.Namespace) -> int:
    """Report on files of answers; write a run's samples files and report again, or compare it with others.

    Raises UsageError, RunError, SampleError, StudyError and OSError.
    """
    from ..offline_eval.packed_run import SUFFIX, check_pack, pack, unpack

    first, *others = arguments.runs
    if missing := next((path for path in arguments.runs if not path.exists()), None):
        raise UsageError(f"{missing}: no such file or folder")
    packed = first.name.endswith(SUFFIX)
    if arguments.pack and (others or packed or first.is_file()):
        raise UsageError("--pack is for the folder of one run: leave it out")
    if not packed and any(path.is_file() for path in arguments.runs):
        recorded_files.run(arguments, arguments.runs)
        return DONE
    recorded_files.refuse_options(arguments)
    if others:
        if packed or any(path.name.endswith(SUFFIX) for path in others):
            raise UsageError("packed runs are compared once each is unpacked: report on each alone first, then on their folders")
        from ..offline_eval.pairing import compare

        out = arguments.out or first / "compared" / "-".join(other.resolve().name for other in others)
        compare(arguments.runs, out, as_json=arguments.json)
        return DONE
    if arguments.out is not None and not packed:
        raise UsageError("--out is for the comparison of two runs: name a second one, or leave --out out")
    from ..offline_eval.command import study_of
    from ..offline_eval.run import Run
    from ..offline_eval.study import finish, how_far

    run = unpack(first, arguments.out or Path(first.name.removesuffix(SUFFIX))) if packed else Run.opened(first)
    study = study_of(run)
    if arguments.pack:
        check_pack(run, arguments.pack)
    finish(study, run, as_json=arguments.json)
    if arguments.pack:
        pack(run, arguments.pack)
        say(f"packed: {arguments.pack}")
    say(how_far(study, run))
    return DONE


def _add_study(actions: Subparsers, command: Command) -> None:
    def run(arguments: argparse.Namespace) -> int:
        command.run(arguments, model_choice(arguments))
        return DONE

    parser = command_parser(actions, command.name, command.summary, command.details)
    command.add_arguments(parser)
    add_pool_options(parser)
    set_run(parser, run, "model", "json")
