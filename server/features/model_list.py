"""Lists the models of this machine in a process of its own: headers are read, and the memory is measured, which takes up to seconds.

The process reads `folders`, `probe` and `project` from stdin, as JSON, and prints the list: docs/formats.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...calibration.found_models import list_models
from ..confidence.child_process import json_from


async def models_here(folders: Sequence[Path], *, probe: bool, project: Path | None) -> dict[str, Any]:
    """The list, as `calibration.found_models.list_models` makes it. Raises ChildProcessFailed."""
    question = {"folders": [str(folder) for folder in folders], "probe": probe, "project": None if project is None else str(project)}
    return await json_from("-m", __name__, question=question)


def main() -> int:
    """Answer the question on stdin."""
    asked = json.load(sys.stdin)
    project = None if asked["project"] is None else Path(asked["project"])
    print(json.dumps(list_models([*map(Path, asked["folders"])], probe=asked["probe"], project=project).as_json(), allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
