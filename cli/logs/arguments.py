"""`assay logs …`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..options import TASKS, add_json_option, add_log_option, command_parser, date, group_parser, positive

if TYPE_CHECKING:
    from ..options import Subparsers

LOOKED_AFTER_S = (15, 30, 120, 300, 600)


def add_logs(commands: Subparsers) -> None:
    """`assay logs …`."""
    actions = group_parser(commands, "logs", "the log of what became of suggestions: look at it, learn from it, forget it")
    _add_logs_summary(actions)
    _add_logs_evaluate(actions)
    _add_logs_export(actions)
    _add_logs_recalibrate(actions)
    _add_logs_prune(actions)
    _add_logs_forget(actions)
    parser = command_parser(actions, "path", "where the log is")
    add_log_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .commands import logs_path

        return logs_path(arguments.log)

    parser.set_defaults(run=run)


def _add_logs_summary(actions: Subparsers) -> None:
    parser = command_parser(actions, "summary", "how many suggestions were shown, what became of them, and how many were kept")
    parser.add_argument("--days", metavar="N", type=positive, help="only the last N days (default: all)")
    add_log_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .commands import logs_summary

        return logs_summary(arguments.log, arguments.json, days=arguments.days)

    parser.set_defaults(run=run)


def _add_logs_evaluate(actions: Subparsers) -> None:
    parser = command_parser(
        actions, "evaluate", "how the percentages that were said came true: of each calibrator what it said, and what was kept"
    )
    parser.add_argument("--days", metavar="N", type=positive, help="only the last N days (default: all)")
    add_log_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .commands import logs_evaluate

        return logs_evaluate(arguments.log, arguments.json, days=arguments.days)

    parser.set_defaults(run=run)


def _add_logs_export(actions: Subparsers) -> None:
    parser = command_parser(
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
    add_log_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .commands import logs_export

        only = {"task": arguments.task, "model": arguments.model, "prompt": arguments.prompt}
        return logs_export(arguments.log, arguments.out, arguments.json, at_s=arguments.at, only=only)

    parser.set_defaults(run=run)


def _add_logs_recalibrate(actions: Subparsers) -> None:
    parser = command_parser(
        actions,
        "recalibrate",
        "fit a calibrator of the event kept for each task with enough labels, for servers to use",
        "They are written to the user's own calibrators, and used where assay.event is kept.",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
    add_log_option(parser)
    add_json_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .commands import logs_recalibrate

        return logs_recalibrate(arguments.log, arguments.json, dry_run=arguments.dry_run)

    parser.set_defaults(run=run)


def _add_logs_prune(actions: Subparsers) -> None:
    parser = command_parser(
        actions, "prune", "delete old events and give the space back to the disk", "Servers do so at their start and each hour."
    )
    parser.add_argument("--days", metavar="N", type=positive, default=180, help="what is older goes (default: %(default)s)")
    parser.add_argument(
        "--megabytes", metavar="N", type=positive, default=256, help="the oldest go until no more is taken (default: %(default)s)"
    )
    add_log_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .commands import logs_prune

        return logs_prune(arguments.log, days=arguments.days, megabytes=arguments.megabytes)

    parser.set_defaults(run=run)


def _add_logs_forget(actions: Subparsers) -> None:
    parser = command_parser(actions, "forget", "delete events for good", "What is deleted is overwritten in the file.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--all", action="store_true", help="every event")
    what.add_argument("--document", metavar="PATH|URI", help="all events about one file")
    what.add_argument("--before", metavar="DATE", type=date, help="all events from before a date, such as 2026-11-22 or 2026-11-22T08:00")
    what.add_argument("--text", action="store_true", help="the code that was logged; other events stay")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_log_option(parser)

    def run(arguments: argparse.Namespace) -> int:
        from .commands import logs_forget

        return logs_forget(arguments.log, document=arguments.document, before=arguments.before, text=arguments.text, sure=arguments.yes)

    parser.set_defaults(run=run)
