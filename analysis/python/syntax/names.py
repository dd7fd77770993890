"""Fresh names, which stand nowhere in a program."""

from __future__ import annotations

import builtins
import keyword
import random

from .parsed import Parsed

WORDS = (
    "value", "item", "result", "current", "entry", "total", "data", "number", "element", "temp", "output", "state", "part", "record",
    "amount", "target", "piece", "buffer", "info", "unit",
)  # fmt: skip


def fresh(parsed: Parsed, rng: random.Random, words: tuple[str, ...] = WORDS) -> str:
    """Draw a name that stands nowhere in the file, not even in strings and comments, and is no keyword or built-in.

    words: the names to draw from; they are numbered (`value_2`) where none is free.
    """
    taken = parsed.identifiers() | set(dir(builtins)) | set(keyword.kwlist) | set(keyword.softkwlist)
    number, free = 1, [word for word in words if word not in taken]
    while not free:
        number += 1
        free = [name for word in words if (name := f"{word}_{number}") not in taken]
    return rng.choice(free)
