"""A worker that asks a model about items: the model and what is read beside it, open, as in an editor.

The memory is of the project's files as they are, but for what was taken out of the open one; near copies of that file are left out of each
request's memory by the memory itself. The step "answers" fills each gap of a place, in each arm.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ..analysis.python.lines import Gap
from ..calibration.measures.reflective import Question, reflect
from ..calibration.samples import Event
from ..inference.asking.asker import Asker
from ..inference.asking.template import ChatTemplate
from ..inference.asking.text import TextAsker
from ..inference.completion.settings import Settings
from ..inference.completion.task import Task
from ..inference.errors import ContextTooLong, NotReplayable, Unavailable
from ..inference.model import Generation, Model
from ..inference.opening import ModelChoice, template_of
from ..inference.project_memory.memory import Memory
from ..inference.project_memory.project import Project, ProjectTooLarge, project_of
from ..suggestion.given_text import generation_of
from ..suggestion.memory.memories import Memories
from ..suggestion.memory.scope import Scope
from .answers import Answer, text_id
from .errors import StudyError
from .model import OnServers, StudyModel, begin_anew
from .run import Step
from .sets.lines import PLAIN, Arm, FileWithGap, Place, Suggested, in_arm

# Path and text of each file of a project, by the project's name.
Files = Callable[[str], Iterable[tuple[str, str]]]


class StudyMemory:
    """Makes the memories of a worker's requests. It keeps the index of the project that was asked about last."""

    def __init__(self, model: Model, scope: Scope, files: Files) -> None:
        self._memories, self._scope, self._files = Memories(model), scope, files
        self._last: tuple[str, Project] | None = None

    def forget(self) -> None:
        """Drop what is kept of the open files, so that an item's memory depends on none before it."""
        self._memories.forget()

    def at(self, gap: FileWithGap, project: str = "", path: str = "") -> Memory | None:
        """The memory at a gap in a file of a project, or of none; None for the scope "off".

        Raises StudyError, and what reading the files raises.
        """
        before, after = gap.text[: gap.gap.start], gap.text[gap.gap.end :]
        return self._memories.at(before, after, path, self._scope, self._project(project) if self._scope == "project" else None)

    def _project(self, name: str) -> Project:
        if self._last is None or self._last[0] != name:
            try:
                self._last = (name, project_of(self._files(name)))
            except ProjectTooLarge as error:
                raise StudyError(f"{name} is too large for a project memory ({error}): leave it out, or ask with --memory file") from error
        return self._last[1]


Wanted = TypeVar("Wanted")


def no_code(name: str) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - it is asked as any code is
    """The code of an item that has no project."""
    return ()


@dataclass(frozen=True, slots=True)
class Asking(Generic[Wanted]):
    """Makes the worker's function that asks the model about items; travels to the worker.

    wanted: what a study wants of each item. ask: gives the record of an item but for its id; it may have further "timings". code: of the
    projects, for their memories. in_chat: whether the model is asked in chat as well, where it has a template.
    """

    model: StudyModel
    wanted: Wanted
    ask: Callable[[OpenModel[Wanted], Any], dict[str, Any]]
    code: Files = no_code
    in_chat: bool = False

    def __call__(self) -> Callable[[Any], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> OpenModel[Wanted]:
        """The function, with the model of a choice. Raises as above."""
        model = replace(self.model, choice=choice).open_in_worker()
        with ExitStack() as unless_open:
            unless_open.callback(model.close)
            template = template_of(model, self.model.name) if self.in_chat and self.model.chats else None
            unless_open.pop_all()
        return OpenModel(self, model, StudyMemory(model, self.model.memory, self.code), template)


@dataclass(frozen=True, slots=True)
class OpenModel(Generic[Wanted]):
    """Asks about items; holds a model."""

    asking: Asking[Wanted]
    model: Model
    memory: StudyMemory
    template: ChatTemplate | None

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
        if self.template is not None:
            self.template.close()
        self.model.close()

    @property
    def asker(self) -> Asker | None:
        """The model, asked in chat; None where it is not."""
        return None if self.template is None else TextAsker(self.model, self.template)

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
    return text_id(f"{place}:{task}", inserted)
