"""JSON that is not what was promised."""

from __future__ import annotations

import math
from random import Random
from typing import Any

NONSENSE: list[Any] = [None, True, -1, 0, 0.5, 1e308, math.inf, math.nan, 10**400, "", "a", "\ufffd", [], [None], {}, {"id": "x"}, [[1]]]


def with_one_part_changed(answer: Any, chance: Random) -> Any:
    """The same JSON with something else at a random place, or nothing there."""
    if chance.random() < 0.2 or not isinstance(answer, dict | list) or not answer:
        return chance.choice(NONSENSE)
    copied: Any = answer.copy()
    key = chance.choice(list(answer) if isinstance(answer, dict) else range(len(answer)))
    if chance.random() < 0.2:
        del copied[key]
    else:
        copied[key] = with_one_part_changed(answer[key], chance)
    return copied
