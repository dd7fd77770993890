"""Writes the validation tables of shipped calibrators anew, by `assay calibrate validate`.

    python -m training.remake.validated TREE KIND RUN …

KIND: exact_match, tests_pass, or one with -alternatives behind it. Each run replaces the figures of those before it, but for what it lacks.
A run of another study than calibration may not ask about each task.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from assay.calibration.calibrator import load
from assay.calibration.validation.table import path_of
from assay.cli.main import main as assay

from .evidence import SHIPPED
from .ship import ALTERNATIVES
from .steps import TASKS


def validate(tree: Path, kind: str, runs: Sequence[Path]) -> int:
    """Returns the exit code. Calibrators that are not shipped are left out."""
    event, also = kind.removesuffix(ALTERNATIVES), ALTERNATIVES if kind.endswith(ALTERNATIVES) else ""
    for file in (tree / SHIPPED / f"{event}-{task}{also}.json" for task in TASKS):
        if not file.exists():
            print(f"{file.name} is not shipped")
            continue
        path_of(load(file), file).unlink(missing_ok=True)
        task = file.stem.removeprefix(f"{event}-").removesuffix(also)
        for run in runs:
            if not (run / "samples" / f"{task}.jsonl").is_file():
                print(f"{run.name} says nothing of {file.name}: it has no samples of the task {task}")
            elif code := assay(["calibrate", "validate", str(file), str(run)]):
                return code
    return 0


if __name__ == "__main__":
    sys.exit(validate(Path(sys.argv[1]), sys.argv[2], [Path(run) for run in sys.argv[3:]]))
