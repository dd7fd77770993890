"""Samples from the log of events: the measures of a suggestion when it was made, and whether it was kept. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import get_args

from ...inference.completion.task import Task
from ..samples import Sample
from .events import AcceptanceTested, RequestEnded, RetentionChecked, Row, ShowingEnded, ShowingEnding, ShowingSeen
from .retention import MIN_KEPT_SHARE

# Seconds after the end of a showing. Long enough for a second thought, short enough that the file is still open.
AT_S = 300

# Why a showing makes no sample: it was gone before anybody could read it.
NOT_SEEN = "not seen"

_TASKS = frozenset(get_args(Task))
_HEX16 = re.compile(r"[0-9a-f]{16}").fullmatch
_HEX64 = re.compile(r"[0-9a-f]{64}").fullmatch

# Endings that say nothing of whether the suggestion was right.
_UNKNOWN_ENDINGS = (ShowingEnding.IGNORED, ShowingEnding.SUPERSEDED)
# Endings in which the user has seen it, however short it was shown.
_SEEN_ENDINGS = (ShowingEnding.ACCEPTED, ShowingEnding.PARTLY_ACCEPTED, ShowingEnding.REJECTED)


@dataclass(frozen=True, slots=True)
class Showing:
    """One generation on a screen.

    request: the one that it first answered. ended: None if its end is unknown. tests_pass: what the tests said after it was accepted.
    """

    id: str
    time_ms: int
    server: str
    request: RequestEnded
    shown: bool
    ended: ShowingEnded | None
    kept: tuple[RetentionChecked, ...]
    tests_pass: bool | None = None


@dataclass(frozen=True, slots=True)
class LoggedSamples:
    """The samples in the order in which they were shown.

    left_out: the number of showings that make none, by reason, for people. said: by sample, event and probability that were shown.
    """

    samples: tuple[Sample, ...]
    left_out: dict[str, int]
    said: dict[str, tuple[str, float]] = field(default_factory=dict)


def showings_of(rows: Iterable[Row]) -> tuple[Showing, ...]:
    """The showings, in the order in which they were first given to an editor.

    A showing whose first request is no longer in the log is left out. If a showing has two ends, the first counts. An alternative that the
    user went on to has the request that it came with. Only the first request of each showing is held in memory, because most requests are
    of a user who types along what is shown.
    """
    first: dict[str, tuple[Row, RequestEnded]] = {}
    alternatives: dict[str, tuple[Row, RequestEnded]] = {}
    shown: set[str] = set()
    ended: dict[str, ShowingEnded] = {}
    kept: dict[str, list[RetentionChecked]] = {}
    tests: dict[str, bool | None] = {}
    for row in rows:
        event, name = row.event, row.showing
        if isinstance(event, RequestEnded):
            if event.outcome == "produced" and name in (None, event.id):
                first.setdefault(event.id, (row, event))
            for other in event.others:
                alternatives.setdefault(other.id, (row, event.of(other)))
        elif name is None:
            continue
        elif isinstance(event, ShowingSeen):
            shown.add(name)
        elif isinstance(event, ShowingEnded):
            ended.setdefault(name, event)
        elif isinstance(event, RetentionChecked):
            kept.setdefault(name, []).append(event)
        elif isinstance(event, AcceptanceTested):
            # Where a test failed before, a suggestion that leaves it failing has no label. So one that mends it must have none either.
            tests[name] = None if event.mends else event.passed
    found = []
    for name, (row, request) in sorted((first | (alternatives | first)).items(), key=lambda item: item[1][0].number):
        end = ended.get(name)
        seen = name in shown or (end is not None and end.ending in _SEEN_ENDINGS)
        if seen or end is not None:
            found.append(Showing(name, row.time_ms, row.server, request, seen, end, tuple(kept.get(name, ())), tests.get(name)))
    return tuple(found)


def was_kept(ended: ShowingEnded | None, kept: Iterable[RetentionChecked], at_s: int = AT_S) -> bool | None:
    """The label `kept`: whether enough of a showing's text stood in the document `at_s` seconds after it ended. None if unknown.

    It is unknown if the showing was ignored or superseded, and if it could not be checked at that time, since the file was closed or the
    machine asleep. A text that was undone before is not kept, unless it stood there again. A rejected one is judged as all others, because
    the user may have typed the same.
    """
    if ended is None or ended.ending in _UNKNOWN_ENDINGS:
        return None
    undone = False
    for look in kept:
        if look.after_s is not None and look.after_s > at_s:
            continue
        if look.why == "undone":
            undone = True
        elif look.share is not None:
            if look.after_s == at_s:
                return look.share >= MIN_KEPT_SHARE
            # A text that was redone is unknown until it is checked again.
            undone = undone and look.share < MIN_KEPT_SHARE
    return False if undone else None


def has_our_names(request: RequestEnded) -> bool:
    """Whether its task is one of Assay's, and its model and prompt are fingerprints. Names of files are made of them, and lines on screens.

    A log may come from anybody.
    """
    return request.task in _TASKS and bool(_HEX16(request.model or "") and _HEX16(request.prompt or ""))


def _labels(showing: Showing, at_s: int) -> dict[str, bool | None]:
    kept: dict[str, bool | None] = {"kept": was_kept(showing.ended, showing.kept, at_s)}
    return kept if showing.tests_pass is None else kept | {"tests_pass": showing.tests_pass}


def samples_of(showings: Iterable[Showing], at_s: int = AT_S) -> LoggedSamples:
    """One sample for each showing that was seen: the measures of its first request, whether it was kept (`was_kept`), and passes tests.

    Showings without measures, model or task, and any but the model's first choice, are left out: no calibrator can be fitted to them. So
    are repairs, and those that no server of Assay's has logged.
    """
    samples, left_out, said = [], Counter[str](), {}
    for showing in showings:
        request = showing.request
        propensity = 1.0 if request.propensity is None else request.propensity
        if request.is_repair:
            left_out["repairs, not completions"] += 1
        elif not showing.shown:
            left_out[NOT_SEEN] += 1
        elif request.rank > 1:
            left_out["not the model's first choice"] += 1
        elif not (request.measures and request.model and request.prompt and request.task and request.text_sha256):
            left_out["without measures"] += 1
        elif not (has_our_names(request) and _HEX64(request.text_sha256) and 0 < propensity <= 1):
            left_out["not as Assay logs it"] += 1
        else:
            number = (request.confidence or {}).get("probability")
            if isinstance(number, float) and 0 < number < 1:
                said[showing.id] = (str((request.confidence or {}).get("event")), number)
            samples.append(
                Sample(
                    id=showing.id,
                    model=request.model,
                    prompt=request.prompt,
                    task=request.task,
                    language=request.language,
                    project=request.project,
                    file=request.document,
                    seed=0,
                    measures=request.measures,
                    labels=_labels(showing, at_s),
                    text_sha256=request.text_sha256,
                    propensity=propensity,
                )
            )
    return LoggedSamples(tuple(samples), dict(left_out), said)
