"""Places in real code and what a model wrote there, as guesses.py leaves them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Guess:
    """A text that the model wrote, as it wrote it: `Place.before` lacks the space that a word begins with.

    logprob: of its tokens and the one that ended it, in nats; tokens: how many those are; greedy: not drawn at random.
    """

    text: str
    right: bool
    greedy: bool
    logprob: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Place:
    """What the model was shown, what really stands between the two, and its guesses: no text twice, none empty."""

    project: str
    path: str
    task: str
    before: str
    after: str
    real: str
    guesses: tuple[Guess, ...]


def read_places(path: Path) -> list[Place]:
    """What `main` wrote."""
    with path.open(encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    return [Place(**{**r, "guesses": tuple(Guess(**g) for g in r["guesses"])}) for r in records]
