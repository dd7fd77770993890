"""A line that goes around: described in a comment above it, taken out, and written again below that comment.

The cursors are those of an editor, and what the model writes there is cut as in an editor. The comment is a part of what the model is
shown, never of the file that tests judge.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from ....analysis.python.lines import Gap
from ....inference.completion.sampling import GREEDY, Sampling
from ....inference.completion.settings import Settings
from ....inference.errors import ContextTooLong, NotReplayable, Unavailable
from ....inference.model import Generation, Model
from ....inference.opening import ModelChoice
from ....inference.project_memory.memory import Memory
from ....suggestion.complete import complete_several
from ....suggestion.cut.steps import text_to_show
from ....suggestion.given_text import generation_of
from ...calibration.draw import label_id
from ...memory import StudyMemory
from ...model import StudyModel, begin_anew
from ...servers import OnServers
from ...sets.lines import Place
from ...sets.projects import Project, own_code, path_in_project
from ...study import Step
from ...suggested import FileWithGap

# The paper's.
TEMPERATURE = 0.8
MAX_CHARACTERS = 128
REBUILD_TEMPERATURE = 0.1
# One rebuild of the uninformative comment would be noise, where rebuilds are drawn.
MIN_UNINFORMED = 3
UNINFORMED = "TODO: implement."
# Part of a run's question. Raised whenever a description is asked for, or code rebuilt, in another way.
VERSION = 1


class Described(TypedDict):
    """The record of the step describe."""

    id: str
    descriptions: list[str]


class Rebuilt(TypedDict):
    """One line below a comment. inserted: what the editor would insert of the text; None where it would hide it. equal: to the code."""

    text: str
    inserted: str | None
    equal: bool


class Trip(TypedDict):
    """What a comment led to. logprob: of the code, below this comment; None where the model can't tell it."""

    comment: str
    logprob: float | None
    rebuilt: list[Rebuilt]


class RoundTrips(TypedDict):
    """The record of the step rebuild. trips: of each description. uninformed: of a comment that says nothing of the code."""

    id: str
    trips: list[Trip]
    uninformed: Trip


DESCRIBE = Step("describe", "line", Described)
REBUILD = Step("rebuild", "described line", RoundTrips)


@dataclass(frozen=True, slots=True)
class Code:
    """A line at a place: its own, or one that a model suggested there. descriptions: where it has some."""

    place: Place
    text: str
    descriptions: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The same as of its label."""
        return label_id(self.place.id, "line", self.text)

    def to_describe(self, settings: Settings) -> FileWithGap:
        """The file with the cursor in an empty comment above the code."""
        gap, indentation = self._gap, self._indentation
        before = self.place.text[: gap.start] + "# "
        text = f"{before}\n{indentation}{self.text}{self.place.text[gap.end :]}"
        return FileWithGap(text, Gap(len(before), len(before)), "line_rest", settings)

    def to_rebuild(self, comment: str, settings: Settings) -> FileWithGap:
        """The file with a comment, and below it the code as the gap."""
        gap = self._gap
        before = f"{self.place.text[: gap.start]}{f'# {comment}'.rstrip()}\n{self._indentation}"
        return FileWithGap(
            before + self.text + self.place.text[gap.end :], Gap(len(before), len(before) + len(self.text)), "line", settings
        )

    @property
    def _gap(self) -> Gap:
        return dict(self.place.gaps)["line"]

    @property
    def _indentation(self) -> str:
        before = self.place.text[: self._gap.start]
        return before[before.rfind("\n") + 1 :]


@dataclass(frozen=True, slots=True)
class Draws:
    """How many descriptions are drawn of each code, how often it is rebuilt from each, and the seed of both."""

    forward: int = 3
    backward: int = 1
    seed: int = 0

    @property
    def rebuilding(self) -> Sampling:
        """How a rebuild's tokens are chosen: several at temperature 0 would be one text."""
        return GREEDY if self.backward == 1 else Sampling(REBUILD_TEMPERATURE, seed=self.seed)

    @property
    def uninformed(self) -> int:
        """Rebuilds below the comment that says nothing."""
        return 1 if self.backward == 1 else max(MIN_UNINFORMED, self.backward)

    @property
    def question(self) -> dict[str, str | int]:
        """Their part of a run's question."""
        describing = Sampling(TEMPERATURE).decoding
        return {
            "forward": self.forward,
            "backward": self.backward,
            "describing": f"{describing}, at most {MAX_CHARACTERS} characters, version {VERSION}",
            "rebuilding": f"{self.rebuilding.decoding}, beside {UNINFORMED!r}",
        }


