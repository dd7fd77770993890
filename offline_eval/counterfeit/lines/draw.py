"""The steps draw and judge: the suggestion at a gap, texts that the model draws there, and whether it calls each of these right."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from ....analysis.python.lines import Gap
from ....analysis.python.source_text import tree_or_none
from ....calibration.measures.reflective import Question, reflect
from ....calibration.samples import Event
from ....inference.completion.settings import Sampling
from ....inference.completion.task import Task
from ....inference.model import Generation, StopReason, Timings
from ...answers import AnsweredItem, Generated, text_id
from ...asked_line import OpenModel
from ...run import Run, Step
from ...sets.lines import FileWithGap, Place, Suggested
from ...sets.suites import Items

TASKS: tuple[Task, ...] = ("line", "line_rest", "line_middle")
EVENT: Event = "exact_match"


class DrawnText(Generated):
    """A generation. head: what stands before it of its line's code. text_id: of the file with it, None where it would not be shown.

    file_parses: of code that no test judges, whether the file does with it.
    """

    head: str
    text_id: str | None
    file_parses: NotRequired[bool]


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


def seed_of(seed: int, gap: str) -> int:
    """The seed of the first text drawn at a gap, so that no two gaps have the same draws."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{gap}".encode()).digest()[:4])


@dataclass(frozen=True, slots=True)
class Drawing:
    """How texts are drawn at each gap. draws: how many."""

    draws: int
    temperature: float
    seed: int


def draw(asked: OpenModel[Drawing], place: Place) -> dict[str, Any]:
    """The answer of one place. Raises what `Model.generate` raises."""
    return {**place.about, "generations": [one for task, gap in place.gaps for one in _at(asked, place, task, gap)]}


def _at(asked: OpenModel[Drawing], place: Place, task: Task, gap: Gap) -> Iterator[dict[str, Any]]:
    shown, name, how = FileWithGap(place.text, gap, task, asked.settings), gap_id(place.id, task), asked.wanted
    memory = asked.memory_at(shown, place)
    (first,) = shown.suggestions(asked.model, 1, memory)
    yield _record(name, place, shown, first)
    stream, sampling = stream_of(how.temperature), Sampling(how.temperature, seed=seed_of(how.seed, name))
    for number, one in enumerate(shown.draws(asked.model, how.draws, sampling, memory), 1):
        yield _record(f"{name}:{stream}:{number}", place, shown, one) | {"stream": stream}


def code_of(place: Place, gap: Gap) -> Gap:
    """Where the code of the line of a gap is, from its first character to its last."""
    start = place.text.rfind("\n", 0, gap.start) + 1
    line = place.text[start : gap.end]
    return Gap(gap.end - len(line.lstrip()), gap.end)


def _record(name: str, place: Place, shown: FileWithGap, one: Suggested) -> dict[str, Any]:
    exact = shown.is_exact(one.inserted)
    untested = place.judged is None and one.inserted is not None
    return {
        "id": name,
        "task": shown.task,
        "truth": shown.truth,
        "head": place.text[code_of(place, shown.gap).start : shown.gap.start],
        "text_id": None if one.inserted is None else text_id(place.id, shown.accepted(one.inserted)),
        "labels": {EVENT: exact, "tests_pass": True if exact else None},
        **one.record,
        **({"file_parses": tree_or_none(shown.accepted(one.inserted or "")) is not None} if untested else {}),
    }


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
class PlaceTexts:
    """A place with texts of the model there: task and text of each."""

    place: Place
    texts: tuple[tuple[str, str], ...]

    @property
    def id(self) -> str:
        """The place's."""
        return self.place.id


def drawn_at(run: Run, items: Items) -> Iterator[PlaceTexts]:
    """The places with what was drawn there and would be shown."""
    places = items.by_id
    for answer in run.records(DRAWS).read():
        shown = dict.fromkeys((one["task"], one["text"]) for one in answer["generations"] if one["inserted"] is not None)
        if shown:
            yield PlaceTexts(places[answer["id"]], tuple(shown))


def judge(asked: OpenModel[Question], drawn: PlaceTexts) -> dict[str, Any]:
    """What the model says at one place. Raises what `Model.next_token_logprobs` raises."""
    said: list[Said] = []
    for task, text in drawn.texts:
        prompt = FileWithGap(drawn.place.text, drawn.place.gap(task), task, asked.settings).prompt(asked.model)  # type: ignore[arg-type]
        # The question is about nothing but the text.
        made = Generation(text, (), StopReason.LINE, Timings(0.0, 0.0, 0, 0))
        found = reflect(asked.model, prompt, made, dict.fromkeys(MEASURES, asked.wanted))
        said.append({"task": task, "text": text, "measures": found.measures, "asked": found.asked})
    return {"said": said}
