"""What a log of events says, in words for people. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from ...calibration.bands import EVENT_WORDS
from ...calibration.log.evaluation import Evaluation
from ...calibration.log.summary import LogSummary, Part
from ...calibration.metrics.intervals import Interval

# Below it a test of calibration counts as failed: one true calibrator in 20 does.
_REFUTED = 0.05


def summary_told(found: LogSummary, path: Path, size: int, at_s: int) -> Iterable[str]:
    """The lines of a summary. size: of the log, in bytes; at_s: when it was judged what is kept."""
    yield f"{path}: {count(found.events, 'event')} of {count(found.servers, 'server')}, {mib(size)}"
    if found.since_ms is None or found.until_ms is None:
        return
    yield f"from {_minute(found.since_ms)} to {_minute(found.until_ms)}"
    yield f"requests: {sum(found.requests.values()):,}: {_listed(found.requests)}"
    if found.dropped:
        yield f"dropped: {found.dropped:,} events, because they came faster than the disk took them"
    yield f"showings that were seen: {found.all.showings:,}: {_listed(found.endings)}"
    yield f"kept after {at_s} s: {_rate(found.all)}"
    for title, parts in (("by band", found.by_band), ("by task", found.by_task), ("by language", found.by_language)):
        yield f"{title}:"
        yield from (f"  {part.name or '(none)'}: {part.showings:,} shown, {_rate(part)}" for part in parts)


def evaluation_told(one: Evaluation, at_s: int) -> Iterable[str]:
    """The lines of an evaluation; at_s: as above."""
    event = EVENT_WORDS.get(one.event, one.event)
    yield f"{one.task} of the model {one.model}, {event} by the calibrator {one.calibrator}:"
    yield f"{one.shown:,} shown; of {one.labelled:,} it is known whether they were kept after {at_s} s"
    if one.said is None:
        return
    rate = "" if one.rate is None else f" ({one.rate.low:.1%} to {one.rate.high:.1%}, by {one.grouped_by})"
    yield f"of these, said {one.said:.1%} {event} on average; kept {one.kept / one.labelled:.1%}{rate}"
    if one.because:
        yield f"no more can be told: {one.because}"
        return
    if one.auc is not None:
        yield f"how well it ranks what is kept: AUC {_interval(one.auc)}"
    if one.evidence is None:
        yield "whether its percentages are true no log tells: what is kept need not be an exact match, nor pass tests"
        return
    error = one.evidence.ece
    yield f"calibration error {error.debiased:.3f} ({error.low:.3f} to {error.high:.3f})"
    yield f"ECE {error.value:.3f} (noise alone gives {error.noise_floor:.3f})"
    if one.evidence.skill is not None:
        yield f"skill {_interval(one.evidence.skill)}"
    if one.calibrated is None:
        yield "whether they are true can't be tested: the percentages, or the documents, are all alike"
    else:
        p_value = one.calibrated.p_value
        yield f"that they are true is {'refuted' if p_value < _REFUTED else 'not refuted'} (p = {p_value:.3f})"


def count(n: int, noun: str) -> str:
    """ "1 event", "2 events"."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def mib(size: int) -> str:
    """Bytes in MiB."""
    return f"{size / 2**20:.1f} MiB"


def _interval(found: Interval) -> str:
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def _rate(part: Part) -> str:
    if part.low is None or part.high is None:
        return "not known of any"
    return f"{part.kept:,} of {part.labelled:,} that are known, {part.kept / part.labelled:.0%} ({part.low:.0%} to {part.high:.0%})"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()) or "none"


def _minute(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1e3).astimezone().isoformat(sep=" ", timespec="minutes")
