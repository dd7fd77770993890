"""The command-line program `assay`: it parses and calls. A command imports what it needs when it runs, so `--help` answers at once."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import __version__
from .calibrate.arguments import add_calibrate
from .eval import add_eval
from .logs.arguments import add_logs
from .options import EVENTS, KINDS, add_json_option, add_model_option, command_parser, group_parser, model_choice, port

if TYPE_CHECKING:
    from .options import Subparsers

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
    from ..calibration.calibrator import CalibratorError
    from ..inference import errors
    from .complete import PlaceError

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
    add_calibrate(commands)
    add_eval(commands)
    add_logs(commands)
    _add_model(commands)
    _add_doctor(commands)
    return parser


def _add_demo(commands: Subparsers) -> None:
    parser = command_parser(commands, "demo", "complete the example files and show each suggestion with its band and evidence")
    add_model_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from . import demo

        return demo.run(model_choice(arguments), as_json=arguments.json)

    parser.set_defaults(run=run)


def _add_complete(commands: Subparsers) -> None:
    parser = command_parser(
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
    add_model_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from . import complete

        if arguments.show_prompt:
            return complete.show_prompt(
                arguments.place, from_stdin=arguments.stdin, kind=arguments.kind, model=model_choice(arguments), as_json=arguments.json
            )
        return complete.run(
            arguments.place,
            from_stdin=arguments.stdin,
            kind=arguments.kind,
            event=arguments.event,
            language=arguments.language,
            model=model_choice(arguments),
            as_json=arguments.json,
        )

    parser.set_defaults(run=run)


def _add_serve(commands: Subparsers) -> None:
    parser = command_parser(commands, "serve", "the language server, on stdin and stdout unless a port is given")
    parser.add_argument("--tcp", metavar="PORT", type=port, help="listen on this port of 127.0.0.1 (0: any free one) instead")
    add_model_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from ..server.serve import serve

        try:
            return serve(model_choice(arguments), tcp_port=arguments.tcp)
        except OSError as error:
            where = "" if arguments.tcp is None else f" on port {arguments.tcp}"
            print(f"assay: can't listen{where}: {error.strerror or error}", file=sys.stderr)
            return FAILED

    parser.set_defaults(run=run)


def _add_model(commands: Subparsers) -> None:
    actions = group_parser(commands, "model", "what is loaded, and its speed on this machine")
    info = command_parser(actions, "info", "what the model is: architecture, size, context, layout, offloading, fingerprint")
    check = command_parser(actions, "check", "how fast the model is on this machine")
    for parser in (info, check):
        add_model_option(parser)
        add_json_option(parser)

    def run_info(arguments: argparse.Namespace) -> int:
        from . import model as model_report

        return model_report.info(model_choice(arguments), as_json=arguments.json)

    def run_check(arguments: argparse.Namespace) -> int:
        from . import model as model_report

        return model_report.check(model_choice(arguments), as_json=arguments.json)

    info.set_defaults(run=run_info)
    check.set_defaults(run=run_check)


def _add_doctor(commands: Subparsers) -> None:
    parser = command_parser(commands, "doctor", "what works here, what is missing, and the command that mends it")
    add_model_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from . import doctor

        return doctor.run(model_choice(arguments), as_json=arguments.json)

    parser.set_defaults(run=run)
