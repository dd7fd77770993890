"""What `assay calibrate drift` does. It returns the exit code: 0 done, 1 an alarm where that was asked for, 2 unreadable or wrong input.

People's text goes to stderr, the JSON document (`as_json`) to stdout.
"""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...calibration.calibrator import Calibrator, CalibratorError, load
from ...calibration.confidence import confidence
from ...calibration.control_characters import strip_control_characters
from ...calibration.monitoring.drift import ALPHA, DIRECTION_WORDS, Alarm, Watch, alarm, start, tolerance_of, watch
from ...calibration.samples import Sample, SampleError, read_samples, samples_sha256


# What is wrong with the probabilities, for people.
def calibrate_drift(
    calibrator_path: Path,
    sample_paths: Sequence[Path],
    as_json: bool,
    *,
    alpha: float = ALPHA,
    tolerance: float | None = None,
    alarm_fails: bool = False,
) -> int:
    """`assay calibrate drift CALIBRATOR SAMPLES…`: do the calibrator's probabilities still hold, on samples in the order of the files?

    tolerance: log odds; None: `tolerance_of` the calibrator.
    alarm_fails: end with 1 at an alarm.
    """
    try:
        calibrator = load(calibrator_path)
        watched = _watched(calibrator, calibrator_path, read_samples(sample_paths), _start(calibrator, alpha, tolerance))
    except (CalibratorError, SampleError, _UsageError) as error:
        _say(f"assay: {error}")
        return 2
    again = _command(calibrator, sample_paths)
    _tell(watched, calibrator, again)
    if as_json:
        print(json.dumps(_document(watched, calibrator, calibrator_path, again), indent=1, allow_nan=False))
    return 1 if alarm_fails and watched.alarm else 0


class _UsageError(ValueError):
    """The command can't be carried out as it was given; the message says why."""


@dataclass(frozen=True, slots=True)
class _Watched:
    """used: the samples with a label and a number, in order, and `said`, their probabilities; the others are counted by the reason."""

    state: Watch
    alarm: Alarm | None
    used: tuple[Sample, ...]
    said: tuple[float, ...]
    without_label: int
    without_number: dict[str, int]
    first_without_number: str | None
    fitted_on_these: bool


def _start(calibrator: Calibrator, alpha: float, tolerance: float | None) -> Watch:
    try:
        return start(alpha, tolerance_of(calibrator) if tolerance is None else tolerance)
    except ValueError as error:
        raise _UsageError(str(error)) from None


def _watched(calibrator: Calibrator, path: Path, samples: Sequence[Sample], state: Watch) -> _Watched:
    event = calibrator.event
    _check(calibrator, path, samples)
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    if not known:
        raise _UsageError(f"none of the {len(samples)} samples has a label for {event}, which {path} is about")
    used, said, without = [], [], Counter[str]()
    first: str | None = None
    for sample in known:
        found = confidence(calibrator, sample.measures, {"language": sample.language, "project": sample.project, "user": sample.user})
        if found.probability is None:
            without[found.status] += 1
            first = first or f"{sample.id}: {found.reason}"
        else:
            used.append(sample)
            said.append(found.probability)
    if not used:
        raise _UsageError(f"{path} gives a number to none of the samples; the first is {first}")
    state = watch(state, said, [bool(sample.labels[event]) for sample in used])
    fitted_on_these = samples_sha256(known) == calibrator.fitted_on.samples_sha256
    return _Watched(state, alarm(state), tuple(used), tuple(said), len(samples) - len(known), dict(without), first, fitted_on_these)


def _check(calibrator: Calibrator, path: Path, samples: Sequence[Sample]) -> None:
    made = calibrator.fitted_on
    for sample in samples:
        for what, theirs, ours in (
            ("model", (made.model,), sample.model),
            ("prompt", (made.prompt,), sample.prompt),
            ("task", (calibrator.task,), sample.task),
            ("language", made.languages, sample.language),
            ("number of alternatives", (made.alternatives,), sample.alternatives if made.alternatives > 1 or sample.rank > 1 else 1),
        ):
            if ours not in theirs:
                raise _UsageError(
                    f"the sample {sample.id!r} is of the {what} {ours}, the calibrator {path} for {', '.join(map(str, theirs))}"
                )


