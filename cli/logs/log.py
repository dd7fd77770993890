"""Shared by the commands of `assay logs`: opens the log, reads its samples, and words the results."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..terminal import say

if TYPE_CHECKING:
    from ...calibration.log.event_log import EventLog
    from ...calibration.log.samples import LoggedSamples
    from ...calibration.samples import Event, Sample

KEPT: Event = "kept"
TESTS_PASS: Event = "tests_pass"

_DAY_MS = 86_400_000


def opened(path: Path | None) -> EventLog:
    """The log at a path, or the user's own. Raises EventLogError."""
    from ...calibration.log.event_log import EventLog, default_path

    return EventLog(path or default_path())


def since_ms(days: int | None) -> int | None:
    """The start of the last so many days, in Unix time; None for all days."""
    return None if days is None else time.time_ns() // 1_000_000 - days * _DAY_MS


def samples_in(path: Path | None, at_s: int, only: Mapping[str, str | None]) -> LoggedSamples:
    """The samples in a log, with labels for whether they were kept at_s seconds after they ended, and whether their tests passed.

    only: the value of a field of the samples, None for any. Raises EventLogError.
    """
    from ...calibration.log.samples import LoggedSamples, samples_of, showings_of

    skipped = Counter[str]()
    with opened(path) as log:
        logged = samples_of(showings_of(log.rows(skipped)), at_s)
    say_skipped(skipped)
    wanted = {name: value for name, value in only.items() if value is not None}
    chosen = tuple(sample for sample in logged.samples if all(getattr(sample, name) == value for name, value in wanted.items()))
    return LoggedSamples(chosen, logged.left_out, logged.said)


def by_subject(samples: Iterable[Sample]) -> dict[tuple[str, str, str], list[Sample]]:
    """The samples by task, model and prompt: a calibrator is fitted to one of each."""
    parts: dict[tuple[str, str, str], list[Sample]] = {}
    for sample in samples:
        parts.setdefault((sample.task, sample.model, sample.prompt), []).append(sample)
    return dict(sorted(parts.items()))


def subject_json(subject: tuple[str, str, str], samples: Sequence[Sample], event: Event = KEPT) -> dict[str, Any]:
    """Task, model, prompt, and the counts of `label_counts`."""
    return dict(zip(("task", "model", "prompt"), subject, strict=True)) | label_counts(samples, event)


def label_counts(samples: Sequence[Sample], event: Event = KEPT) -> dict[str, int]:
    """How many samples there are, how many have a label of the event, and how many a positive one."""
    labels = [label for sample in samples if (label := sample.labels.get(event)) is not None]
    return {"samples": len(samples), "labelled": len(labels), "positives": sum(labels)}


def say_left_out(logged: LoggedSamples) -> None:
    """Print how many showings make no sample, and why."""
    if logged.left_out:
        say(f"left out: {', '.join(f'{number:,} {reason}' for reason, number in logged.left_out.items())}")


def say_skipped(skipped: Counter[str]) -> None:
    """Print how many events could not be used. skipped: as `EventLog.rows` counts them."""
    if skipped["unknown"]:
        say(f"note: skipped {count(skipped['unknown'], 'event')} of a kind that this version of Assay does not know")
    if skipped["damaged"]:
        say(f"note: skipped {count(skipped['damaged'], 'event')} that can't be read")


def count(n: int, noun: str) -> str:
    """So many of a noun.

    >>> count(1, "event"), count(2000, "event")
    ('1 event', '2,000 events')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def mib(size: int) -> str:
    """Bytes in MiB."""
    return f"{size / 2**20:.1f} MiB"
