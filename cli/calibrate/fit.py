"""What `assay calibrate fit|report` do. Each returns the exit code: 0 done, 1 the work failed, 2 unreadable input or wrong usage.

People's text goes to stderr, the JSON document (`as_json`) to stdout.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from ...calibration.calibrator import Calibrator, CalibratorError, as_json, load, save
from ...calibration.control_characters import strip_control_characters
from ...calibration.fitting.fit import DEFAULT_FEATURES, Fit, FitError, fit
from ...calibration.fitting.shrinkage import Level
from ...calibration.measures.registry import MEASURES
from ...calibration.report.plots import PlotError
from ...calibration.report.report import report, summary
from ...calibration.samples import EVENTS, Sample, SampleError, place_of, read_samples

FREE = "free"


def calibrate_fit(
    sample_paths: Sequence[Path],
    event: str,
    features: Sequence[str],
    out: Path,
    as_json: bool,
    *,
    kind: str = "auto",
    levels: Sequence[Level] = (),
    toward: Path | None = None,
) -> int:
    """`assay calibrate fit SAMPLES… --event E [--features a,b] --out FILE`: fit a calibrator, write its file, say what it is worth.

    kind and levels: as `fit.fit`; toward: the file of a calibrator whose map is moved.
    """
    return _ended(lambda: _fit(sample_paths, event, features, out, as_json, kind, levels, toward), sample_paths)


def calibrate_report(
    paths: Sequence[Path],
    out_dir: Path,
    as_json: bool,
    *,
    features: Sequence[str] | None = None,
    event: str | None = None,
    kind: str | None = None,
) -> int:
    """`assay calibrate report SAMPLES… [--features a,b] [--event E]|CALIBRATOR [--out DIR]`: samples, or one calibrator file.

    features: measures to fit samples with, total_logprob unless told, FREE for all that cost nothing. event: the one to report on, by
    default each that has labels. kind: as `fit.fit`.
    """
    return _ended(lambda: _report(paths, out_dir, as_json, features, event, kind), paths)


class _UsageError(ValueError):
    """The command can't be carried out as it was given; the message says why."""


def _ended(work: Callable[[], None], paths: Sequence[Path]) -> int:
    try:
        work()
    except FitError as error:
        place = place_of(error.sample, paths) if error.sample else None
        _say(f"assay: {f'{place}: ' if place else ''}{error}")
        return 2
    except (SampleError, CalibratorError, _UsageError) as error:
        _say(f"assay: {error}")
        return 2
    except PlotError as error:
        _say(f"assay: {error}")
        return 1
    except OSError as error:
        _say(f"assay: {error.filename}: can't be written: {error.strerror}" if error.filename else f"assay: can't be written: {error}")
        return 1
    return 0


def _fit(
    sample_paths: Sequence[Path],
    event: str,
    features: Sequence[str],
    out: Path,
    json_wanted: bool,
    kind: str,
    levels: Sequence[Level],
    toward: Path | None,
) -> None:
    if toward and (levels or kind != "auto" or list(features) != list(DEFAULT_FEATURES)):
        raise _UsageError("--toward moves the map of a calibrator that is there: --features, --map and --levels are not for it")
    if out.is_dir():
        raise _UsageError(f"{out} is a folder; --out is the calibrator's file, such as {out / 'calibrator.json'}")
    _check_out(out, sample_paths)
    samples = _read(sample_paths)
    parent = load(toward) if toward else None
    fitted = fit(samples, event, _named(features, samples), kind=kind, levels=levels, adapt_from=parent)
    save(fitted.calibrator, out)
    for note in fitted.notes:
        _say(f"note: {note}")
    _say(summary(fitted.calibrator))
    _say(f"because: {fitted.calibrator.reason}")
    _say(f"written: {out}")
    if json_wanted:
        _document({"id": fitted.calibrator.id, "file": str(out), "notes": list(fitted.notes), "calibrator": as_json(fitted.calibrator)})


def _check_out(out: Path, sample_paths: Sequence[Path]) -> None:
    """Refuse to write a calibrator over what is none."""
    if not out.is_file():
        return
    if any(path.exists() and out.samefile(path) for path in sample_paths):
        raise _UsageError(f"{out} holds the samples; --out is another file, the calibrator's")
    with out.open("rb") as file:
        begin = file.read(200)
    # of any version, whole or damaged, a calibrator begins with its schema
    if begin.strip() and b'"assay/calibrator/' not in begin:
        raise _UsageError(f"{out} is there and holds no calibrator; remove it, or name another file")


def _report(
    paths: Sequence[Path],
    out_dir: Path,
    json_wanted: bool,
    features: Sequence[str] | None,
    event: str | None,
    kind: str | None,
) -> None:
    calibrators = [path for path in paths if path.suffix == ".json"]
    if calibrators and len(paths) > 1:
        raise _UsageError("a report is on samples (*.jsonl, any number of files) or on one calibrator (*.json)")
    if calibrators and (features or event or kind):
        raise _UsageError(
            f"{calibrators[0]} is a calibrator, which has event, features and map already; --event, --features and --map are for samples"
        )
    subjects: Sequence[Fit | Calibrator] = (
        [load(calibrators[0])] if calibrators else _fits(paths, features or DEFAULT_FEATURES, (event,) if event else EVENTS, kind or "auto")
    )
    made = report(subjects, out_dir)
    if json_wanted:
        print(made.document, end="")
    for subject in subjects:
        calibrator = subject if isinstance(subject, Calibrator) else subject.calibrator
        _say(summary(calibrator))
        _say(f"because: {calibrator.reason}")
    for file in made.files:
        _say(f"written: {file}")


def _read(paths: Sequence[Path]) -> list[Sample]:
    if samples := read_samples(paths):
        return samples
    raise _UsageError(f"{', '.join(map(str, paths))}: no samples")


def _named(features: Sequence[str], samples: Sequence[Sample]) -> Sequence[str]:
    """The features by name: for FREE, all that cost no further call of the model and that every sample has; tells what is left out."""
    if list(features) != [FREE]:
        return features
    named = []
    for name in (name for name, measure in MEASURES.items() if measure.cost == 0):
        without = [sample.id for sample in samples if name not in sample.measures]
        if not without:
            named.append(name)
        elif len(without) < len(samples):
            _say(f"note: {name} is left out, {len(without)} of {len(samples)} samples lack it, the first is {without[0]}")
    return named


def _fits(paths: Sequence[Path], features: Sequence[str], events: Sequence[str], kind: str) -> list[Fit]:
    samples = _read(paths)
    fits = []
    for event in events:
        # two are enough to know, and there may be a million
        labelled = len(list(islice((True for sample in samples if sample.labels.get(event) is not None), 2)))
        if labelled == 2 or len(events) == 1:
            fits.append(fit(samples, event, _named(features, samples), kind=kind))
        elif labelled:
            _say(f"note: {event} is left out, only one sample has a label for it")
    if not fits:
        raise _UsageError(f"none of the {len(samples)} samples has a label; nothing can be reported")
    return fits


def _say(text: str) -> None:
    print(strip_control_characters(text), file=sys.stderr)


def _document(document: dict[str, object]) -> None:
    print(json.dumps(document, indent=1, allow_nan=False))
