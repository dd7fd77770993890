"""Where a generation ends: pure rules on the text so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule for the end of the text.

    "line": before the first newline. "block": before the first non-blank line whose indentation is less than `indent` columns (the
    block's own indentation; the line that the text starts on is never looked at), trailing blank lines left out. "none": only the model's own end.
    """

    kind: Literal["line", "block", "none"]
    indent: int = 0


LINE = Stop("line")
NONE = Stop("none")
