"""A worker that asks a model about items: the model and what is read beside it, open, as in an editor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ..inference.completion.settings import Settings
from ..inference.errors import ContextTooLong, NotReplayable, Unavailable
from ..inference.model import Generation, Model
from ..inference.opening import ModelChoice
from ..inference.project_memory.memory import Memory
from ..suggestion.given_text import generation_of
from .model import OnServers, StudyModel, begin_anew
from .sets.lines import Place
from .suggested import Files, FileWithGap, StudyMemory

Wanted = TypeVar("Wanted")


def no_code(name: str) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - it is asked as any code is
    """The code of an item that has no project."""
    return ()


@dataclass(frozen=True, slots=True)
class Asking(Generic[Wanted]):
    """Makes the worker's function that asks the model about items; travels to the worker.

    wanted: what a study wants of each item. ask: gives the record of an item but for its id; it may have further "timings". code: of the
    projects, for their memories.
    """

    model: StudyModel
    wanted: Wanted
    ask: Callable[[OpenModel[Wanted], Any], dict[str, Any]]
    code: Files = no_code

    def __call__(self) -> Callable[[Any], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> OpenModel[Wanted]:
        """The function, with the model of a choice. Raises as above."""
        model = replace(self.model, choice=choice).open_in_worker()
        return OpenModel(self, model, StudyMemory(model, self.model.memory, self.code))


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

    @property
    def wanted(self) -> Wanted:
        """What the study wants of each item."""
        return self.asking.wanted

    @property
    def settings(self) -> Settings:
        """How the model is asked."""
        return self.asking.model.settings

    def memory_at(self, shown: FileWithGap, place: Place) -> Memory | None:
        """What is read beside the model at a gap."""
        return self.memory.at(shown, place.project, place.file)

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
