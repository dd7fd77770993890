"""How likely repairs are to be right: by the registry's calibrators, as of completions, and the likeliest first. Pure.

A calibrator of the task `repair` is fitted on the first `RANKS` repairs of single lines, in files that parse, that all sources of a
fingerprint were asked for. Of what it was not fitted on it says nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ...calibration.bands import BOUNDARIES, Boundaries
from ...calibration.confidence import Confidence, uncalibrated
from ...calibration.effective_status import confidence_of
from ...calibration.fitting.shrinkage import Level
from ...calibration.measures.agreement import Drawn
from ...calibration.registry import Purpose, Registry, choose, explain_choice
from ...calibration.samples import Event
from ...inference.model import StopReason
from .request import Repairs, Request
from .sources.registry import SOURCES, Source

TASK = "repair"
# As many as are judged of each line, and are samples.
RANKS = 8
# Raise it whenever other candidates are made, or measured or ordered in another way.
VERSION = 6


def prompt_of(line_prompt: str, sources: Iterable[str]) -> str:
    """The fingerprint of how repairs are made, which calibrators are matched by: 16 hex digits.

    line_prompt: the fingerprint of the prompt of lines (`Settings.fingerprint`). sources: the names of those that are asked.
    """
    decides = {"line": line_prompt, "sources": sorted(sources), "version": VERSION}
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]


def purpose_of(
    request: Request, event: Event, *, memory: str = "", file: Path | None = None, sources: Sequence[Source] = SOURCES
) -> Purpose:
    """What a calibrator must be for, to say how likely the repairs of a request are to be right.

    memory: the fingerprint of the memory that is mixed in (`memory_fingerprint`); empty for none. file, absolute: as of `Purpose`.
    """
    model, settings = request.asking.model, request.asking.settings
    heals = model.capabilities.heals
    line = settings.fingerprint(model.layout, model.context_length, "line", heals=heals, memory=memory)
    # a request that only asks what a calibrator must be for has no asker
    chats = model.chat_format is not None
    asked = [source.name for source in sources if not source.why_not(request) or (source.name == "instruct" and chats)]
    fingerprint = model.fingerprint
    return Purpose(fingerprint.id, prompt_of(line, asked), event, TASK, request.language, file, fingerprint.kin)


def with_confidence(
    repairs: Repairs,
    purpose: Purpose,
    registry: Registry,
    *,
    project: str | None = None,
    boundaries: Boundaries = BOUNDARIES,
    show_refuted: bool = False,
) -> Repairs:
    """The repairs with their confidence, the likeliest first; those without a number keep their order, behind the others.

    repairs: of all sources, not those on the way. purpose: `purpose_of` their request. project, show_refuted: as of `suggestion_of`.
    """
    groups: dict[Level, str] = {"language": purpose.language, **({"project": project} if project else {})}
    found = []
    for repair in repairs.found:
        rank = int(repair.suggestion.measures["rank"])
        drawn = Drawn(rank, RANKS, repair.suggestion.measures.get("agreement"))
        entry = choose(registry, purpose, drawn)
        if entry is None:
            told = uncalibrated(purpose.event, explain_choice(registry, purpose, drawn).reason)
        elif rank > RANKS:
            told = uncalibrated(purpose.event, f"calibrators of repairs are fitted on the first {RANKS}, and this is number {rank}")
        elif why := _why_not(repairs):
            told = uncalibrated(purpose.event, why)
        else:
            told = confidence_of(entry, repair.suggestion.measures, groups, boundaries, show_refuted=show_refuted)
        found.append(replace(repair, suggestion=replace(repair.suggestion, confidence=told)))
    return replace(repairs, found=tuple(sorted(found, key=lambda each: (not each.mends, *_order(each.suggestion.confidence)))))


def _why_not(repairs: Repairs) -> str:
    """Why no calibrator says how likely these repairs are to be right; empty where one may."""
    if repairs.stopped_by is not None:
        why = "the time was up" if repairs.stopped_by is StopReason.TIME else "enough pass the tests"
        return f"not every source was asked, as calibrators need it: {why}"
    if not repairs.parses:
        return "calibrators of repairs are fitted on files that parse"
    if repairs.lines > 1:
        return "calibrators of repairs are fitted on single lines"
    return ""


def _order(confidence: Confidence) -> tuple[bool, float]:
    return confidence.probability is None, -(confidence.probability or 0.0)
