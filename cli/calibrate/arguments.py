"""`assay calibrate …`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..eval import add_studies
from ..options import (
    EVENTS,
    TASKS,
    add_json_option,
    add_map_option,
    add_model_option,
    command_parser,
    group_parser,
    model_choice,
    names,
)

if TYPE_CHECKING:
    from ..options import Subparsers


def add_calibrate(commands: Subparsers) -> None:
    """`assay calibrate …`."""
    actions = group_parser(commands, "calibrate", "fit calibrators, report on them, show the ones there are")
    _add_calibrate_fit(actions)
    add_studies(actions, "calibrate")
    _add_calibrate_report(actions)
    _add_calibrate_show(actions)
    _add_calibrate_drift(actions)


def _add_calibrate_fit(actions: Subparsers) -> None:
    parser = command_parser(
        actions, "fit", "samples in, calibrator out", "The evidence is held out by project: each is judged by a map fitted without it."
    )
    parser.add_argument("samples", metavar="SAMPLES", nargs="+", type=Path, help="files of samples (JSON Lines)")
    parser.add_argument("--event", choices=EVENTS, required=True, help="what the probability is about")
    parser.add_argument(
        "--features",
        type=names,
        help="measures that go in, with commas between, or free for all that cost nothing (default: total_logprob)",
    )
    add_map_option(parser)
    parser.add_argument(
        "--levels", metavar="language,project,user", type=names, default=[],
        help="give each of them a platt map of its own, shrunk toward the one above it, where that is better on files held out",
    )  # fmt: skip
    parser.add_argument(
        "--toward", metavar="CALIBRATOR", type=Path,
        help="move the map of this calibrator, of other projects, as far as these samples of one project say; it names the measures",
    )  # fmt: skip
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the calibrator's file (JSON)")
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .fit import calibrate_fit

        kind, levels, toward = cast("Any", arguments.map or "auto"), arguments.levels, arguments.toward
        if toward and arguments.features:
            parser.error("--toward names the measures, those of its calibrator: leave --features out")
        features = arguments.features or ["total_logprob"]
        return calibrate_fit(
            arguments.samples, arguments.event, features, arguments.out, arguments.json, kind=kind, levels=levels, toward=toward
        )

    parser.set_defaults(run=run)


def _add_calibrate_report(actions: Subparsers) -> None:
    parser = command_parser(actions, "report", "metrics, tables and plots", "On samples, each event with labels is reported on.")
    parser.add_argument(
        "paths", metavar="SAMPLES|CALIBRATOR", nargs="+", type=Path, help="files of samples (*.jsonl), or one calibrator (*.json)"
    )
    parser.add_argument("--event", choices=EVENTS, help="the event to report on, of samples (default: each that has labels)")
    parser.add_argument("--features", type=names, help="measures to fit samples with, as for fit (default: total_logprob)")
    add_map_option(parser)
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("report"), help="the folder to write to (default: %(default)s)")
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .fit import calibrate_report

        asked = {"features": arguments.features, "event": arguments.event, "kind": arguments.map}
        return calibrate_report(arguments.paths, arguments.out, arguments.json, **asked)

    parser.set_defaults(run=run)


def _add_calibrate_show(actions: Subparsers) -> None:
    parser = command_parser(actions, "show", "the calibrators of this machine, and why one is chosen")
    parser.add_argument(
        "--project", metavar="DIR", type=Path, help="whose own calibrators are looked at, too (default: the project of the current folder)"
    )
    parser.add_argument("--why", action="store_true", help="say which calibrator is chosen, and why, for what the options below describe")
    parser.add_argument("--event", choices=EVENTS, help="what the probability is about (default: exact_match)")
    parser.add_argument("--task", choices=TASKS, help="what is asked of the model (default: each)")
    parser.add_argument("--language", help="identifier of the language (default: python)")
    add_model_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from ...calibration.control_characters import strip_control_characters
        from ...calibration.registry import project_of
        from ...inference.completion.settings import Settings
        from ...inference.completion.task import kind_of
        from ...inference.opening import ModelChoice
        from ..terminal import print_json
        from .show import Question, show

        choice, project, question = model_choice(arguments), arguments.project, None
        if project is not None and not project.is_dir():
            parser.error(f"{project} is not a folder")
        if not arguments.why and (arguments.event or arguments.task or arguments.language or choice != ModelChoice()):
            parser.error("an event, a task, a language and a model are for --why, which is not given")
        if arguments.why:
            with choice.open() as model:
                tasks = (arguments.task,) if arguments.task else TASKS
                prompts = {task: Settings().fingerprint(model.layout, model.context_length, kind_of(task)) for task in tasks}
                question = Question(model.fingerprint.id, prompts, arguments.event or "exact_match", arguments.language or "python")
        shown = show(project.absolute() if project else project_of(Path.cwd()), question)
        if arguments.json:
            print_json(shown.document)
        else:
            print(strip_control_characters(shown.text))
        return 0

    parser.set_defaults(run=run)


def _add_calibrate_drift(actions: Subparsers) -> None:
    parser = command_parser(
        actions,
        "drift",
        "whether a calibrator's probabilities still hold, on samples in their order",
        "The alarm may be looked at after every sample: that it is ever raised while the probabilities hold within the tolerance has at "
        "most the probability alpha.",
    )
    parser.add_argument("calibrator", metavar="CALIBRATOR", type=Path, help="a calibrator's file (JSON)")
    parser.add_argument("samples", metavar="SAMPLES", nargs="+", type=Path, help="files of samples (JSON Lines), oldest first")
    parser.add_argument("--alpha", type=float, default=0.01, help="probability of ever a false alarm, at most (default: %(default)s)")
    parser.add_argument(
        "--tolerance", metavar="LOG_ODDS", type=float,
        help="errors up to this are no drift (default: 0.25, or twice the spread between the calibrator's projects where that is more)",
    )  # fmt: skip
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 at an alarm, instead of 0")
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .drift import calibrate_drift

        return calibrate_drift(
            arguments.calibrator,
            arguments.samples,
            arguments.json,
            alpha=arguments.alpha,
            tolerance=arguments.tolerance,
            alarm_fails=arguments.exit_code,
        )

    parser.set_defaults(run=run)
