"""A log of events as a server writes it, of suggestions whose fate is given."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from assay.calibration.log.event_log import EventLog, New
from assay.calibration.log.events import Event, RequestEnded, RetentionChecked, ShowingEnded, ShowingEnding, ShowingSeen

SERVER = "5" * 12


@dataclass(frozen=True)
class Fate:
    """One suggestion and what became of it. probability: None where none was said; kept: None for ignored."""

    probability: float | None = 0.5
    kept: bool | None = None
    document: str = "d0"
    project: str = "p0"
    propensity: float = 1.0
    hidden: bool = False
    trigger: str = "automatic"
    event: str = "kept"
    keystrokes: int = 1
    calibrator: str = "c" * 16
    total_logprob: float = -1.5


def write_log(path: Path, fates: Iterable[Fate], *, model: str = "a" * 16, prompt: str = "b" * 16, days_ago: float = 2.0) -> None:
    """Append these suggestions, one each minute."""
    now_ms = time.time_ns() // 1_000_000 - int(days_ago * 86_400_000)
    new: list[New] = []

    def add(showing: str | None, event: Event, after_s: float = 0.0) -> None:
        new.append(New(now_ms + int(after_s * 1e3), SERVER, showing, event))

    with EventLog(path, create=True) as log:
        first = sum(1 for _ in log.rows())
        for number, fate in enumerate(fates):
            name = hashlib.sha256(f"{first}{number}".encode()).hexdigest()[:12]
            for key in range(fate.keystrokes):
                add(name, _request(name if key == 0 else f"{name[:-2]}{key:02}", fate, model, prompt), key / 10)
            if not fate.hidden:
                ending = ShowingEnding.IGNORED if fate.kept is None else ShowingEnding.ACCEPTED
                add(name, ShowingSeen(by="inferred"), 1)
                add(name, ShowingEnded(ending=ending, by="client", characters=7), 2)
                if fate.kept is not None:
                    for after_s in (15, 300):
                        add(name, RetentionChecked(after_s=after_s, share=1.0 if fate.kept else 0.2), 2 + after_s)
            now_ms += 60_000
        log.append(new)


def _request(name: str, fate: Fate, model: str, prompt: str) -> RequestEnded:
    said = fate.probability
    return RequestEnded(
        id=name,
        outcome="hidden" if fate.hidden else "produced",
        document=fate.document,
        project=fate.project,
        language="python",
        trigger=fate.trigger,
        kind="line",
        task="line_rest",
        source="model",
        propensity=fate.propensity,
        confidence={
            "status": "uncalibrated" if said is None else "informative",
            "event": fate.event,
            "probability": said,
            "low": said,
            "high": said,
            "band": "likely",
            "calibrator": None if said is None else fate.calibrator,
        },
        measures={"total_logprob": fate.total_logprob, "token_count": 3.0},
        model=model,
        prompt=prompt,
        text_sha256="e" * 64,
        characters=7,
    )
