"""Shared by the commands of `assay calibrate`: reads samples, checks that they fit a calibrator, names features, and fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..exit_codes import UsageError
from ..terminal import say

if TYPE_CHECKING:
    from ...calibration.calibrator import Calibrator
    from ...calibration.fitting.fit import Fit
    from ...calibration.fitting.folds import Grouping
    from ...calibration.fitting.shrinkage import Level
    from ...calibration.held_out import Folds
    from ...calibration.samples import Sample

DEFAULT_FEATURES = ("total_logprob",)
FREE = "free"


def samples_of(paths: Sequence[Path]) -> list[Sample]:
    """The samples of some files. Raises SampleError, and UsageError if there are none."""
    from ...calibration.samples import read_samples

    if samples := read_samples(paths):
        return samples
    raise UsageError(f"{', '.join(map(str, paths))}: no samples")


def fitted(
    samples: Sequence[Sample],
    paths: Sequence[Path],
    event: str,
    features: Sequence[str],
    *,
    kind: str,
    levels: Sequence[Level] = (),
    adapt_from: Calibrator | None = None,
    any_model: bool = False,
) -> Fit:
    """`fit`, with the file and line of the sample in its error. Raises UsageError."""
    from ...calibration.fitting.checks import FitError
    from ...calibration.fitting.fit import fit
    from ...calibration.samples import place_of

    try:
        by: Grouping = "model" if any_model else "project"
        named = _named(features, samples)
        return fit(samples, event, named, kind=kind, levels=levels, adapt_from=adapt_from, groups=by)
    except FitError as error:
        place = place_of(error.sample, paths) if error.sample else None
        raise UsageError(f"{place}: {error}" if place else str(error)) from error


def kept_folds(found: Fit) -> Folds:
    """For each project the map that did not see it. Raises UsageError if there are none."""
    from ...calibration.fitting.checks import FitError

    try:
        return found.kept_folds()
    except FitError as error:
        raise UsageError(f"--keep-folds: {error}") from error


def check_fits(calibrator: Calibrator, path: Path, samples: Sequence[Sample]) -> None:
    """Raise UsageError for a sample of another model, prompt, task or language than the calibrator's. path: the calibrator's file."""
    made = calibrator.fitted_on
    for sample in samples:
        for what, theirs, ours in (
            ("model", (made.model,), made.model if made.models else sample.model),
            ("prompt", (made.prompt,), made.prompt if made.models else sample.prompt),
            ("task", (calibrator.task,), sample.task),
            ("language", made.languages, sample.language),
            ("number of alternatives", (made.alternatives,), sample.alternatives if made.alternatives > 1 or sample.rank > 1 else 1),
        ):
            if ours not in theirs:
                raise UsageError(
                    f"the calibrator {path} is for the {what} {', '.join(map(str, theirs))}, not {ours} as in the sample {sample.id!r}"
                )


def _named(features: Sequence[str], samples: Sequence[Sample]) -> Sequence[str]:
    """The names of the features. FREE stands for all that cost no call of the model and that every sample has."""
    from ...calibration.measures.registry import MEASURES

    if list(features) != [FREE]:
        return features
    named = []
    for name in (name for name, measure in MEASURES.items() if measure.cost == 0):
        without = [sample.id for sample in samples if name not in sample.measures]
        if not without:
            named.append(name)
        elif len(without) < len(samples):
            say(f"note: {name} is left out: {len(without)} of {len(samples)} samples lack it, the first is {without[0]}")
    return named
