"""A worker that asks a model about lines of projects: the model and the project's memory, open, as in an editor."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..inference.completion.sampling import GREEDY, Sampling
from ..inference.errors import ContextTooLong, NotReplayable, Unavailable
from ..inference.model import Generation, Model
from ..inference.opening import ModelChoice
from ..inference.project_memory.memory import Memory
from ..suggestion.complete import complete_several
from ..suggestion.given_text import generation_of
from .memory import StudyMemory
from .model import StudyModel, begin_anew
from .servers import OnServers
from .sets.lines import Place
from .sets.projects import Project, own_code, path_in_project
from .suggested import FileWithGap

Wanted = TypeVar("Wanted")


@dataclass(frozen=True, slots=True)
class Asking(Generic[Wanted]):
    """Makes the worker's function that asks the model about items; travels to the worker.

    projects: by name, and archives, where their distributions are: for their memories. wanted: what a study wants of each item. ask: gives
    the record of an item but for its id; it may have further "timings".
    """

    model: StudyModel
    projects: Mapping[str, Project]
    archives: Path
    wanted: Wanted
    ask: Callable[[OpenModel[Wanted], Any], dict[str, Any]]

    def __call__(self) -> Callable[[Any], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> OpenModel[Wanted]:
        """The function, with the model of a choice. Raises as above."""
        model = replace(self.model, choice=choice).open_in_worker()
        return OpenModel(self, model, StudyMemory(model, self.model.memory, lambda name: own_code(self.projects[name], self.archives)))


@dataclass(frozen=True, slots=True)
class OpenModel(Generic[Wanted]):
    """Asks about items; holds a model."""

    asking: Asking[Wanted]
    model: Model
    memory: StudyMemory

    def __call__(self, item: Any) -> dict[str, Any]:
        """The record of one item. Raises what `Model.generate` raises."""
        begun = time.perf_counter()
        begin_anew(self.model)
        self.memory.forget()
        record = self.asking.ask(self, item)
        timings = {"total_ms": (time.perf_counter() - begun) * 1e3, **record.pop("timings", {})}
        return {"id": item.id, **record, "timings": timings}

    def close(self) -> None:
        """Put the model away."""
        self.model.close()

    def memory_at(self, shown: FileWithGap, place: Place) -> Memory | None:
        """What is read beside the model at a gap."""
        return self.memory.at(shown, place.project, path_in_project(place.path))

    def written(
        self, shown: FileWithGap, memory: Memory | None, count: int = 1, sampling: Sampling = GREEDY
    ) -> tuple[Generation, ...]:  # fmt: skip
        """What the model writes at a gap. Raises what `Model.generate` raises."""
        at = shown.cursor
        return complete_several(
            self.model,
            at.prefix,
            at.suffix,
            kind=at.kind,
            language=at.language,
            settings=shown.settings,
            memory=memory,
            count=count,
            sampling=sampling,
        )

    def given(self, shown: FileWithGap, memory: Memory | None) -> Generation | None:
        """What is in the gap, as if the model had written it, with its end. None where the model can't tell."""
        if not self.model.capabilities.replay:
            return None
        at = shown.cursor
        try:
            return generation_of(
                self.model, at.prefix, at.suffix, shown.truth, kind=at.kind, language=at.language, settings=shown.settings, memory=memory
            )
        except (Unavailable, NotReplayable, ContextTooLong):
            return None
