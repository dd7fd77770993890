"""Puts fitted calibrators among the shipped ones, but for those of alternatives that may not be shipped.

    python -m training.remake.ship TREE CALIBRATORS UNSHIPPED

UNSHIPPED: of benchmarks/alternatives.py: by task why a calibrator of all alternatives may not be shipped, empty where it may.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assay.calibration.atomic_write import write_atomically
from assay.calibration.calibrator import load
from assay.calibration.held_out import folds_path, remove_folds
from assay.calibration.validation import table

from .evidence import SHIPPED, folds_of

ALTERNATIVES = "-alternatives"


def ship(tree: Path, fitted: Path, unshipped: dict[str, str]) -> None:
    """Copy the calibrators with their folds, and remove those that an earlier call shipped and that may no longer be."""
    for path in sorted(fitted.glob("*.json")):
        for remove in (remove_folds, table.remove):
            remove(tree / SHIPPED / path.name)
        to, task = tree / SHIPPED / path.name, path.stem.removesuffix(ALTERNATIVES).partition("-")[2]
        if path.stem.endswith(ALTERNATIVES) and unshipped[task]:
            print(f"{path.name} is not shipped: {unshipped[task]}")
            to.unlink(missing_ok=True)
            continue
        for source, target in ((path, to), *((folds, folds_path(load(path), to)) for folds in folds_of(fitted, [path.name]))):
            with write_atomically(target) as file:
                file.write(source.read_bytes())
        print(f"{path.name} is shipped")


if __name__ == "__main__":
    ship(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text()))
