"""Events as a server writes them, of a synthetic world whose truth is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from synthetic_samples import MODEL, PROMPT, world

from assay.calibration.log.event_log import New
from assay.calibration.log.events import (
    RETENTION_CHECKED_AFTER_S,
    Event,
    RequestEnded,
    RetentionChecked,
    ShowingEnded,
    ShowingEnding,
    ShowingSeen,
    hash_of,
)

SERVER = "5e4e4e4e4e4e"
BEGAN_MS = 1_790_000_000_000


def request(name: str = "0" * 12, **changes: Any) -> RequestEnded:
    """A request for which a suggestion was given to the editor."""
    fields: dict[str, Any] = {
        "id": name,
        "outcome": "produced",
        "document": hash_of("file:///project/a.py"),
        "project": hash_of("file:///project"),
        "language": "python",
        "trigger": "automatic",
        "kind": "line",
        "task": "line",
        "source": "model",
        "propensity": 1.0,
        "confidence": {"status": "informative", "event": "kept", "probability": 0.7, "low": 0.6, "high": 0.8, "band": "likely"},
        "measures": {"total_logprob": -1.5, "token_count": 4.0},
        "model": MODEL,
        "prompt": PROMPT,
        "text_sha256": hashlib.sha256(name.encode()).hexdigest(),
        "characters": 12,
    }
    return RequestEnded(**{**fields, **changes})


def life(name: str, *, kept: bool | None, **changes: Any) -> list[tuple[str | None, Event]]:
    """What is logged of one showing from its request to its last look. kept: None for one that the user ignored."""
    ending = ShowingEnding.IGNORED if kept is None else ShowingEnding.ACCEPTED
    share = 0.1 if kept is None else 0.9 if kept else 0.3
    looks = [(name, RetentionChecked(after_s=after_s, share=share)) for after_s in RETENTION_CHECKED_AFTER_S]
    ended = ShowingEnded(ending=ending, by="client", characters=12, accepted=0 if kept is None else 12, visible_ms=900.0)
    return [(None, request(name, **changes)), (name, ShowingSeen(by="inferred")), (name, ended), *looks]


def lives(n: int, *, ignored_every: int = 4, seed: int = 0) -> Iterator[list[tuple[str | None, Event]]]:
    """n showings of a world in which the log odds of being kept are a line in those of the total log-probability, by 12 projects."""
    for sample in world(n, seed=seed)[0]:
        number = int(sample.id[1:])
        yield life(
            f"{number:012x}",
            kept=None if number % ignored_every == 0 else sample.labels["exact_match"],
            measures=sample.measures,
            project=hash_of(sample.project),
            document=hash_of(sample.project + sample.file),
        )


def new(event: Event, showing: str | None = None, time_ms: int = BEGAN_MS) -> New:
    return New(time_ms, SERVER, showing, event)
