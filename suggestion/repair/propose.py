"""From a request to repairs: candidates of all sources, filtered, scored and ordered together."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...calibration.samples import Event
from ...inference.model import Cancel, StopReason
from ...inference.stopping.cancel_or_timeout import make_stop_check
from ..positions import Encoding
from .asking import MAX_CHARACTERS
from .gathering import Gathering, Order, by_gain_and_size
from .parsing import parsing_of, why_none
from .request import Repairs, Request
from .sources.registry import SOURCES, Source
from .surprise import surprise_at

# Of a selection these lines are looked at for surprises, and so many of them are asked about one by one.
MAX_LINES, MAX_SUSPECTS = 200, 5
# Sooner than somebody waits for, and seldom enough to cost little: all repairs are ordered anew.
_TOLD_EVERY_S = 0.2


def propose(
    request: Request,
    *,
    most: int = 8,
    sources: Sequence[Source] = SOURCES,
    order: Order = by_gain_and_size,
    event: Event = "tests_pass",
    encoding: Encoding = "utf-32",
    max_ms: float | None = None,
    cancel: Cancel | None = None,
) -> Repairs:
    """The best repairs of the lines of a request.

    most: how many. order: what a repair is worth, but for how many sources gave it; those that mend a file come first. event: what their
    confidence is about. encoding: what the columns of ranges count. max_ms: after so many milliseconds no further candidate is asked for,
    and what is there is given; likewise where cancel says so. An instruct model that is being asked is waited for. No source is asked where
    nothing could check what it gives (`Repairs.why_none`). Raises ModelError.
    """
    *_, last = proposals(request, most=most, sources=sources, order=order, event=event, encoding=encoding, max_ms=max_ms, cancel=cancel)
    return last


def proposals(
    request: Request,
    *,
    most: int = 8,
    sources: Sequence[Source] = SOURCES,
    order: Order = by_gain_and_size,
    event: Event = "tests_pass",
    encoding: Encoding = "utf-32",
    max_ms: float | None = None,
    cancel: Cancel | None = None,
) -> Iterator[Repairs]:
    """As `propose`, but first what there is so far, several times a second: the last one is what `propose` gives."""
    check = make_stop_check(cancel, max_ms, time.perf_counter())
    request = replace(request, asking=replace(request.asking, is_over=lambda: check() is not None))
    is_block = request.end - request.first > 1
    if not is_block:
        request = _with_suspects(request)
    why = why_none(request.lines, request.first, request.end, request.language)
    parsing = None if why else parsing_of(request.lines, request.first, request.end, request.language)
    if parsing is None:
        request = _with_suspects(request) if is_block else request
        yield Repairs((), request.suspects, {}, check(), request.end - request.first, why_none=why)
        return
    gathering, told = Gathering(request, parsing), -math.inf
    not_asked: dict[str, str] = {}

    def repairs(stopped_by: StopReason | None) -> Repairs:
        found = gathering.repairs(most, order, event, encoding)
        lines, better = request.end - request.first, gathering.nothing_better
        return Repairs(found, request.suspects, dict(not_asked), stopped_by, lines, parsing.parses, nothing_better=better)

    # An answer in chat is about all lines of a block, and is there before the model has looked at each of them. It may take all the time.
    for source in sorted(sources, key=lambda each: each.name != "instruct") if is_block else sources:
        if check() is not None:
            break
        if is_block and source.name != "instruct" and not request.asked:
            request = gathering.request = _with_suspects(request)
        if why := source.why_not(request):
            not_asked[source.name] = why
            continue
        for _ in gathering.taken(source, check):
            if time.perf_counter() > told + _TOLD_EVERY_S:
                yield repairs(None)
                told = time.perf_counter()
    if is_block and not request.asked:
        request = _with_suspects(request)
    yield repairs(check())


def _with_suspects(request: Request) -> Request:
    """Says which lines surprise the model; where it can't say, the first ones are asked about."""
    selected = range(request.first, min(request.end, request.first + MAX_LINES))
    lines = [number for number in selected if request.lines[number].strip() and len(request.lines[number]) <= MAX_CHARACTERS]
    told = (surprise_at(request.asking, request.lines, number) for number in lines if not request.asking.is_over())
    suspects = sorted(filter(None, told), key=lambda found: -found.surprise)[:MAX_SUSPECTS]
    asked = [suspect.line for suspect in suspects] or lines[:MAX_SUSPECTS]
    return replace(request, asked=tuple(asked), suspects=tuple(suspects))
