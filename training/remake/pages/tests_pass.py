"""The figures of the calibrators for passing tests, from their files.

python -m training.remake.pages.tests_pass TREE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..evidence import SHIPPED, fill
from ..present import present
from ..steps import TASKS
from .cells import code, interval, map_of, percent, table, with_floor


def calibrators(found: dict[str, dict[str, Any]]) -> str:
    """A row for each calibrator: by task, its file's JSON."""
    rows = []
    for task, made in found.items():
        e = made["evidence"]
        scores = (interval(e["skill"]), interval(e["auc"]), with_floor(e["ece"]), with_floor(e["smooth_ece"]))
        rows.append((code(task), map_of(made), f"{e['n']:,}", e["groups"], percent(e["base_rate"]), *scores, made["status"]))
    columns = (
        "task",
        "map",
        "n",
        "projects",
        "tests pass",
        "skill score",
        "AUC",
        "ECE (perfect forecaster)",
        "smooth ECE (floor)",
        "status",
    )
    return table(columns, "llrrrccccl", rows)


def main() -> None:
    """Fill the block."""
    tree = Path(sys.argv[1])
    found = {task: json.loads((tree / SHIPPED / f"tests_pass-{task}.json").read_text()) for task in TASKS}
    fill(tree, "docs/calibration.md", {"tests-pass": calibrators(found)}, present().named(*TASKS))


if __name__ == "__main__":
    main()
