"""`assay calibrate drift`: whether a calibrator's probabilities still hold, on samples in their order."""

from __future__ import annotations

import argparse
import math
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...calibration.plain_number import plain
from ..exit_codes import DONE, FAILED, UsageError
from ..options import Subparsers, command_parser, set_run
from ..terminal import print_json, say
from .inputs import check_fits

if TYPE_CHECKING:
    from ...calibration.calibrator import Calibrator
    from ...calibration.monitoring.drift import Alarm, Watch
    from ...calibration.samples import Sample


def register(actions: Subparsers) -> None:
    """Add `assay calibrate drift`."""
    parser = command_parser(
        actions,
        "drift",
        "check whether a calibrator's probabilities still hold on newer samples",
        "The samples are read in the order of the files, oldest first. As long as the probabilities hold within the tolerance, the chance "
        "of ever raising an alarm is at most alpha, however often you look.",
    )
    parser.add_argument("calibrator", metavar="CALIBRATOR", type=Path, help="a calibrator's file (JSON)")
    parser.add_argument("samples", metavar="SAMPLES", nargs="+", type=Path, help="files of samples (JSON Lines), oldest first")
    parser.add_argument("--alpha", type=float, default=0.01, help="highest chance of ever raising a false alarm (default: %(default)s)")
    parser.add_argument(
        "--tolerance", metavar="LOG_ODDS", type=float,
        help="errors up to this are no drift (default: 0.25, or twice the spread between the calibrator's projects if that is more)",
    )  # fmt: skip
    parser.add_argument("--exit-code", action="store_true", help="exit with 1 after an alarm, instead of 0")
    set_run(parser, run, "json")


def run(arguments: argparse.Namespace) -> int:
    """Say whether the probabilities hold. FAILED after an alarm, with --exit-code. Raises CalibratorError, SampleError and UsageError."""
    from ...calibration.calibrator import load
    from ...calibration.samples import read_samples

    path, paths = arguments.calibrator, arguments.samples
    calibrator = load(path)
    result = _watch_result(calibrator, path, read_samples(paths), _start(calibrator, arguments.alpha, arguments.tolerance))
    refit = _refit_command(calibrator, paths)
    _tell(result, calibrator, refit)
    if arguments.json:
        print_json(_document(result, calibrator, path, refit))
    return FAILED if arguments.exit_code and result.alarm else DONE


@dataclass(frozen=True, slots=True)
class _WatchResult:
    """The result of the watch. used: the samples with a label and a number, in order. probabilities: of these. The others are counted."""

    state: Watch
    alarm: Alarm | None
    used: tuple[Sample, ...]
    probabilities: tuple[float, ...]
    without_label: int
    without_number: dict[str, int]
    first_without_number: str | None
    fitted_on_these: bool


def _start(calibrator: Calibrator, alpha: float, tolerance: float | None) -> Watch:
    from ...calibration.monitoring.drift import start, tolerance_of

    try:
        return start(alpha, tolerance_of(calibrator) if tolerance is None else tolerance)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _watch_result(calibrator: Calibrator, path: Path, samples: Sequence[Sample], state: Watch) -> _WatchResult:
    from ...calibration.confidence import confidence
    from ...calibration.monitoring.drift import alarm, watch
    from ...calibration.samples import samples_sha256

    event = calibrator.event
    check_fits(calibrator, path, samples)
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    if not known:
        raise UsageError(f"none of the {len(samples)} samples has a label for {event}, which {path} is about")
    used, probabilities, without = [], [], Counter[str]()
    first: str | None = None
    for sample in known:
        found = confidence(calibrator, sample.measures, {"language": sample.language, "project": sample.project, "user": sample.user})
        if found.probability is None:
            without[found.status] += 1
            first = first or f"{sample.id}: {found.reason}"
        else:
            used.append(sample)
            probabilities.append(found.probability)
    if not used:
        raise UsageError(f"{path} gives none of the samples a probability; the first is {first}")
    state = watch(state, probabilities, [bool(sample.labels[event]) for sample in used])
    fitted_on_these = samples_sha256(known) == calibrator.fitted_on.samples_sha256
    return _WatchResult(
        state, alarm(state), tuple(used), tuple(probabilities), len(samples) - len(known), dict(without), first, fitted_on_these
    )


