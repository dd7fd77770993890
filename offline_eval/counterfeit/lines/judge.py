"""The step judge: the model is asked whether each distinct text that it drew at a gap is right."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from ....calibration.measures.reflective import Question, reflect
from ....inference.model import Generation, Model, StopReason, Timings
from ....inference.opening import ModelChoice
from ...model import StudyModel, begin_anew
from ...run import Run
from ...servers import OnServers
from ...sets.lines import Place
from ...sets.suites import Items
from ...study import Step
from ...suggested import FileWithGap
from .draw import DRAWS

# One question gives both: what the model says of a text that it can see.
MEASURE = "ask_true_normalised"
MEASURES = ("ask_true", MEASURE)


class Said(TypedDict):
    """What a model said of a text. measures, asked: as a sample's; both empty where the prompt had no room for the question."""

    task: str
    text: str
    measures: dict[str, float]
    asked: dict[str, str]


class Judgements(TypedDict):
    """What it said at one place."""

    id: str
    said: list[Said]


JUDGEMENTS = Step("judgements", "place", Judgements)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A place with the distinct texts (task, text) that were drawn there."""

    place: Place
    texts: tuple[tuple[str, str], ...]

    @property
    def id(self) -> str:
        """The place's."""
        return self.place.id


def drawn_at(run: Run, items: Items) -> Iterator[Drawn]:
    """The places with what was drawn there and would be shown."""
    places = {place.id: place for place in items.places}
    for answer in run.records(DRAWS).read():
        shown = dict.fromkeys((one["task"], one["text"]) for one in answer["generations"] if one["inserted"] is not None)
        if shown:
            yield Drawn(places[answer["id"]], tuple(shown))


@dataclass(frozen=True, slots=True)
class Asking:
    """Makes the worker's function; travels to the worker."""

    model: StudyModel

    def __call__(self) -> Callable[[Drawn], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> Asker:
        """The function, with the model of a choice. Raises as above."""
        model = replace(self.model, choice=choice).open_in_worker()
        return Asker(self.model, model, self.model.questions[MEASURE])


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks about texts; holds a model."""

    study: StudyModel
    model: Model
    question: Question

    def __call__(self, drawn: Drawn) -> dict[str, Any]:
        """What it says at one place. Raises what `Model.next_token_logprobs` raises."""
        begun = time.perf_counter()
        begin_anew(self.model)
        gaps = dict(drawn.place.gaps)
        said: list[Said] = []
        for task, text in drawn.texts:
            prompt = FileWithGap(drawn.place.text, gaps[task], task, self.study.settings).prompt(self.model)  # type: ignore[index,arg-type]
            found = reflect(self.model, prompt, _of(text), dict.fromkeys(MEASURES, self.question))
            said.append({"task": task, "text": text, "measures": found.measures, "asked": found.asked})
        return {"id": drawn.id, "said": said, "timings": {"model_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the model away."""
        self.model.close()


def _of(text: str) -> Generation:
    """A generation with this text: the question is about nothing else of it."""
    return Generation(text, (), StopReason.LINE, Timings(0.0, 0.0, 0, 0))
