"""The step judge: the model is asked whether each distinct text that it drew at a gap is right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

from ....calibration.measures.reflective import Question, reflect
from ....inference.model import Generation, StopReason, Timings
from ...asked_line import OpenModel
from ...run import Run
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
    places = items.by_id
    for answer in run.records(DRAWS).read():
        shown = dict.fromkeys((one["task"], one["text"]) for one in answer["generations"] if one["inserted"] is not None)
        if shown:
            yield Drawn(places[answer["id"]], tuple(shown))


def judge(asked: OpenModel[Question], drawn: Drawn) -> dict[str, Any]:
    """What the model says at one place. Raises what `Model.next_token_logprobs` raises."""
    said: list[Said] = []
    for task, text in drawn.texts:
        prompt = FileWithGap(drawn.place.text, drawn.place.gap(task), task, asked.settings).prompt(asked.model)  # type: ignore[arg-type]
        # The question is about nothing but the text.
        made = Generation(text, (), StopReason.LINE, Timings(0.0, 0.0, 0, 0))
        found = reflect(asked.model, prompt, made, dict.fromkeys(MEASURES, asked.wanted))
        said.append({"task": task, "text": text, "measures": found.measures, "asked": found.asked})
    return {"said": said}
