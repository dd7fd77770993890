"""How long a model takes for a generation here."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from ...inference.opening import ModelChoice
from ...suggestion.complete import complete
from ..model import begin_anew, opened_on_one_thread

_TIMED = 5


def generation_seconds(choice: ModelChoice) -> float:
    """The median over lines of this file, which it completes as in the editor. Raises what `ModelChoice.open` raises."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines(keepends=True)
    took = []
    with opened_on_one_thread(choice) as model:
        for number in range(len(lines) - _TIMED, len(lines)):
            begin_anew(model)
            began = time.perf_counter()
            before, after = "".join(lines[:number]) + lines[number][:4], "".join(lines[number + 1 :])
            complete(model, before, after, settings=choice.settings_for(model))
            took.append(time.perf_counter() - began)
    return statistics.median(took)
