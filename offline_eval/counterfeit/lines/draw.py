"""The step draw: the suggestion that the editor shows at a gap, and texts that the model draws there at a temperature."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ....analysis.python.lines import Gap
from ....calibration.samples import Event
from ....inference.completion.sampling import Sampling
from ....inference.completion.task import Task
from ....inference.model import Model
from ....inference.opening import ModelChoice
from ...answers import AnsweredItem, Generated
from ...memory import StudyMemory
from ...model import StudyModel, begin_anew
from ...servers import OnServers
from ...sets.lines import Place
from ...sets.projects import Project, own_code, path_in_project
from ...study import Step
from ...suggested import FileWithGap, Suggested

TASKS: tuple[Task, ...] = ("line", "line_rest")
EVENT: Event = "exact_match"


class DrawnText(Generated):
    """A generation. head: what stands before it of its line's code. text_id: of the file with it, None where it would not be shown."""

    head: str
    text_id: str | None


class Draws(AnsweredItem):
    """What was drawn at a place."""

    generations: list[DrawnText]


def _has_gap(answer: Any) -> bool:
    return bool(answer["generations"])


DRAWS = Step("draws", "place", Draws, _has_gap)


def stream_of(temperature: float) -> str:
    """What the texts of a temperature are called: "t0.6"."""
    return f"t{temperature:g}"


def gap_id(place: str, task: str) -> str:
    """The id of a gap, which is that of the suggestion shown there."""
    return f"{place}:{task}"


def text_id(place: str, text: str) -> str:
    """The id of a file with a text in a place: the same for each task, draw and repair that makes it so."""
    return f"{place}:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


def seed_of(seed: int, gap: str) -> int:
    """The seed of the first text drawn at a gap, so that no two gaps have the same draws."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{gap}".encode()).digest()[:4])


@dataclass(frozen=True, slots=True)
class Drawing:
    """Makes the worker's function; travels to the worker.

    projects: by name, and archives, where their distributions are: for their memories. draws: how many texts at each gap.
    """

    model: StudyModel
    projects: Mapping[str, Project]
    archives: Path
    draws: int
    temperature: float
    seed: int

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
    """Draws at places; holds a model."""

    asked: Drawing
    model: Model
    memory: StudyMemory

    def __call__(self, place: Place) -> dict[str, Any]:
        """The answer of one place. Raises what `Model.generate` raises."""
        begun = time.perf_counter()
        begin_anew(self.model)
        self.memory.forget()
        made = [one for task, gap in place.gaps for one in self._at(place, task, gap)]
        return {
            "id": place.id,
            "project": place.project,
            "file": place.path,
            "function": place.function,
            "line": place.line,
            "generations": made,
            "timings": {"total_ms": (time.perf_counter() - begun) * 1e3},
        }

    def close(self) -> None:
        """Put the model away."""
        self.model.close()

    def _at(self, place: Place, task: Task, gap: Gap) -> Iterator[dict[str, Any]]:
        shown, name = FileWithGap(place.text, gap, task, self.asked.model.settings), gap_id(place.id, task)
        memory = self.memory.at(shown, place.project, path_in_project(place.path))
        (first,) = shown.suggestions(self.model, 1, memory)
        yield _record(name, place, shown, first)
        stream = stream_of(self.asked.temperature)
        how = Sampling(self.asked.temperature, seed=seed_of(self.asked.seed, name))
        for number, one in enumerate(shown.draws(self.model, self.asked.draws, how, memory), 1):
            yield _record(f"{name}:{stream}:{number}", place, shown, one) | {"stream": stream}


def code_of(place: Place, gap: Gap) -> Gap:
    """Where the code of the line of a gap is, from its first character to its last."""
    start = place.text.rfind("\n", 0, gap.start) + 1
    line = place.text[start : gap.end]
    return Gap(gap.end - len(line.lstrip()), gap.end)


def _record(name: str, place: Place, shown: FileWithGap, one: Suggested) -> dict[str, Any]:
    exact = shown.is_exact(one.inserted)
    return {
        "id": name,
        "task": shown.task,
        "truth": shown.truth,
        "head": place.text[code_of(place, shown.gap).start : shown.gap.start],
        "text_id": None if one.inserted is None else text_id(place.id, shown.accepted(one.inserted)),
        "labels": {EVENT: exact, "tests_pass": True if exact else None},
        **one.record,
    }
