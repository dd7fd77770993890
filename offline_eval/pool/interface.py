"""What the two pools have in common: what they are given, what they give back, and how they fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..errors import StudyError

Item = TypeVar("Item")
Answer = TypeVar("Answer")

Work = Callable[[Item], Answer]
# Makes the work function, in the worker; travels to it pickled.
Start = Callable[[], Work[Item, Answer]]

# How often an item is tried whose worker dies. The item may be the cause (it takes all memory) or not (somebody killed the worker).
MAX_TRIES = 3
# Making a work function may take this long: it opens a model, and may copy a project.
MAX_START_S = 900.0


class PoolError(StudyError):
    """The workers can't be started; the message says why."""


@dataclass(frozen=True, slots=True)
class Finished(Generic[Item, Answer]):
    """An item with its answer, or without one: then `lost` says why, for people."""

    item: Item
    answer: Answer | None
    lost: str = ""