def _refit_command(calibrator: Calibrator, sample_paths: Sequence[Path]) -> str:
    """The command that fits a new calibrator for the same event, features and levels."""
    options = ["--event", calibrator.event, "--features", ",".join(calibrator.features)]
    levels = ["--levels", ",".join(calibrator.levels)] if calibrator.levels else []
    return shlex.join(["assay", "calibrate", "fit", *map(str, sample_paths), *options, *levels, "--out", "FILE"])


def _since(result: _WatchResult, found: Alarm, event: str) -> tuple[float, float]:
    """Mean probability, and rate of the event, from the sample at which the drift seems to have begun."""
    probabilities, used = result.probabilities[found.since - 1 :], result.used[found.since - 1 :]
    return math.fsum(probabilities) / len(probabilities), sum(bool(sample.labels[event]) for sample in used) / len(used)


def _tell(result: _WatchResult, calibrator: Calibrator, refit: str) -> None:
    from ...calibration.monitoring.drift import DIRECTION_WORDS

    state, found = result.state, result.alarm
    left_out = [f"{result.without_label} without a label"] if result.without_label else []
    if result.first_without_number:
        left_out.append(f"{sum(result.without_number.values()):,} that get no probability, the first is {result.first_without_number}")
    heading = f"watched {state.count:,} samples for P({calibrator.event}) of {calibrator.id}"
    say(heading + (f"; left out: {', '.join(left_out)}" if left_out else ""))
    if result.fitted_on_these:
        say("note: the calibrator was fitted on these very samples, so they say little about whether it still holds")
    wrong = f"off by more than {state.tolerance:.3g} in log odds (or 2 percentage points)"
    if found is None:
        say(f"no alarm: there is no proof that the probabilities are {wrong}")
        say(f"the highest e-value is {_e(state.log_highest)}, an alarm needs {plain(1 / state.alpha, 6)}")
        return
    size = f"{found.size:.2f} ({found.low:.2f} to {found.high:.2f})"
    mean, rate = _since(result, found, calibrator.event)
    say(f"ALARM at sample {found.raised:,}, {result.used[found.raised - 1].id}: the probabilities are {wrong}")
    say(f"they are {DIRECTION_WORDS[found.direction].format(size=size)}")
    begin = f"since about sample {found.since:,}, {result.used[found.since - 1].id}"
    say(f"{begin}: the probabilities promised {mean:.1%} on average, it was {rate:.1%}")
    say(f"e-value {_e(found.log_e_value)}; if the probabilities held, the chance of ever an alarm would be at most {plain(state.alpha, 6)}")
    say(f"what to do: fit a calibrator to the samples from there on{'' if found.since == 1 else ', without those before'}:\n  {refit}")


def _document(result: _WatchResult, calibrator: Calibrator, path: Path, refit: str) -> dict[str, object]:
    """What --json prints: tolerance in log odds, without_number by status, alarm null or with a direction: too_low, too_high, …."""
    state, found = result.state, result.alarm
    raised: dict[str, object] | None = None
    if found is not None:
        mean, rate = _since(result, found, calibrator.event)
        raised = {
            "raised": found.raised,
            "raised_id": result.used[found.raised - 1].id,
            "since": found.since,
            "since_id": result.used[found.since - 1].id,
            "direction": found.direction,
            "size": found.size,
            "low": found.low,
            "high": found.high,
            "mean_probability": mean,
            "rate": rate,
            "refit": refit,
        }
    return {
        "calibrator": calibrator.id,
        "file": str(path),
        "event": calibrator.event,
        "alpha": state.alpha,
        "tolerance": state.tolerance,
        "n": state.count,
        "without_label": result.without_label,
        "without_number": result.without_number,
        "fitted_on_these": result.fitted_on_these,
        "log_e_value": state.log_highest,
        "alarm": raised,
    }


def _e(log_e: float) -> str:
    return plain(math.exp(log_e), 3) if log_e < 300 else f"1e{log_e / math.log(10):.0f}"
