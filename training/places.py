"""Places in real code with what a model wrote there, as guesses.py writes them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Guess:
    """A text as the model wrote it, with the space of its first word, which `Place.before` lacks.

    logprob: of its tokens and the one that ended it, in nats. tokens: how many those are. greedy: whether it was not drawn at random.
    """

    text: str
    right: bool
    greedy: bool
    logprob: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Place:
    """The text before and after a place, the real text between them, and the guesses, all different and none empty."""

    project: str
    path: str
    task: str
    before: str
    after: str
    real: str
    guesses: tuple[Guess, ...]


def read_places(path: Path) -> list[Place]:
    """Read the file that guesses.py wrote."""
    with path.open(encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    return [Place(**{**r, "guesses": tuple(Guess(**g) for g in r["guesses"])}) for r in records]
