"""What a worker does at a place of line completion: the model fills each gap, and the result is compared with what stood there."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...analysis.python.lines import Gap
from ...calibration.measures.reflective import reflect
from ...inference.completion.task import Task
from ...inference.model import Model
from ..memory import StudyMemory
from ..model import StudyModel
from ..suggested import FileWithGap
from .items import Place
from .projects import Project, own_code, path_in_project

EVENT = "exact_match"


@dataclass(frozen=True, slots=True)
class Answerer:
    """Makes the worker's function; travels to the worker.

    projects: by name, and cache, where their archives are: for their memories. alternatives: how many are drawn at each gap.
    """

    model: StudyModel
    projects: Mapping[str, Project]
    cache: Path
    alternatives: int = 1

    def __call__(self) -> Answering:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        model = self.model.open_in_worker()
        memory = StudyMemory(model, self.model.memory, lambda name: own_code(self.projects[name], self.cache))
        return Answering(model, self.model, memory, self.alternatives)


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers places; holds a model."""

    model: Model
    asked: StudyModel
    memory: StudyMemory
    alternatives: int = 1

    def __call__(self, place: Place) -> dict[str, Any]:
        """The answer of one place. Raises what `Model.generate` raises."""
        return {
            "id": place.id,
            "project": place.project,
            "file": place.path,
            "function": place.function,
            "line": place.line,
            "generations": [one for task, gap in place.gaps for one in self._generations(place, task, gap)],
        }

    def close(self) -> None:
        """Put the model away."""
        self.model.close()

    def _generations(self, place: Place, task: Task, gap: Gap) -> Iterator[dict[str, Any]]:
        cursor = FileWithGap(place.text, gap, task, self.asked.settings)
        memory = self.memory.at(cursor, place.project, path_in_project(place.path))
        begun = time.perf_counter()
        found = list(cursor.suggestions(self.model, self.alternatives, memory))
        total_ms = (time.perf_counter() - begun) * 1e3
        for each in found:
            record = {
                "id": generation_id(f"{place.id}:{task}", each.drawn.rank),
                "task": task,
                "truth": cursor.truth,
                "labels": {EVENT: cursor.is_exact(each.inserted)},
                **each.record,
            }
            record["timings"]["total_ms"] = total_ms
            if self.alternatives > 1:
                record["rank"] = each.drawn.rank
            if self.asked.questions and each.inserted is not None:
                begun = time.perf_counter()
                said = reflect(self.model, cursor.prompt(self.model), each.generation, self.asked.questions)
                record["measures"] |= said.measures
                record |= {"asked": dict(said.asked), "fallbacks": list(said.fallbacks), "answers": list(said.answers)}
                record["timings"]["questions_ms"] = (time.perf_counter() - begun) * 1e3
            yield record


def generation_id(gap: str, rank: int) -> str:
    """The id of a generation: the gap's own for the first choice."""
    return gap if rank == 1 else f"{gap}:{rank}"
