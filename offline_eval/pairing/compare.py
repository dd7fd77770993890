"""Which comparison of runs is made: that of a study which compares any number of its runs, or pairs of any other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from ..registry import study_of
from ..run import Run
from .report import report_pair


def compare(folders: Sequence[Path], out: Path, *, as_json: bool) -> None:
    """Compare runs and write report/ into `out`. Raises UsageError, and what the comparisons raise."""
    if twice := [folder for n, folder in enumerate(folders) if folder.resolve() in {other.resolve() for other in folders[:n]}]:
        raise UsageError(f"{twice[0]} is named twice: name the run of another model on the same items")
    runs = [Run.opened(folder) for folder in folders]
    studies = [study_of(run) for run in runs]
    names = sorted({study.name for study in studies})
    if studies[0].compare and set(names) <= set(studies[0].compared):
        studies[0].compare(runs, out, as_json=as_json)
    elif len(folders) == 2 and not any(study.compare for study in studies):
        report_pair(folders[0], folders[1], out, as_json=as_json)
    elif len(names) > 1:
        raise UsageError(f"runs of {' and '.join(names)} ask different things: name runs of one study")
    else:
        raise UsageError(f"of the study {names[0]} two runs are compared, not {len(folders)}")
