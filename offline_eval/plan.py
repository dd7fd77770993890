"""What a run would do, told without doing it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .progress import to_stderr


def tell(plan: dict[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    """Print a plan: as JSON, or its lines for people."""
    if as_json:
        print(json.dumps(plan, indent=1))
        return
    for line in lines:
        to_stderr(line)


def example_of(text: str, what: str = "one of the prompts") -> list[str]:
    """An example in full, for people."""
    return ["", f"{what} in full:", text] if text else []


def written(out: Path) -> str:
    """Where a run would be written, for people."""
    return f"results      would be in {out.absolute()}"
