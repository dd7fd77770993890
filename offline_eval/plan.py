"""What a run would do, told without doing it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .progress import to_stderr

if TYPE_CHECKING:
    from .study import StudyOptions

PLAN = "assay/study-plan/1"


def tell(plan: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    """Print a plan: as JSON, or its lines for people."""
    if as_json:
        print(json.dumps(plan, indent=1))
        return
    for line in lines:
        to_stderr(line)


def tell_study(study: str, options: StudyOptions, more: Mapping[str, Any], lines: Sequence[str], example: Any = "", what: str = "") -> None:
    """Print the plan of a study's run. example: of what is asked, which is called `what`."""
    plan = {"schema": PLAN, "study": study, **more, "run": str(options.out), **({"example": example} if example else {})}
    tell(plan, [*lines, written(options.out), *example_of(str(example), what or "one of the prompts")], as_json=options.as_json)


def example_of(text: str, what: str = "one of the prompts") -> list[str]:
    """An example in full, for people."""
    return ["", f"{what} in full:", text] if text else []


def written(out: Path) -> str:
    """Where a run would be written, for people."""
    return f"results      would be in {out.absolute()}"
