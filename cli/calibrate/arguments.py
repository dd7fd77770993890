"""`assay calibrate …` and `assay eval …`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..options import (
    EVENTS,
    TASKS,
    add_json_option,
    add_map_option,
    add_model_option,
    command_parser,
    group_parser,
    minutes,
    model_choice,
    names,
    positive,
)

if TYPE_CHECKING:
    from ..options import Subparsers


def add_calibrate(commands: Subparsers) -> None:
    """`assay calibrate …`."""
    actions = group_parser(commands, "calibrate", "fit calibrators, report on them, show the ones there are")
    _add_calibrate_fit(actions)
    _add_calibrate_repo(actions)
    _add_calibrate_report(actions)
    _add_calibrate_show(actions)
    _add_calibrate_drift(actions)


def add_eval(commands: Subparsers) -> None:
    """`assay eval …`."""
    actions = group_parser(commands, "eval", "run a study, or report on a run")
    parser = command_parser(
        actions,
        "calibration",
        "complete real lines of real projects and compare: the samples that calibrators are fitted on",
        "The projects' sources are fetched once, through pip with their hashes (pip asks each one's build backend for its metadata), and "
        "only read. A run that was stopped goes on where it was.",
    )
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument("--projects", type=names, default=[], help="some of the listed projects, with commas between (default: all)")
    parser.add_argument(
        "--per-project", metavar="N", type=positive, default=150, help="functions of each project at most (default: %(default)s)"
    )
    parser.add_argument(
        "--tasks", type=names, default="line,line_rest,line_middle", help="what is asked of each line (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="which functions, lines and places are drawn (default: %(default)s)")
    parser.add_argument("--workers", metavar="N", type=positive, default=1, help="processes, one thread each (default: %(default)s)")
    parser.add_argument(
        "--cache", metavar="DIR", type=Path, help="where the projects' archives are kept (default: the user's cache folder)"
    )
    parser.add_argument(
        "--reflective", action="store_true", help="ask the model about each of its answers, too: the measures ask_true and verbalised"
    )
    parser.add_argument(
        "--alternatives", metavar="N", type=positive, default=1,
        help="draw so many at each place and record every one that differs, with the measure agreement (default: %(default)s)",
    )  # fmt: skip
    add_model_option(parser)
    add_json_option(parser)

    def run_study(arguments: argparse.Namespace) -> int:
        from ...offline_eval.line_completion.study import TASKS
        from ..eval import eval_calibration

        if unknown := set(arguments.tasks) - set(TASKS):
            parser.error(f"no such task: {', '.join(sorted(unknown))} (there are {', '.join(TASKS)})")
        return eval_calibration(
            arguments.out,
            choice=model_choice(arguments),
            names=arguments.projects,
            per_project=arguments.per_project,
            tasks=[task for task in TASKS if task in arguments.tasks],
            seed=arguments.seed,
            workers=arguments.workers,
            cache=arguments.cache,
            reflective=arguments.reflective,
            alternatives=arguments.alternatives,
            as_json=arguments.json,
        )

    parser.set_defaults(run=run_study)

    reporting = command_parser(actions, "report", "write a run's samples files and its summary again, without a model")
    reporting.add_argument("folder", metavar="RUN", type=Path)
    add_json_option(reporting)

    def run_report(arguments: argparse.Namespace) -> int:
        from ..eval import eval_report

        return eval_report(arguments.folder, as_json=arguments.json)

    reporting.set_defaults(run=run_report)


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


def _add_calibrate_repo(actions: Subparsers) -> None:
    parser = command_parser(
        actions,
        "repo",
        "calibrate to a repository with its own tests",
        "Regions of the project's own code are completed as in the editor, its tests judge the result in a sandbox, and calibrators are "
        "fitted that its files are then shown. What was done is kept: the same command goes on where it stopped.",
    )
    parser.add_argument("project", metavar="PATH", type=Path, help="root folder of a Python project with a pytest suite")
    parser.add_argument("--samples", metavar="N", type=positive, help="places to ask at, whose tests see their code gone (default: 200)")
    parser.add_argument("--minutes", metavar="N", type=minutes, help="stop asking after so long; without --samples there is no other bound")
    parser.add_argument(
        "--tasks", type=names, default="line,line_rest,line_middle,block", help="what is asked at each place (default: %(default)s)"
    )
    parser.add_argument("--python", metavar="FILE", type=Path, help="runs the tests (default: the project's .venv, else this Python)")
    parser.add_argument(
        "--make-environment", action="store_true",
        help="make an environment with what the tests need: runs the project's build code, with a network",
    )  # fmt: skip
    parser.add_argument(
        "--workers", metavar="N", type=positive, help="processes, one thread each (default: 1; on a cluster one for each CPU but one)"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="work on a Ray cluster instead, host:port or auto (extra: ray)")
    parser.add_argument(
        "--sandbox",
        choices=("auto", "none"),
        default="auto",
        help="none: run tests with no isolation, with your rights; you are asked first",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what would be executed; only the Python that would run the tests is asked for its pytest",
    )
    parser.add_argument("--yes", action="store_true", help="put no question")
    parser.add_argument("--seed", type=int, default=0, help="which places, lines and cursors are drawn (default: 0)")
    parser.add_argument(
        "--out", metavar="RUN", type=Path, help="folder of the run (default: one in the user's cache, for this very question)"
    )
    add_model_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from ...offline_eval.repository.study import TASKS
        from .repository import Asked, calibrate_repo

        if unknown := set(arguments.tasks) - set(TASKS):
            parser.error(f"no such task: {', '.join(sorted(unknown))} (there are {', '.join(TASKS)})")
        return calibrate_repo(
            Asked(
                arguments.project, model_choice(arguments), arguments.samples, arguments.minutes, arguments.python,
                arguments.make_environment, arguments.workers, arguments.ray, arguments.sandbox == "none", arguments.dry_run, arguments.yes,
                arguments.seed, tuple(task for task in TASKS if task in arguments.tasks), arguments.out, arguments.json,
            )
        )  # fmt: skip

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