def _command(calibrator: Calibrator, sample_paths: Sequence[Path]) -> str:
    """The command that fits a new calibrator for the same event, features and levels."""
    options = ["--event", calibrator.event, "--features", ",".join(calibrator.features)]
    levels = ["--levels", ",".join(calibrator.levels)] if calibrator.levels else []
    return shlex.join(["assay", "calibrate", "fit", *map(str, sample_paths), *options, *levels, "--out", "FILE"])


def _since(watched: _Watched, found: Alarm, event: str) -> tuple[float, float]:
    """Mean probability, and rate of the event, from the sample at which the drift seems to have begun."""
    said, used = watched.said[found.since - 1 :], watched.used[found.since - 1 :]
    return math.fsum(said) / len(said), sum(bool(sample.labels[event]) for sample in used) / len(used)


def _tell(watched: _Watched, calibrator: Calibrator, again: str) -> None:
    state, found = watched.state, watched.alarm
    left_out = [f"{watched.without_label} without a label"] if watched.without_label else []
    if watched.first_without_number:
        left_out.append(f"{sum(watched.without_number.values()):,} that get no number, the first is {watched.first_without_number}")
    _say(
        f"watched {state.count:,} samples for P({calibrator.event}) of {calibrator.id}"
        + (f"; left out: {', '.join(left_out)}" if left_out else "")
    )
    if watched.fitted_on_these:
        _say("note: the calibrator was fitted on these very samples, so they say little of whether it still holds")
    claim = f"hold within {state.tolerance:.3g} in log odds (or 2 points)"
    if found is None:
        highest = f"e-value at most {_e(state.log_highest)}, alarm from {1 / state.alpha:g}"
        _say(f"no alarm: that the probabilities {claim} is not refuted; {highest}")
        return
    size = f"{found.size:.2f} ({found.low:.2f} to {found.high:.2f})"
    said, rate = _since(watched, found, calibrator.event)
    _say(f"ALARM at sample {found.raised:,}, {watched.used[found.raised - 1].id}: the probabilities do not {claim}")
    _say(f"they are {DIRECTION_WORDS[found.direction].format(size=size)}")
    _say(f"since about sample {found.since:,}, {watched.used[found.since - 1].id}: {said:.1%} was said in the mean, {rate:.1%} happened")
    _say(f"e-value {_e(found.log_e_value)}; while the probabilities hold, P(ever an alarm) is at most {state.alpha:g}")
    _say(f"what to do: fit a calibrator to samples from there on{'' if found.since == 1 else ', leaving out those before'}:\n  {again}")


def _document(watched: _Watched, calibrator: Calibrator, path: Path, again: str) -> dict[str, object]:
    state, found = watched.state, watched.alarm
    raised: dict[str, object] | None = None
    if found is not None:
        said, rate = _since(watched, found, calibrator.event)
        raised = {
            "raised": found.raised,
            "raised_id": watched.used[found.raised - 1].id,
            "since": found.since,
            "since_id": watched.used[found.since - 1].id,
            "direction": found.direction,
            "size": found.size,
            "low": found.low,
            "high": found.high,
            "mean_probability": said,
            "rate": rate,
            "refit": again,
        }
    return {
        "calibrator": calibrator.id,
        "file": str(path),
        "event": calibrator.event,
        "alpha": state.alpha,
        "tolerance": state.tolerance,
        "n": state.count,
        "without_label": watched.without_label,
        "without_number": watched.without_number,
        "fitted_on_these": watched.fitted_on_these,
        "log_e_value": state.log_highest,
        "alarm": raised,
    }


def _e(log_e: float) -> str:
    return f"{math.exp(log_e):.3g}" if log_e < 300 else f"1e{log_e / math.log(10):.0f}"


def _say(text: str) -> None:
    print(strip_control_characters(text), file=sys.stderr)
