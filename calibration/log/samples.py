"""From the log of events to samples: what was measured of a suggestion when it was made, and whether it was kept. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ..samples import Sample
from .events import RequestEnded, RetentionChecked, Row, ShowingEnded, ShowingEnding, ShowingSeen
from .retention import MIN_KEPT_SHARE

# Long enough for a second thought, and short enough that the file is still open.
AT_S = 300

# Why a showing makes no sample: it went before anybody could read it.
NOT_SEEN = "not seen"

# What became of these says nothing of whether they were right.
_WITHOUT_A_SAY = (ShowingEnding.IGNORED, ShowingEnding.SUPERSEDED)
# Who did this has seen it, however short it was there.
_SEEN_BY_WHAT_WAS_DONE = (ShowingEnding.ACCEPTED, ShowingEnding.PARTLY_ACCEPTED, ShowingEnding.REJECTED)


@dataclass(frozen=True, slots=True)
class Showing:
    """One generation on a screen. request: the one that it was first given to the editor for; ended: None where that is not known."""

    id: str
    time_ms: int
    server: str
    request: RequestEnded
    shown: bool
    ended: ShowingEnded | None
    kept: tuple[RetentionChecked, ...]


@dataclass(frozen=True, slots=True)
class LoggedSamples:
    """samples: in the order in which they were shown. left_out: how many showings make none, by the reason, for people."""

    samples: tuple[Sample, ...]
    left_out: dict[str, int]


def showings_of(rows: Iterable[Row]) -> tuple[Showing, ...]:
    """What was on a screen, in the order in which it was first given to an editor.

    A showing whose first request is not in the log any more is left out. Of two ends of one the first counts. An alternative that the user
    went on to has the request that it came with. Of requests only the first of each showing is held, and alternatives: most are of
    somebody who types along what is shown.
    """
    first: dict[str, tuple[Row, RequestEnded]] = {}
    alternatives: dict[str, tuple[Row, RequestEnded]] = {}
    shown: set[str] = set()
    ended: dict[str, ShowingEnded] = {}
    kept: dict[str, list[RetentionChecked]] = {}
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
    found = []
    for name, (row, request) in sorted((first | (alternatives | first)).items(), key=lambda item: item[1][0].number):
        end = ended.get(name)
        seen = name in shown or (end is not None and end.ending in _SEEN_BY_WHAT_WAS_DONE)
        if seen or end is not None:
            found.append(Showing(name, row.time_ms, row.server, request, seen, end, tuple(kept.get(name, ()))))
    return tuple(found)


def was_kept(ended: ShowingEnded | None, kept: Iterable[RetentionChecked], at_s: int = AT_S) -> bool | None:
    """The label `kept`: whether enough of a showing's text stood in the document so many seconds after it ended; None where unknown.

    Unknown is what was ignored or superseded, and what could not be looked at then: the file was closed, the machine asleep. What was
    undone before is not kept, unless it stood there again. A rejected one is judged as all others are: the user may have typed the same.
    """
    if ended is None or ended.ending in _WITHOUT_A_SAY:
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
            # what is done again is as unknown as all else, until it is looked at
            undone = undone and look.share < MIN_KEPT_SHARE
    return False if undone else None


def samples_of(showings: Iterable[Showing], at_s: int = AT_S) -> LoggedSamples:
    """One sample for each showing that was seen, with the measures of its first request and the label `kept` (see `was_kept`).

    Left out is what no calibrator can be fitted to: what comes without measures, model or task, and any but the model's first choice.
    """
    samples, left_out = [], Counter[str]()
    for showing in showings:
        request = showing.request
        if not showing.shown:
            left_out[NOT_SEEN] += 1
        elif request.rank > 1:
            left_out["not the model's first choice"] += 1
        elif not (request.measures and request.model and request.prompt and request.task and request.text_sha256):
            left_out["without measures"] += 1
        else:
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
                    labels={"kept": was_kept(showing.ended, showing.kept, at_s)},
                    text_sha256=request.text_sha256,
                    propensity=1.0 if request.propensity is None else request.propensity,
                )
            )
    return LoggedSamples(tuple(samples), dict(left_out))
