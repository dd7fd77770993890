"""`assay logs export`: write the log's suggestions as samples with the label `kept`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..exit_codes import DONE, UsageError
from ..options import TASKS, Subparsers, command_parser, set_run
from ..terminal import print_json, say
from .log import by_subject, count, label_counts, samples_in, say_left_out, subject_json

# When the server checks whether a suggestion is still there.
CHECKED_AFTER_S = (15, 30, 120, 300, 600)


def register(actions: Subparsers) -> None:
    """Add `assay logs export`."""
    parser = command_parser(
        actions, "export", "write samples with the label kept", "A calibrator is fitted to them with: assay calibrate fit --event kept."
    )
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the samples' file (JSON Lines)")
    parser.add_argument(
        "--at", metavar="SECONDS", type=int, choices=CHECKED_AFTER_S, default=300,
        help="a suggestion counts as kept if it is still there this long after it ended: 15, 30, 120, 300 or 600 (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--task", choices=TASKS, help="only samples of this task (default: all)")
    parser.add_argument("--model", metavar="ID", help="only samples of the model with this fingerprint (default: all)")
    parser.add_argument("--prompt", metavar="ID", help="only samples of the prompt and decoder with this fingerprint (default: all)")
    set_run(parser, run, "log", "json")


def run(arguments: argparse.Namespace) -> int:
    """Write the samples. Raises UsageError, EventLogError and OSError."""
    from ...calibration.samples import write_samples

    out = arguments.out
    if _is_database(out):
        raise UsageError(f"{out} is an SQLite file, perhaps a log of events, and is left alone: name another file")
    logged = samples_in(arguments.log, arguments.at, {"task": arguments.task, "model": arguments.model, "prompt": arguments.prompt})
    write_samples(out, logged.samples, private=True)
    parts = by_subject(logged.samples)
    say_left_out(logged)
    for (task, model, prompt), samples in parts.items():
        known = label_counts(samples)
        counted = f"{len(samples):,} samples, {known['labelled']:,} with a label, {known['positives']:,} of them kept"
        say(f"{task} of the model {model}, prompt {prompt}: {counted}")
    if len(parts) > 1:
        say("note: a calibrator has one task, model and prompt; choose with --task, --model and --prompt")
    say(f"written: {count(len(logged.samples), 'sample')}: {out}")
    if arguments.json:
        kinds = [subject_json(subject, samples) for subject, samples in parts.items()]
        print_json({"file": str(out), "n": len(logged.samples), "left_out": logged.left_out, "kinds": kinds})
    return DONE


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