@dataclass(frozen=True, slots=True)
class Asking:
    """Makes the worker's function that asks the model about codes; travels to the worker.

    projects: by name, and archives, where their distributions are: for their memories. ask: what is asked.
    """

    model: StudyModel
    projects: Mapping[str, Project]
    archives: Path
    draws: Draws
    ask: Callable[[OpenModel, Code], dict[str, Any]]

    def __call__(self) -> Callable[[Code], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> OpenModel:
        """The function, with the model of a choice. Raises as above."""
        model = replace(self.model, choice=choice).open_in_worker()
        return OpenModel(self, model, StudyMemory(model, self.model.memory, lambda name: own_code(self.projects[name], self.archives)))


@dataclass(frozen=True, slots=True)
class OpenModel:
    """Asks about codes; holds a model."""

    asking: Asking
    model: Model
    memory: StudyMemory

    def __call__(self, code: Code) -> dict[str, Any]:
        """The record of one code. Raises what `Model.generate` raises."""
        begun = time.perf_counter()
        begin_anew(self.model)
        self.memory.forget()
        record = self.asking.ask(self, code)
        return {"id": code.id, **record, "timings": {"total_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the model away."""
        self.model.close()

    def memory_at(self, shown: FileWithGap, place: Place) -> Memory | None:
        """What is read beside the model at a gap."""
        return self.memory.at(shown, place.project, path_in_project(place.path))

    def written(self, shown: FileWithGap, memory: Memory | None, count: int, sampling: Sampling) -> tuple[Generation, ...]:
        """What the model writes at a gap. Raises what `Model.generate` raises."""
        at = shown.cursor
        return complete_several(
            self.model, at.prefix, at.suffix, kind=at.kind, settings=shown.settings, memory=memory, count=count, sampling=sampling
        )

    def logprob(self, shown: FileWithGap, memory: Memory | None) -> float | None:
        """The log-probability of what is in the gap, with that of its end. None where the model can't tell it."""
        if not self.model.capabilities.replay:
            return None
        at = shown.cursor
        try:
            given = generation_of(self.model, at.prefix, at.suffix, shown.truth, kind=at.kind, settings=shown.settings, memory=memory)
        except (Unavailable, NotReplayable, ContextTooLong):
            return None
        total = math.fsum(token.logprob for token in given.tokens)
        return total if math.isfinite(total) else None


def describe(asked: OpenModel, code: Code) -> dict[str, Any]:
    """Descriptions of a code: comments that the model writes above it."""
    draws = asked.asking.draws
    shown = code.to_describe(asked.asking.model.settings)
    made = asked.written(shown, asked.memory_at(shown, code.place), draws.forward, Sampling(TEMPERATURE, seed=draws.seed))
    return {"descriptions": [description_of(one.text) for one in made]}


def rebuild(asked: OpenModel, code: Code) -> dict[str, Any]:
    """The code, rebuilt below each of its descriptions, and below a comment that says nothing of it."""
    draws = asked.asking.draws
    known = {comment: _trip(asked, code, comment, draws.backward) for comment in dict.fromkeys(code.descriptions)}
    return {"trips": [known[comment] for comment in code.descriptions], "uninformed": _trip(asked, code, UNINFORMED, draws.uninformed)}


def _trip(asked: OpenModel, code: Code, comment: str, count: int) -> Trip:
    shown = code.to_rebuild(comment, asked.asking.model.settings)
    memory = asked.memory_at(shown, code.place)
    rebuilt: list[Rebuilt] = []
    for one in asked.written(shown, memory, count, asked.asking.draws.rebuilding):
        inserted = text_to_show(one.text, shown.cursor)
        rebuilt.append({"text": one.text, "inserted": inserted, "equal": shown.is_exact(inserted)})
    return {"comment": comment, "logprob": asked.logprob(shown, memory), "rebuilt": rebuilt}


def description_of(text: str) -> str:
    """What is taken of a comment that a model wrote."""
    return text.strip()[:MAX_CHARACTERS].rstrip()
