"""The step "answers": the model fills each gap of a place, in each arm, and the result is compared with what stood there."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...analysis.python.lines import Gap
from ...calibration.measures.reflective import Question, reflect
from ...calibration.samples import Event
from ...inference.completion.task import Task
from ...inference.model import Model
from ...inference.opening import ModelChoice
from ...inference.project_memory.memory import Memory
from ..answers import Answer
from ..memory import StudyMemory
from ..model import StudyModel, begin_anew
from ..servers import OnServers
from ..sets.arms import PLAIN, Arm, in_arm
from ..sets.code import Source, own_code
from ..sets.lines import Place
from ..sets.projects import path_in_project
from ..study import Step
from ..suggested import FileWithGap, Suggested

EVENT: Event = "exact_match"


def _has_gap(answer: Any) -> bool:
    return bool(answer["generations"])


ANSWERS = Step("answers", "place", Answer, _has_gap)


@dataclass(frozen=True, slots=True)
class Drawing:
    """Makes the worker's function; travels to the worker.

    projects: by name, and archives, where their distributions are: for their memories. alternatives: how many are drawn at each gap.
    """

    model: StudyModel
    projects: Mapping[str, Source]
    archives: Path
    arms: tuple[Arm, ...] = (PLAIN,)
    alternatives: int = 1

    def __call__(self) -> Callable[[Place], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> Drawer:
        """The function, with the model of a choice. Raises as above."""
        model = replace(self.model, choice=choice).open_in_worker()
        memory = StudyMemory(model, self.model.memory, lambda name: own_code(self.projects[name], self.archives))
        return Drawer(self, model, memory)


@dataclass(frozen=True, slots=True)
class Drawer:
    """Answers places; holds a model."""

    asked: Drawing
    model: Model
    memory: StudyMemory

    def __call__(self, place: Place) -> dict[str, Any]:
        """The answer of one place. Raises what `Model.generate` raises."""
        timings: dict[str, float] = {}
        begun = time.perf_counter()
        begin_anew(self.model)
        self.memory.forget()
        made = [
            one
            for arm in self.asked.arms
            for task, gap in place.gaps
            if (shown := in_arm(arm, place.text, gap, task, self.asked.model.settings, place.language)) is not None
            for one in self._generations(place, arm, gap, shown, timings)
        ]
        timings["total_ms"] = (time.perf_counter() - begun) * 1e3
        language = {} if place.language == "python" else {"language": place.language}
        return {
            "id": place.id,
            "project": place.project,
            "file": place.path,
            "function": place.function,
            "line": place.line,
            **language,
            "generations": made,
            "timings": timings,
        }

    def close(self) -> None:
        """Put the model away."""
        self.model.close()

    def _generations(self, place: Place, arm: Arm, gap: Gap, shown: FileWithGap, timings: dict[str, float]) -> Iterator[dict[str, Any]]:
        memory = self.memory.at(shown, place.project, path_in_project(place.path))
        original = FileWithGap(place.text, gap, shown.task, shown.settings)
        for each, record in drawn_at(shown, self.model, self.asked.alternatives, memory, self.asked.model.questions, timings):
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
