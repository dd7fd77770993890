"""The command-line program `assay`: it parses and calls. A command imports what it needs when it runs, so `--help` answers at once."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import __version__

if TYPE_CHECKING:
    from .inference.opening import ModelChoice

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EVENTS = ("exact_match", "tests_pass", "kept")
LOOKED_AFTER_S = (15, 30, 120, 300, 600)
KINDS = ("line", "block", "function")
KV_TYPES = ("f16", "f32", "q8_0", "q4_0")
MAPS = ("base_rate", "platt", "temperature", "beta", "isotonic", "histogram", "venn_abers")
TASKS = ("line", "line_rest", "line_middle", "block", "function")
DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 the work failed, 2 wrong usage or unreadable input, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    arguments = build_parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
        print(end="", flush=True)  # not sys.stdout.flush(): there is none where it was closed before the start
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more; what is left in the buffer must not fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print(f"assay: {error.strerror}: nothing more can be written{f' to {error.filename}' if error.filename else ''}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        known = exit_code_of(error)
        if known is None:
            raise
        print(f"assay: {error}", file=sys.stderr)
        return known
    return code


def exit_code_of(error: Exception) -> int | None:
    """2 for an error in what the user gave, 1 for one of the work itself, None for one that only a fault of ours can raise."""
    from .calibration.calibrator import CalibratorError
    from .complete import PlaceError
    from .inference import errors

    not_installed = errors.RuntimeMissing | errors.ExtraMissing | errors.HttpxMissing
    in_this_process = errors.OutOfMemory | errors.LoadFailed | errors.FolderLoadFailed | errors.DecodeFailed | errors.ForwardFailed
    at_a_server = errors.ServerUnreachable | errors.ServerTimedOut | errors.ServerBusy | errors.RequestRefused
    of_its_answer = errors.BadAnswer | errors.AnswerCutOff
    closed = errors.ModelClosed | errors.RemoteClosed
    if isinstance(error, not_installed | in_this_process | at_a_server | of_its_answer | closed):
        return FAILED
    if isinstance(error, errors.ModelError | CalibratorError | PlaceError):
        return WRONG_USAGE
    return None


def build_parser() -> argparse.ArgumentParser:
    """The whole command line. Each command sets `run`, a function from the parsed arguments to the exit code."""
    parser = argparse.ArgumentParser(prog="assay", description="Local code completion that says how likely each suggestion is to be right.")
    parser.add_argument("--version", action="version", version=f"assay {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_demo(commands)
    _add_complete(commands)
    _add_serve(commands)
    _add_calibrate(commands)
    _add_eval(commands)
    _add_logs(commands)
    _add_model(commands)
    _add_doctor(commands)
    return parser


def _add_demo(commands: Subparsers) -> None:
    parser = _command(commands, "demo", "complete the example files and show each suggestion with its band and evidence")
    _add_model_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from . import demo

        return demo.run(_model_choice(arguments), as_json=arguments.json)

    parser.set_defaults(run=run)


def _add_complete(commands: Subparsers) -> None:
    parser = _command(
        commands,
        "complete",
        "one suggestion for a place in a file",
        "Lines and columns count from 1, columns in characters: the suggestion goes before the character at COL, and the column after the "
        "last character is the line's end. The file is UTF-8.",
    )
    parser.add_argument("place", metavar="FILE:LINE:COL")
    parser.add_argument("--stdin", action="store_true", help="read the text from stdin; FILE then only names it and need not exist")
    parser.add_argument(
        "--kind", choices=KINDS, default="line", help="what to suggest: the rest of a line, of a block or of a function (default: line)"
    )
    parser.add_argument("--event", choices=EVENTS, default="exact_match", help="what the probability is about (default: exact_match)")
    parser.add_argument("--language", help="identifier of the language, such as python (default: from the file's name)")
    parser.add_argument("--show-prompt", action="store_true", help="show what the model would be given there, and do not ask it")
    _add_model_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from . import complete

        if arguments.show_prompt:
            return complete.show_prompt(
                arguments.place, from_stdin=arguments.stdin, kind=arguments.kind, model=_model_choice(arguments), as_json=arguments.json
            )
        return complete.run(
            arguments.place,
            from_stdin=arguments.stdin,
            kind=arguments.kind,
            event=arguments.event,
            language=arguments.language,
            model=_model_choice(arguments),
            as_json=arguments.json,
        )

    parser.set_defaults(run=run)


def _add_serve(commands: Subparsers) -> None:
    parser = _command(commands, "serve", "the language server, on stdin and stdout unless a port is given")
    parser.add_argument("--tcp", metavar="PORT", type=_port, help="listen on this port of 127.0.0.1 (0: any free one) instead")
    _add_model_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .server.serving import serve

        try:
            return serve(_model_choice(arguments), tcp_port=arguments.tcp)
        except OSError as error:
            where = "" if arguments.tcp is None else f" on port {arguments.tcp}"
            print(f"assay: can't listen{where}: {error.strerror or error}", file=sys.stderr)
            return FAILED

    parser.set_defaults(run=run)


def _add_calibrate(commands: Subparsers) -> None:
    actions = _group(commands, "calibrate", "fit calibrators, report on them, show the ones there are")
    _add_calibrate_fit(actions)
    _add_calibrate_repo(actions)
    _add_calibrate_report(actions)
    _add_calibrate_show(actions)
    _add_calibrate_drift(actions)


def _add_eval(commands: Subparsers) -> None:
    actions = _group(commands, "eval", "run a study, or report on a run")
    parser = _command(
        actions,
        "calibration",
        "complete real lines of real projects and compare: the samples that calibrators are fitted on",
        "The projects' sources are fetched once, through pip with their hashes (pip asks each one's build backend for its metadata), and "
        "only read. A run that was stopped goes on where it was.",
    )
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument("--projects", type=_names, default=[], help="some of the listed projects, with commas between (default: all)")
    parser.add_argument(
        "--per-project", metavar="N", type=_positive, default=150, help="functions of each project at most (default: %(default)s)"
    )
    parser.add_argument(
        "--tasks", type=_names, default="line,line_rest,line_middle", help="what is asked of each line (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="which functions, lines and places are drawn (default: %(default)s)")
    parser.add_argument("--workers", metavar="N", type=_positive, default=1, help="processes, one thread each (default: %(default)s)")
    parser.add_argument(
        "--cache", metavar="DIR", type=Path, help="where the projects' archives are kept (default: the user's cache folder)"
    )
    parser.add_argument(
        "--reflective", action="store_true", help="ask the model about each of its answers, too: the measures ask_true and verbalised"
    )
    parser.add_argument(
        "--alternatives", metavar="N", type=_positive, default=1,
        help="draw so many at each place and record every one that differs, with the measure agreement (default: %(default)s)",
    )  # fmt: skip
    _add_model_option(parser)
    _add_json_option(parser)

    def run_study(arguments: argparse.Namespace) -> int:
        from .offline_eval.commands import eval_calibration
        from .offline_eval.line_completion import TASKS

        if unknown := set(arguments.tasks) - set(TASKS):
            parser.error(f"no such task: {', '.join(sorted(unknown))} (there are {', '.join(TASKS)})")
        return eval_calibration(
            arguments.out,
            choice=_model_choice(arguments),
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

    reporting = _command(actions, "report", "write a run's samples files and its summary again, without a model")
    reporting.add_argument("folder", metavar="RUN", type=Path)
    _add_json_option(reporting)

    def run_report(arguments: argparse.Namespace) -> int:
        from .offline_eval.commands import eval_report

        return eval_report(arguments.folder, as_json=arguments.json)

    reporting.set_defaults(run=run_report)


def _add_calibrate_fit(actions: Subparsers) -> None:
    parser = _command(
        actions, "fit", "samples in, calibrator out", "The evidence is held out by project: each is judged by a map fitted without it."
    )
    parser.add_argument("samples", metavar="SAMPLES", nargs="+", type=Path, help="files of samples (JSON Lines)")
    parser.add_argument("--event", choices=EVENTS, required=True, help="what the probability is about")
    parser.add_argument(
        "--features",
        type=_names,
        default="total_logprob",
        help="measures that go in, with commas between, or free for all that cost nothing (default: %(default)s)",
    )
    _add_map_option(parser)
    parser.add_argument(
        "--levels", metavar="language,project,user", type=_names, default=[],
        help="give each of them a platt map of its own, shrunk toward the one above it, where that is better on files held out",
    )  # fmt: skip
    parser.add_argument(
        "--toward", metavar="CALIBRATOR", type=Path,
        help="move the map of this calibrator, of other projects, as far as these samples of one project say; it names the measures",
    )  # fmt: skip
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the calibrator's file (JSON)")
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.commands import calibrate_fit

        kind, levels, toward = cast("Any", arguments.map or "auto"), arguments.levels, arguments.toward
        return calibrate_fit(
            arguments.samples, arguments.event, arguments.features, arguments.out, arguments.json, kind=kind, levels=levels, toward=toward
        )

    parser.set_defaults(run=run)


def _add_calibrate_repo(actions: Subparsers) -> None:
    parser = _command(
        actions,
        "repo",
        "calibrate to a repository with its own tests",
        "Regions of the project's own code are completed as in the editor, its tests judge the result in a sandbox, and calibrators are "
        "fitted that its files are then shown. What was done is kept: the same command goes on where it stopped.",
    )
    parser.add_argument("project", metavar="PATH", type=Path, help="root folder of a Python project with a pytest suite")
    parser.add_argument("--samples", metavar="N", type=_positive, help="places to ask at, whose tests see their code gone (default: 200)")
    parser.add_argument(
        "--minutes", metavar="N", type=_minutes, help="stop asking after so long; without --samples there is no other bound"
    )
    parser.add_argument(
        "--tasks", type=_names, default="line,line_rest,line_middle,block", help="what is asked at each place (default: %(default)s)"
    )
    parser.add_argument("--python", metavar="FILE", type=Path, help="runs the tests (default: the project's .venv, else this Python)")
    parser.add_argument(
        "--make-environment", action="store_true",
        help="make an environment with what the tests need: runs the project's build code, with a network",
    )  # fmt: skip
    parser.add_argument(
        "--workers", metavar="N", type=_positive, help="processes, one thread each (default: 1; on a cluster one for each CPU but one)"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="work on a Ray cluster instead, host:port or auto (extra: ray)")
    parser.add_argument(
        "--sandbox",
        choices=("auto", "none"),
        default="auto",
        help="none: run tests with no isolation, with your rights; you are asked first",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be executed, and do nothing")
    parser.add_argument("--yes", action="store_true", help="put no question")
    parser.add_argument("--seed", type=int, default=0, help="which places, lines and cursors are drawn (default: 0)")
    parser.add_argument(
        "--out", metavar="RUN", type=Path, help="folder of the run (default: one in the user's cache, for this very question)"
    )
    _add_model_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .offline_eval.calibrate_repo import Asked, calibrate_repo
        from .offline_eval.repository import TASKS

        if unknown := set(arguments.tasks) - set(TASKS):
            parser.error(f"no such task: {', '.join(sorted(unknown))} (there are {', '.join(TASKS)})")
        return calibrate_repo(
            Asked(
                arguments.project, _model_choice(arguments), arguments.samples, arguments.minutes, arguments.python,
                arguments.make_environment, arguments.workers, arguments.ray, arguments.sandbox == "none", arguments.dry_run, arguments.yes,
                arguments.seed, tuple(task for task in TASKS if task in arguments.tasks), arguments.out, arguments.json,
            )
        )  # fmt: skip

    parser.set_defaults(run=run)


def _add_calibrate_report(actions: Subparsers) -> None:
    parser = _command(actions, "report", "metrics, tables and plots", "On samples, each event with labels is reported on.")
    parser.add_argument(
        "paths", metavar="SAMPLES|CALIBRATOR", nargs="+", type=Path, help="files of samples (*.jsonl), or one calibrator (*.json)"
    )
    parser.add_argument("--event", choices=EVENTS, help="the event to report on, of samples (default: each that has labels)")
    parser.add_argument("--features", type=_names, help="measures to fit samples with, as for fit (default: total_logprob)")
    _add_map_option(parser)
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("report"), help="the folder to write to (default: %(default)s)")
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.commands import calibrate_report

        asked = {"features": arguments.features, "event": arguments.event, "kind": arguments.map}
        return calibrate_report(arguments.paths, arguments.out, arguments.json, **asked)

    parser.set_defaults(run=run)


def _add_calibrate_show(actions: Subparsers) -> None:
    parser = _command(actions, "show", "the calibrators of this machine, and why one is chosen")
    parser.add_argument(
        "--project", metavar="DIR", type=Path, help="whose own calibrators are looked at, too (default: the project of the current folder)"
    )
    parser.add_argument("--why", action="store_true", help="say which calibrator is chosen, and why, for what the options below describe")
    parser.add_argument("--event", choices=EVENTS, help="what the probability is about (default: exact_match)")
    parser.add_argument("--task", choices=TASKS, help="what is asked of the model (default: each)")
    parser.add_argument("--language", help="identifier of the language (default: python)")
    _add_model_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.harmless import harmless
        from .calibration.registry import project_of
        from .calibration.show import Question, show
        from .inference.completion import Settings, kind_of
        from .inference.opening import ModelChoice
        from .terminal import print_json

        choice, project, question = _model_choice(arguments), arguments.project, None
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
            print(harmless(shown.text))
        return DONE

    parser.set_defaults(run=run)


def _add_calibrate_drift(actions: Subparsers) -> None:
    parser = _command(
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
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.drift_command import calibrate_drift

        return calibrate_drift(
            arguments.calibrator,
            arguments.samples,
            arguments.json,
            alpha=arguments.alpha,
            tolerance=arguments.tolerance,
            alarm_fails=arguments.exit_code,
        )

    parser.set_defaults(run=run)


def _add_logs(commands: Subparsers) -> None:
    actions = _group(commands, "logs", "the log of what became of suggestions: look at it, learn from it, forget it")
    _add_logs_summary(actions)
    _add_logs_evaluate(actions)
    _add_logs_export(actions)
    _add_logs_recalibrate(actions)
    _add_logs_prune(actions)
    _add_logs_forget(actions)
    parser = _command(actions, "path", "where the log is")
    _add_log_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.log_commands import logs_path

        return logs_path(arguments.log)

    parser.set_defaults(run=run)


def _add_logs_summary(actions: Subparsers) -> None:
    parser = _command(actions, "summary", "how many suggestions were shown, what became of them, and how many were kept")
    parser.add_argument("--days", metavar="N", type=_positive, help="only the last N days (default: all)")
    _add_log_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.log_commands import logs_summary

        return logs_summary(arguments.log, arguments.json, days=arguments.days)

    parser.set_defaults(run=run)


def _add_logs_evaluate(actions: Subparsers) -> None:
    parser = _command(
        actions, "evaluate", "how the percentages that were said came true: of each calibrator what it said, and what was kept"
    )
    parser.add_argument("--days", metavar="N", type=_positive, help="only the last N days (default: all)")
    _add_log_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.log_commands import logs_evaluate

        return logs_evaluate(arguments.log, arguments.json, days=arguments.days)

    parser.set_defaults(run=run)


def _add_logs_export(actions: Subparsers) -> None:
    parser = _command(
        actions, "export", "write samples with the label kept, which calibrators are fitted on", "See: assay calibrate fit --event kept."
    )
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the samples' file (JSON Lines)")
    parser.add_argument(
        "--at", metavar="SECONDS", type=int, choices=LOOKED_AFTER_S, default=300,
        help="when it is judged whether a suggestion was kept: so long after it ended (default: %(default)s; 15, 30, 120, 300 or 600)",
    )  # fmt: skip
    parser.add_argument("--task", choices=TASKS, help="only samples of this task (default: all)")
    parser.add_argument("--model", metavar="ID", help="only samples of the model with this fingerprint (default: all)")
    parser.add_argument("--prompt", metavar="ID", help="only samples of the prompt and decoder with this fingerprint (default: all)")
    _add_log_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.log_commands import logs_export

        only = {"task": arguments.task, "model": arguments.model, "prompt": arguments.prompt}
        return logs_export(arguments.log, arguments.out, arguments.json, at_s=arguments.at, only=only)

    parser.set_defaults(run=run)


def _add_logs_recalibrate(actions: Subparsers) -> None:
    parser = _command(
        actions,
        "recalibrate",
        "fit a calibrator of the event kept for each task with enough labels, for servers to use",
        "They are written to the user's own calibrators, and used where assay.event is kept.",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
    _add_log_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.log_commands import logs_recalibrate

        return logs_recalibrate(arguments.log, arguments.json, dry_run=arguments.dry_run)

    parser.set_defaults(run=run)


def _add_logs_prune(actions: Subparsers) -> None:
    parser = _command(
        actions, "prune", "delete old events and give the space back to the disk", "Servers do so at their start and each hour."
    )
    parser.add_argument("--days", metavar="N", type=_positive, default=180, help="what is older goes (default: %(default)s)")
    parser.add_argument(
        "--megabytes", metavar="N", type=_positive, default=256, help="the oldest go until no more is taken (default: %(default)s)"
    )
    _add_log_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.log_commands import logs_prune

        return logs_prune(arguments.log, days=arguments.days, megabytes=arguments.megabytes)

    parser.set_defaults(run=run)


def _add_logs_forget(actions: Subparsers) -> None:
    parser = _command(actions, "forget", "delete events for good", "What is deleted is overwritten in the file.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--all", action="store_true", help="every event")
    what.add_argument("--document", metavar="PATH|URI", help="all events about one file")
    what.add_argument("--before", metavar="DATE", type=_date, help="all events from before a date, such as 2026-11-22 or 2026-11-22T08:00")
    what.add_argument("--text", action="store_true", help="the code that was logged; other events stay")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    _add_log_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .calibration.log_commands import logs_forget

        return logs_forget(arguments.log, document=arguments.document, before=arguments.before, text=arguments.text, sure=arguments.yes)

    parser.set_defaults(run=run)


def _add_model(commands: Subparsers) -> None:
    actions = _group(commands, "model", "what is loaded, and its speed on this machine")
    info = _command(actions, "info", "what the model is: architecture, size, context, layout, offloading, fingerprint")
    check = _command(actions, "check", "how fast the model is on this machine")
    for parser in (info, check):
        _add_model_option(parser)
        _add_json_option(parser)

    def run_info(arguments: argparse.Namespace) -> int:
        from . import model_report

        return model_report.info(_model_choice(arguments), as_json=arguments.json)

    def run_check(arguments: argparse.Namespace) -> int:
        from . import model_report

        return model_report.check(_model_choice(arguments), as_json=arguments.json)

    info.set_defaults(run=run_info)
    check.set_defaults(run=run_check)


def _add_doctor(commands: Subparsers) -> None:
    parser = _command(commands, "doctor", "what works here, what is missing, and the command that mends it")
    _add_model_option(parser)
    _add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from . import doctor

        return doctor.run(_model_choice(arguments), as_json=arguments.json)

    parser.set_defaults(run=run)


def _command(commands: Subparsers, name: str, summary: str, more: str = "") -> argparse.ArgumentParser:
    description = f"{summary[0].upper()}{summary[1:]}."
    return commands.add_parser(name, help=summary, description=f"{description} {more}".strip())


def _group(commands: Subparsers, name: str, summary: str) -> Subparsers:
    return _command(commands, name, summary).add_subparsers(metavar="ACTION", required=True)


def _add_model_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", metavar="FILE|FOLDER|URL", help="a GGUF file, a folder for transformers or a server, instead of the embedded model"
    )
    group = parser.add_argument_group("how the model is run")
    group.add_argument(
        "--context", dest="n_ctx", metavar="N", type=_positive, help="context in tokens (default: the model's, at most 4,096)"
    )
    group.add_argument("--threads", metavar="N", type=_positive, help="threads of the CPU (default: one for each core)")
    group.add_argument("--gpu-layers", metavar="N|auto", type=_layers, help="layers to put on the GPU (default: all, where there is one)")
    group.add_argument("--kv-cache", dest="kv_type", choices=KV_TYPES, help="numbers of the cache (default: f16)")
    group.add_argument("--flash-attention", choices=("on", "off"), help="(default: the runtime's choice)")
    group.add_argument("--chunk", metavar="N", type=_positive, help="tokens of a prompt that are read at once (see: assay model check)")
    group.add_argument(
        "--shift", dest="shift_tokens", metavar="N", type=_positive,
        help="after a change in the middle, reuse runs of at least N tokens at their new places: faster, but the probabilities are then "
        "approximate (default: never)",
    )  # fmt: skip
    group.add_argument("--device", metavar="NAME", help="torch's device, of a folder (default: cuda or mps where there is one, else cpu)")
    group.add_argument("--dtype", metavar="NAME", help="torch's type, of a folder (default: by the device)")
    group.add_argument("--server-model", metavar="NAME", help="which of a server's models (default: its only one)")
    group.add_argument("--key-file", metavar="FILE", help="holds the server's key (default: the environment's ASSAY_API_KEY)")


def _model_choice(arguments: argparse.Namespace) -> ModelChoice:
    from .inference.opening import ModelChoice, ModelOptions

    given = {name: value for name in ModelOptions.__annotations__ if (value := getattr(arguments, name)) is not None}
    if "flash_attention" in given:
        given["flash_attention"] = given["flash_attention"] == "on"
    return ModelChoice(arguments.model, cast("ModelOptions", given))


def _add_map_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--map", choices=("auto", *MAPS),
        help="the map from measures to the probability (default: auto, platt unless the evidence carries a richer one)",
    )  # fmt: skip


def _add_log_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--log", metavar="FILE", type=Path, help="the log of events (default: the user's own; see: assay logs path)")


def _add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout, and nothing else there")


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of names with commas between")
    return names


def _date(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a date such as 2026-11-22, with a time behind a T if need be") from None


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes above 0")
    return minutes


def _layers(text: str) -> int | str:
    return text if text == "auto" else 0 if text == "0" else _positive(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return int(text)
