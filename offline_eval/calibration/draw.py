"""The step "answers": the model fills each gap of a place, in each arm, and the result is compared with what stood there."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...analysis.python.lines import Gap
from ...calibration.measures.reflective import Question, reflect
from ...calibration.samples import Event
from ...inference.completion.task import Task
from ...inference.model import Model
from ...inference.project_memory.memory import Memory
from ..answers import Answer
from ..asked_line import OpenModel
from ..sets.lines import PLAIN, Arm, Place, in_arm
from ..study import Step
from ..suggested import FileWithGap, Suggested

EVENT: Event = "exact_match"


def _has_gap(answer: Any) -> bool:
    return bool(answer["generations"])


ANSWERS = Step("answers", "place", Answer, _has_gap)


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is asked at each place. alternatives: how many completions are drawn at each gap."""

    arms: tuple[Arm, ...] = (PLAIN,)
    alternatives: int = 1


def answer_at(asked: OpenModel[Gaps], place: Place) -> dict[str, Any]:
    """The answer of one place. Raises what `Model.generate` raises."""
    timings: dict[str, float] = {}
    made = [
        one
        for arm in asked.wanted.arms
        for task, gap in place.gaps
        if (shown := in_arm(arm, place.text, gap, task, asked.settings, place.language)) is not None
        for one in _generations(asked, place, arm, gap, shown, timings)
    ]
    language = {} if place.language == "python" else {"language": place.language}
    return {**place.about, **language, "generations": made, "timings": timings}


def _generations(
    asked: OpenModel[Gaps], place: Place, arm: Arm, gap: Gap, shown: FileWithGap, timings: dict[str, float]
) -> Iterator[dict[str, Any]]:
    original = FileWithGap(place.text, gap, shown.task, shown.settings)
    found = drawn_at(
        shown, asked.model, asked.wanted.alternatives, asked.memory_at(shown, place), asked.asking.model.questions, timings
    )  # fmt: skip
    for each, record in found:
        made = {
            "id": generation_id(f"{place.id}:{shown.task}", each.drawn.rank),
            "task": shown.task,
            "truth": original.truth,
            "labels": {EVENT: original.is_exact(each.inserted)},
            **record,
        }
        yield made if arm == PLAIN else made | {"arm": arm}


def drawn_at(
    shown: FileWithGap,
    model: Model,
    alternatives: int,
    memory: Memory | None,
    questions: Mapping[str, Question],
    timings: dict[str, float],
) -> Iterator[tuple[Suggested, dict[str, Any]]]:
    """What a model generates at a gap, each with its part of a record, with what the model says of it where it is asked.

    timings: the time of the model is added to it. Raises what `Model.generate` raises.
    """
    begun = time.perf_counter()
    found = list(shown.suggestions(model, alternatives, memory))
    _add(timings, "model_ms", time.perf_counter() - begun)
    for each in found:
        record = each.record
        if alternatives > 1:
            record["rank"] = each.drawn.rank
        if questions and each.inserted is not None:
            begun = time.perf_counter()
            said = reflect(model, shown.prompt(model), each.generation, questions)
            record["measures"] |= said.measures
            record |= {"asked": dict(said.asked), "fallbacks": list(said.fallbacks), "answers": list(said.answers)}
            _add(timings, "model_ms", time.perf_counter() - begun)
        yield each, record


def _add(timings: dict[str, float], name: str, seconds: float) -> None:
    timings[name] = timings.get(name, 0.0) + seconds * 1e3


def generation_id(gap: str, rank: int) -> str:
    """The id of a generation: the gap's own for the first choice. It is the same in each arm, so that arms can be paired."""
    return gap if rank == 1 else f"{gap}:{rank}"


def label_id(place: str, task: Task | str, inserted: str) -> str:
    """The id of the label of a text at a place: the same for every arm and alternative that has that text."""
    return f"{place}:{task}:{hashlib.sha256(inserted.encode(errors='surrogatepass')).hexdigest()[:16]}"
