"""`assay calibrate report`: metrics, tables and plots of samples or of a calibrator."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..exit_codes import DONE, UsageError
from ..options import EVENTS, Subparsers, add_map_option, command_parser, names, set_run
from ..terminal import say, show_text
from .inputs import DEFAULT_FEATURES, fitted, samples_of

if TYPE_CHECKING:
    from ...calibration.calibrator import Calibrator
    from ...calibration.fitting.fit import Fit

DEFAULT_OUT = Path("report")


def register(actions: Subparsers) -> None:
    """Add `assay calibrate report`."""
    parser = command_parser(
        actions,
        "report",
        "write metrics, tables and plots of samples or of a calibrator",
        "Fits a calibrator for each event that the samples have labels for, and reports how it does on held-out projects.",
    )
    parser.add_argument(
        "paths", metavar="SAMPLES|CALIBRATOR", nargs="+", type=Path, help="files of samples (*.jsonl), or one calibrator (*.json)"
    )
    parser.add_argument("--event", choices=EVENTS, help="report on this event of the samples (default: each that has labels)")
    parser.add_argument("--features", type=names, help="measures to fit the samples with, as for fit (default: total_logprob)")
    add_map_option(parser)
    parser.add_argument("--out", metavar="DIR", type=Path, default=DEFAULT_OUT, help="folder to write to (default: %(default)s)")
    set_run(parser, run, "json")


def run(arguments: argparse.Namespace) -> int:
    """Write the report. Raises UsageError, SampleError, CalibratorError and OSError."""
    from ...calibration.calibrator import Calibrator
    from ...calibration.report.report import report, summary

    if arguments.out == DEFAULT_OUT and arguments.out.is_symlink():
        raise UsageError(f"{arguments.out} is a symbolic link, and may have come with the project: name the folder with --out")
    subjects = _subjects(arguments)
    written = report(subjects, arguments.out)
    if arguments.json:
        show_text(written.document.rstrip("\n"))
    for subject in subjects:
        calibrator = subject if isinstance(subject, Calibrator) else subject.calibrator
        say(summary(calibrator))
        say(f"because: {calibrator.reason}")
    for file in written.files:
        say(f"written: {file}")
    return DONE


def _subjects(arguments: argparse.Namespace) -> Sequence[Fit | Calibrator]:
    from ...calibration.calibrator import load

    calibrators = [path for path in arguments.paths if path.suffix == ".json"]
    if not calibrators:
        return _fits(arguments)
    if len(arguments.paths) > 1:
        raise UsageError("give either files of samples (*.jsonl) or one calibrator (*.json)")
    if arguments.features or arguments.event or arguments.map:
        raise UsageError(
            f"{calibrators[0]} is a calibrator and has its event, features and map; --event, --features and --map are for samples"
        )
    return [load(calibrators[0])]


def _fits(arguments: argparse.Namespace) -> list[Fit]:
    samples = samples_of(arguments.paths)
    events = (arguments.event,) if arguments.event else EVENTS
    fits = []
    for event in events:
        # two are enough to know, and there may be a million
        labelled = len(list(islice((True for sample in samples if sample.labels.get(event) is not None), 2)))
        if labelled == 2 or arguments.event:
            features = arguments.features or DEFAULT_FEATURES
            fits.append(fitted(samples, arguments.paths, event, features, kind=arguments.map or "auto"))
        elif labelled:
            say(f"note: {event} is left out: only one sample has a label for it")
    if not fits:
        raise UsageError(f"none of the {len(samples)} samples has a label, so there is nothing to report")
    return fits
